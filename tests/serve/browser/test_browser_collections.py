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
    standin.indexed.set()
    page.wait_for_selector("#job-said:has-text('notes is ready.')")
    assert b"Owls hunt at night." in standin.uploads[0] and b"night-notes" in standin.uploads[0]
    page.click("#job-said button")
    ask(page, "Who hunts?")
    assert standin.asked[0]["index"] == "notes"


def test_delete_a_collection(standin: StandIn, open_page: Any) -> None:
    standin.indexes.append({**standin.indexes[1], "name": "old notes", "uploaded": True})
    page = open_page(standin.url + "?index=old+notes")
    wait_for_collections(page)
    page.click("#collections-open")
    assert page.locator(".shelf-delete").count() == 1
    delete = page.get_by_role("button", name="Delete old notes")
    delete.click()
    assert page.inner_text(".shelf-delete") == "Delete for good?"
    page.focus("#upload-name")  # Whoever goes elsewhere did not mean it.
    assert page.inner_text(".shelf-delete") == "Delete"
    assert len(standin.indexes) == 3
    page.focus(".shelf-delete")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_selector("#job-said:has-text('old notes is deleted.')")
    assert [one["name"] for one in standin.indexes] == ["animals", "towns"]
    assert "old notes" not in page.inner_text("#shelf")
    page.keyboard.press("Escape")
    ask(page, "Where is Ulm?")
    assert standin.asked[0]["index"] == "animals"


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


def test_the_progress_goes_on_when_the_server_was_away(standin: StandIn, open_page: Any, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Owls hunt at night.")
    page = open_page(standin.url)
    wait_for_collections(page)
    page.click("#collections-open")
    page.set_input_files("#files", tmp_path / "notes.txt")
    page.route("**/v1/jobs/*", lambda route: route.abort())
    page.click("#upload-start")
    page.wait_for_selector("#job-stage:has-text('Waiting for the server')")
    standin.indexed.set()
    page.unroute("**/v1/jobs/*")
    page.wait_for_selector("#job-said:has-text('notes is ready.')")


def test_of_many_files_those_that_cannot_be_read_are_left_out(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    wait_for_collections(page)
    page.click("#collections-open")
    page.set_input_files("#files", [file(".DS_Store"), file("a.TXT"), file("photo.jpg"), file("b.md")])
    assert page.locator("#chosen li span:first-child").all_inner_texts() == ["a.TXT", "b.md"]
    assert page.inner_text("#job-said") == "2 files of other types left out."


def test_too_much_is_told_before_it_is_sent(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    wait_for_collections(page)
    page.click("#collections-open")
    page.set_input_files("#files", file("large.txt", 2000))
    page.click("#upload-start")
    page.wait_for_selector("#job-said.error:has-text('The files have 2 kB, and one upload may have 1 kB')")
    page.click("[aria-label='Leave out large.txt']")
    page.set_input_files("#files", [file(f"{number}.txt") for number in range(6)])
    page.click("#upload-start")
    page.wait_for_selector("#job-said.error:has-text('6 files are more than the 5 of one upload.')")
    assert standin.uploads == []


def file(name: str, size: int = 9) -> Any:
    return {"name": name, "mimeType": "text/plain", "buffer": b"x" * size}


def test_a_collection_that_somebody_else_adds_is_seen_when_it_is_ready(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    wait_for_collections(page)
    standin.indexes.append({"name": "late", "documents": 0, "passages": 0, "dense": False, "ready": False})
    page.click("#collections-open")
    page.wait_for_selector("#shelf button:disabled:has-text('being indexed')")
    standin.indexes[-1] = {"name": "late", "documents": 1, "passages": 2, "dense": False, "ready": True}
    page.click("#shelf button:enabled:has-text('late')")
    ask(page, "Who?")
    assert standin.asked[0]["index"] == "late"
