"""The page and the real server together, over the examples: real models, an index on disk, a process to be killed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import ask, assert_accessible, wait_for_collections
from real import Running, Wire, running_server

from longform import Index, read

pytestmark = pytest.mark.long

QUESTION = "Who was the king of France in 1830?"
ATTACK = "<script>window.attacked = 1</script><img src=x onerror='window.attacked = 2'>"


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> list[Path]:
    """The examples, and a collection whose only page has markup in its title and its text."""
    pytest.importorskip("fastapi", reason="the serve extra has fastapi")
    folder = tmp_path_factory.mktemp("indexes")
    attack = folder / "attack.txt"
    attack.write_text(f"The harbour of Lyme is closed in winter. {ATTACK} Ships wait in the bay.")
    here = Path.cwd()
    os.chdir(examples.parent)
    try:
        Index.create(folder / "examples.index", read("examples/pages"))
    finally:
        os.chdir(here)
    Index.create(folder / "harbours.index", read(str(attack)))
    return [folder / "examples.index", folder / "harbours.index"]


@pytest.fixture(scope="module")
def server(indexes: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that all tests of this module ask."""
    with running_server(tmp_path_factory.mktemp("home"), indexes) as running:
        yield running


@pytest.fixture
def page(server: Running, open_page: Any) -> Any:
    """The page of the server, with time for models on a busy machine."""
    opened = open_page(server.url)
    opened.set_default_timeout(60_000)
    return opened


def test_ask_cite_and_open(page: Any) -> None:
    turn = ask(page, QUESTION)
    assert "Charles X was King of France" in turn.locator(".prose").inner_text()
    assert "Charles X" in turn.locator(".readings").inner_text()
    cite = turn.locator("button.cite", has_text="1").first
    cite.hover()
    page.wait_for_selector("#popover:visible")
    quoted = page.inner_text("#popover-text mark")
    assert quoted in turn.locator(".prose").inner_text().replace(" \n", "") or quoted.rstrip(".") in turn.inner_text()
    cite.click()
    page.wait_for_selector("#source mark")
    assert page.inner_text("#source mark") == quoted
    assert page.inner_text("#source-where").startswith("examples/pages/")
    page.keyboard.press("Escape")
    page.check("#changes")
    assert page.locator("#hits .movement").count() == page.locator("#hits > li").count() > 3
    assert_accessible(page)


def test_rating_and_history(page: Any, open_page: Any, server: Running) -> None:
    ask(page, "Who directed A Star Is Born?")
    page.click("[aria-label='Good answer']")
    page.wait_for_selector(".feedback:has-text('kept')")
    other = open_page(server.url)  # another visit knows it from the server
    wait_for_collections(other)
    other.click("#history-open")
    other.wait_for_selector("#past li, #past-note:not(:empty):not(:has-text('…'))")
    row = other.locator("#past li", has_text="Who directed A Star Is Born?").first
    assert "examples" in row.inner_text() and "good" in row.inner_text()
    row.locator("button").click()
    other.wait_for_selector('.turn[data-state="whole"] button.cite')
    assert other.locator("#hits > li").count() > 0


def test_switch_collections_and_markup(page: Any) -> None:
    wait_for_collections(page)
    page.select_option("#collection", "harbours")
    turn = ask(page, "When is the harbour of Lyme closed?")
    assert "closed in winter" in turn.locator(".prose").inner_text()
    turn.locator("button.cite").first.click()
    page.wait_for_selector("#source mark")
    assert ATTACK in page.inner_text("#source-text")
    assert page.evaluate("window.attacked") is None
    assert page.locator("#source img, main img, #hits img").count() == 0


def test_upload_and_ask(page: Any, tmp_path: Path, examples: Path) -> None:
    for name in ("mount-everest.md", "mauna-kea.md"):
        shutil.copy(examples / "pages" / name, tmp_path / name)
    wait_for_collections(page)
    page.click("#collections-open")
    page.set_input_files("#files", sorted(tmp_path.glob("*.md")))
    page.fill("#upload-name", "mountains")
    page.click("#upload-start")
    page.wait_for_selector("#job-said:not(:empty)")
    assert page.inner_text("#job-said").startswith("mountains is ready.")
    assert "2 documents" in page.locator("#shelf button", has_text="mountains").inner_text()
    page.click("#job-said button")
    turn = ask(page, "How high is Mauna Kea?")
    assert "Mauna Kea" in turn.locator(".prose").inner_text()
    assert "index=mountains" in page.url


def test_an_upload_that_is_refused(page: Any, tmp_path: Path) -> None:
    (tmp_path / "tool.exe").write_bytes(b"MZ")
    wait_for_collections(page)
    page.click("#collections-open")
    page.set_input_files("#files", tmp_path / "tool.exe")
    page.click("#upload-start")
    page.wait_for_selector("#job-said.error:has-text('tool.exe is of no readable type')")


def test_a_list(page: Any) -> None:
    wait_for_collections(page)
    page.click("#settings-open")
    page.check("#set-list")
    turn = ask(page, "Who was Roman emperor in 69 AD?")
    assert turn.locator(".items strong").count() >= 1
    turn.locator(".items button.cite").first.hover()
    page.wait_for_selector("#popover:visible")
    assert " ".join(page.inner_text("#popover-text mark").split()) in page.inner_text(".items")
    assert "list=1" in page.url


def test_killed_in_the_middle_of_an_answer(indexes: list[Path], tmp_path: Path, open_page: Any) -> None:
    with running_server(tmp_path / "home", indexes[:1]) as running:
        wire = Wire(running.port, b"event: text")
        page = open_page(wire.url)
        page.set_default_timeout(60_000)
        wait_for_collections(page)
        page.fill("#question", QUESTION)
        page.press("#question", "Enter")
        page.wait_for_selector(".prose p")
        assert wire.held.wait(5)
        written = page.inner_text(".prose").strip()
        running.kill()
        page.wait_for_selector('[data-state="broken"]')
        assert page.inner_text(".prose").strip() == written != ""
        assert "kept" in page.inner_text(".broken p")
        assert page.is_visible(".broken button:has-text('Try again')")
        wire.close()
