"""The page with the keyboard alone, on a phone, in the dark, and in the eyes of axe-core."""

from __future__ import annotations

from typing import Any

import pytest
from pages import ask, assert_accessible, wait_for_collections
from standin import StandIn


def test_keyboard_alone(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    wait_for_collections(page)
    page.keyboard.type("How do wolves hunt?")  # the box has the focus from the start
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-state="whole"]')
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.cite')"):
            break
    page.wait_for_selector("#popover:visible")
    assert page.inner_text("#popover-title").split() == ["1", "Wolf"]
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#popover-title").split() == ["2", "Owl"]
    page.keyboard.press("Escape")
    assert page.is_hidden("#popover")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.wait_for_selector("#source mark")
    assert page.evaluate("document.activeElement.id") == "source-text"  # ready to be scrolled
    page.keyboard.press("Escape")
    page.wait_for_selector("#source", state="hidden")
    assert page.evaluate("document.activeElement.dataset.citation") == "1"  # back where we were
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "question"
    assert page.input_value("#question") == ""


def test_the_first_stop_is_the_skip_link(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    first = page.locator("a, button, input, textarea, select").first
    assert first.inner_text() == "Skip to the question box"
    first.focus()
    box = first.bounding_box()
    assert box is not None and box["y"] >= 0  # it shows itself
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "question"


def test_phone(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url, viewport={"width": 375, "height": 720}, has_touch=True, is_mobile=True)
    ask(page, "How do wolves hunt?")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    side, answer = page.locator("#side").bounding_box(), page.locator(".prose").bounding_box()
    assert side is not None and answer is not None and side["y"] > answer["y"] + answer["height"]
    page.locator("button.cite").first.tap()  # shows the passage, does not leave the answer
    page.wait_for_selector("#popover:visible")
    assert page.is_hidden("#source")
    page.tap("#popover-open")
    page.wait_for_selector("#source mark")
    assert page.locator("#source").bounding_box()["width"] == 375


def test_theme_is_remembered(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url, color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark
    assert page.get_attribute("#theme", "aria-pressed") == "true"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible(standin: StandIn, open_page: Any, scheme: str) -> None:
    page = open_page(standin.url, color_scheme=scheme, reduced_motion="reduce")
    wait_for_collections(page)
    page.click("#settings-open")
    assert_accessible(page)
    ask(page, "How do wolves hunt?")
    page.click(".readings button:has-text('Wolf')")
    page.click("[aria-label='Bad answer']")
    page.check("#changes")
    page.focus("button.cite >> nth=1")
    assert_accessible(page)
    page.click("button.cite >> nth=0")
    page.wait_for_selector("#source mark")
    assert_accessible(page)
    page.keyboard.press("Escape")
    ask(page, "broken", "broken")
    ask(page, "Which animals hunt?")
    assert_accessible(page)
    page.click("#history-open")
    assert_accessible(page)
    page.keyboard.press("Escape")
    page.click("#collections-open")
    assert_accessible(page)
