"""Chromium, driven by Playwright, for the tests of the page; where either is missing those tests are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from standin import StandIn


@pytest.fixture
def standin() -> Iterator[StandIn]:
    """A server whose answers are written down."""
    server = StandIn()
    yield server
    server.shutdown()
    server.server_close()


def watched(page: Any) -> list[str]:
    """What goes wrong in the page from now on: exceptions, and what the Content-Security-Policy refuses."""
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: "Content Security" in message.text and wrong.append(message.text))
    return wrong


@pytest.fixture
def open_page(browser: Any) -> Iterator[Any]:
    """Opens an address in a window of its own; at the end nothing may have gone wrong there."""
    contexts: list[Any] = []
    problems: list[list[str]] = []

    def opened(url: str, **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 860}, **options})
        context.set_default_timeout(60_000)  # these machines are shared
        contexts.append(context)
        page = context.new_page()
        problems.append(watched(page))
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [problem for found in problems for problem in found] == []
