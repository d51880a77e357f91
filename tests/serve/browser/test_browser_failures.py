"""When the server breaks off, fails, is full or is gone, in a real browser."""

from __future__ import annotations

from typing import Any

from pages import ask, wait_for_collections
from standin import StandIn


def test_connection_broken_in_the_middle(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    turn = ask(page, "broken", "broken")
    assert "Wolves hunt in packs at night" in turn.locator(".prose").inner_text()
    assert "what was written is kept" in turn.locator(".broken").inner_text()
    turn.locator("button:has-text('Try again')").click()
    page.wait_for_selector('[data-state="broken"]')
    assert page.locator(".turn").count() == 1
    page.wait_for_function("document.querySelector('.turn .prose').innerText.startsWith('Wolves')")
    assert len(standin.asked) == 2


def test_an_error_in_the_stream_is_one_sentence(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    turn = ask(page, "failing", "broken")
    assert turn.locator(".broken p").inner_text() == "The model ran out of memory: choose a smaller one."


def test_busy_server(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    turn = ask(page, "busy", "failed")
    assert turn.locator(".failed p").inner_text() == "The server is busy. Try again in 7 seconds."
    turn.locator("button:has-text('Try again')").click()
    page.wait_for_selector('[data-state="whole"]')


def test_no_server(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    wait_for_collections(page)
    standin.shutdown()
    standin.server_close()
    turn = ask(page, "Anyone there?", "failed")
    assert turn.locator(".failed p").inner_text().startswith("The server cannot be reached")
