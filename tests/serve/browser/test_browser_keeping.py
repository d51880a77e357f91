"""What is kept of an answer, in a real browser: ratings, copies, the history."""

from __future__ import annotations

from typing import Any

from pages import ask
from standin import StandIn


def test_feedback(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    ask(page, "How do wolves hunt?")
    page.click("[aria-label='Bad answer']")
    page.wait_for_selector(".feedback:has-text('kept')")
    page.click(".feedback .chip:has-text('Incomplete')")
    page.fill(".feedback textarea", "In packs, mostly.")
    page.click(".feedback button[type=submit]")
    page.wait_for_selector(".reason", state="detached")
    last = standin.feedback[-1]
    assert last == {"answer_id": "answer-1", "rating": -1, "reason": "Incomplete", "correction": "In packs, mostly."}
    page.click("[aria-label='Good answer']")
    page.wait_for_selector("[aria-label='Good answer'][aria-pressed=true]")
    page.wait_for_selector(".feedback:has-text('A reason helps more')")
    assert standin.feedback[-1] == {"answer_id": "answer-1", "rating": 1}


def test_copy_as_markdown(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url, permissions=["clipboard-read", "clipboard-write"])
    ask(page, "How do *wolves* hunt?")
    page.click("button:has-text('Copy as Markdown')")
    page.wait_for_selector("#status:has-text('The answer copied.')", state="attached")
    assert page.evaluate("navigator.clipboard.readText()").replace("\r\n", "\n") == (
        "**How do \\*wolves\\* hunt?**\n\n"
        "Wolves hunt in packs at night [1]. Owls hunt alone at midnight [2]. They sing [2].\n\n"
        "References:\n\n"
        "1. Wolf, `animals/wolf.md`: “Wolves hunt in packs at night.”\n"
        "2. Owl, `animals/owl.md`: “Owls hunt alone at night.” “They see well.”\n"
    )


def test_history(standin: StandIn, open_page: Any) -> None:
    standin.history = [
        {"id": "old", "asked_at": "2024-05-01T10:00:00Z", "index": "towns", "question": "Where is Ulm?"}
        | {"answer": "On the Danube [1].", "rating": 1}
    ]
    page = open_page(standin.url)
    ask(page, "How do wolves hunt?")
    page.click("#history-open")
    page.wait_for_selector("#past li:nth-child(2)")
    assert "in this visit" in page.inner_text("#past li >> nth=0")
    kept = page.inner_text("#past li >> nth=1")
    assert "towns" in kept and "1 May" in kept and "good" in kept
    page.fill("#history-filter", "ulm")
    assert page.locator("#past li").count() == 1
    page.click("#past button")
    page.wait_for_selector('[data-state="recalled"]:has-text("On the Danube")')
    page.click('[data-state="recalled"] button:has-text("Ask again")')
    page.wait_for_selector('.turn:last-child[data-state="whole"]')
    assert standin.asked[-1]["index"] == "towns"


def test_deleting_the_history_takes_two_presses(standin: StandIn, open_page: Any) -> None:
    standin.history = [{"id": "old", "asked_at": "2024-05-01T10:00:00Z", "index": "towns", "question": "Where is Ulm?"}]
    page = open_page(standin.url)
    page.click("#history-open")
    page.wait_for_selector("#past li")
    page.click("#history-clear")
    assert len(standin.history) == 1
    page.click("#history-clear:has-text('for good')")
    page.wait_for_selector("#past-note:has-text('The history is deleted')")
    assert standin.history == []
    assert page.locator("#past li").count() == 0


def test_a_history_that_cannot_be_had_says_why(standin: StandIn, open_page: Any) -> None:
    standin.history_fails = True
    page = open_page(standin.url)
    ask(page, "How do wolves hunt?")
    page.click("#history-open")
    page.wait_for_selector("#past-note:has-text('The history cannot be read: the disk is full.')")
    assert "in this visit" in page.inner_text("#past")  # what this visit asked is there all the same


def recalled(standin: StandIn, open_page: Any, index: str) -> Any:
    """The page with an answer of a collection, out of the history."""
    standin.history = [
        {"id": "answer-1", "asked_at": "2024-05-01T10:00:00Z", "index": index, "question": "How do wolves hunt?"}
    ]
    page = open_page(standin.url)
    page.click("#history-open")
    page.click("#past button")
    page.wait_for_selector('[data-state="whole"] button.cite')
    return page


def test_an_answer_that_was_kept_comes_back_whole(standin: StandIn, open_page: Any) -> None:
    page = recalled(standin, open_page, "animals")
    assert page.locator("#hits > li").count() == 2
    assert standin.asked == []


def test_the_sources_of_an_answer_are_those_of_its_own_collection(standin: StandIn, open_page: Any) -> None:
    """Also where that collection is no longer there."""
    page = recalled(standin, open_page, "gone")
    with page.expect_request("**/documents/**") as asked:
        page.click("button.cite >> nth=0")
    assert "/v1/indexes/gone/documents/animals/wolf.md" in asked.value.url
