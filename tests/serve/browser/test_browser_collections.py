"""Collections in a real browser: choosing one, and making one from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pages import ask, wait_for_collections
from standin import StandIn


def test_switch_collections(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    wait_for_collections(page)
    page.click("#collections-open")
    assert "3 documents · 9 passages" in page.inner_text("#shelf")
    page.click("#shelf button:has-text('towns')")
    page.wait_for_selector("#collections", state="hidden")
    ask(page, "Where is Ulm?")
    assert standin.asked[0]["index"] == "towns"
    assert "index=towns" in page.url


def test_upload_by_button(standin: StandIn, open_page: Any, tmp_path: Path) -> None:
    (tmp_path / "Night Notes.txt").write_text("Owls hunt at night.")
    page = open_page(standin.url)
    wait_for_collections(page)
    page.click("#collections-open")
    assert page.is_disabled("#upload-start")
    page.set_input_files("#files", tmp_path / "Night Notes.txt")
    assert page.input_value("#upload-name") == "night-notes"
    page.click("#upload-start")
    page.wait_for_selector("#job-stage:has-text('Passages 1 of 4')")
    page.wait_for_selector("#job-said:has-text('notes is ready.')")
    assert b"Owls hunt at night." in standin.uploads[0] and b"night-notes" in standin.uploads[0]
    page.click("#job-said button")
    ask(page, "Who hunts?")
    assert standin.asked[0]["index"] == "notes"


def test_upload_by_drop_and_refusal(standin: StandIn, open_page: Any) -> None:
    standin.refuse_upload = True
    page = open_page(standin.url)
    wait_for_collections(page)
    drop = page.evaluate_handle("""() => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(["MZ"], "notes.exe"));
        return transfer;
    }""")
    page.dispatch_event("main", "dragover", {"dataTransfer": drop})
    assert page.is_visible("#drag")
    page.dispatch_event("main", "drop", {"dataTransfer": drop})
    page.wait_for_selector("#chosen:has-text('notes.exe')")
    page.click("#upload-start")
    page.wait_for_selector("#job-said.error:has-text('notes.exe is no document that Longform reads')")
    assert page.is_enabled("#upload-start")  # what was chosen is still there to try again
