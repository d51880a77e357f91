"""What the tests of the page do again and again."""

from __future__ import annotations

from typing import Any

import pytest

__all__ = ["ask", "assert_accessible", "wait_for_collections"]


def wait_for_collections(page: Any) -> None:
    """The page has heard from the server what there is."""
    page.wait_for_selector("#collection option", state="attached")


def ask(page: Any, question: str, state: str = "whole") -> Any:
    """Ask, wait until the answer is in the given state, and give its element."""
    wait_for_collections(page)
    page.fill("#question", question)
    page.press("#question", "Enter")
    page.wait_for_selector(f'.turn:last-child[data-state="{state}"]')
    return page.locator(".turn").last


def assert_accessible(page: Any) -> None:
    """axe-core finds nothing to blame."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the dev extra has axe")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
