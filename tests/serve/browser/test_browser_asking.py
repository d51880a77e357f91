"""Asking in a real browser: the answer as it comes, and what stands around it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pages import ask, wait_for_collections
from standin import StandIn, answer


def test_ask_and_stream(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    wait_for_collections(page)
    page.fill("#question", "slow")
    page.click("#ask")
    page.wait_for_selector(".stage:has-text('Reading 3 passages')")
    assert page.locator("#hits > li").count() == 3  # passages are there before the answer
    standin.proceed.release()
    page.wait_for_selector(".prose:has-text('Wolves hunt in packs')")
    assert "Owls" not in page.inner_text(".prose")
    assert page.locator("button.cite").count() == 0  # nothing to open yet
    assert page.inner_text("#ask-label") == "Stop"
    standin.proceed.release(3)
    page.wait_for_selector('[data-state="whole"]')
    assert page.inner_text(".prose").startswith("Wolves hunt in packs at night")
    assert page.locator("button.cite").all_inner_texts() == ["1", "2", "2"]
    assert page.inner_text("#ask-label") == "Ask"
    # The screen reader hears the whole answer once, without its marks.
    page.wait_for_selector("#status:has-text('They sing.')", state="attached")
    assert "[" not in page.inner_text("#status")
    assert standin.asked[0]["stream"] is True


def test_stop_keeps_what_was_written(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    wait_for_collections(page)
    page.fill("#question", "slow")
    page.click("#ask")
    standin.proceed.release()
    page.wait_for_selector(".prose:has-text('Wolves')")
    page.click("#ask")
    page.wait_for_selector('[data-state="stopped"]')
    assert "Wolves hunt in packs" in page.inner_text(".prose")
    standin.proceed.release(9)


def test_ungrounded_words_are_shaded_and_explained(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    ask(page, "How do owls hunt?")
    assert page.locator(".prose .ungrounded").all_inner_texts() == ["midnight", "sing"]
    assert page.locator(".prose .unsupported").all_inner_texts()[0].startswith("They sing")
    assert "do not stand in the cited passages" in page.inner_text(".legend")


def test_readings_dim_the_others(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    ask(page, "How do they hunt?")
    page.click(".readings button:has-text('Wolf')")
    assert page.locator(".sentence.dimmed").all_inner_texts()[0].startswith("Owls")
    page.click(".readings button:has-text('Wolf')")
    assert page.locator(".sentence.dimmed").count() == 0


def test_what_the_reranker_changed(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    ask(page, "How do wolves hunt?")
    assert page.locator("#hits > li h3").all_inner_texts() == ["Wolf", "Owl", "Ulm"]
    first = page.inner_text("#hits > li >> nth=0")
    assert "BM25" in first and "4.50" in first and "Re-ranker" in first and "2.25" in first
    page.check("#changes")
    moves = page.locator("#hits .movement > [aria-hidden]").all_inner_texts()
    assert moves == ["1 from 3 ▲2", "2 from 1 ▼1", "3 from >3 ▲"]
    assert "animals/fox.md#0" in page.inner_text("#dropped")
    page.uncheck("#changes")
    assert page.locator(".movement").count() == 0


def test_list_view(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url + "?list=1")
    turn = ask(page, "Which animals hunt at night?")
    assert standin.asked[0]["list"] is True
    assert turn.locator(".items strong").all_inner_texts() == ["wolf", "owl"]
    assert "also grey wolf" in turn.inner_text()
    assert not turn.locator(".prose").is_visible()
    turn.locator(".items button.cite").first.hover()
    page.wait_for_selector("#popover:visible")
    assert page.inner_text("#popover-text mark") == "wolf"
    turn.locator(".views button:has-text('Text')").click()
    assert turn.locator(".prose li").count() == 2
    assert not turn.locator(".items").is_visible()


def test_follow_ups_carry_what_was_said(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    ask(page, "How do wolves hunt?")
    page.click(".follow:has-text('What do wolves eat?')")
    page.wait_for_selector('.turn:nth-child(2)[data-state="whole"]')
    assert "history" not in standin.asked[0]
    assert standin.asked[1]["question"] == "What do wolves eat?"
    assert standin.asked[1]["history"][0]["question"] == "How do wolves hunt?"
    ask(page, "And owls?")
    assert "Understood as How do owls hunt?" in page.inner_text(".turn:last-child .understood")
    assert "q=How+do+owls+hunt" in page.url  # a copied address asks what was understood
    page.click(".turn:last-child .understood button")
    page.wait_for_selector('.turn:nth-child(4)[data-state="whole"]')
    assert "history" not in standin.asked[3]


@pytest.mark.parametrize("width", [1280, 375])
def test_a_new_question_stands_at_the_top(standin: StandIn, open_page: Any, width: int) -> None:
    page = open_page(standin.url, viewport={"width": width, "height": 860}, reduced_motion="reduce")
    for question in ("How do wolves hunt?", "Where?", "And when?"):
        ask(page, question)
    top = page.locator(".turn:last-child .asked").bounding_box()["y"]
    below = page.locator("#composer").bounding_box()
    assert below["y"] + below["height"] - 20 <= top <= 300


def test_where_nothing_was_reranked_no_switch_says_so(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    page.route("**/v1/ask", plain_list)
    ask(page, "Which animals hunt?")
    assert page.locator("#hits > li").count() == 2 and page.locator("#changes-label").is_hidden()


def plain_list(route: Any) -> None:
    """A list is made of what the first search found."""
    row = answer("Which animals hunt?")
    row["passages"] = [{**hit, "scores": {"bm25": hit["scores"]["bm25"]}} for hit in row["passages"]]
    route.fulfill(content_type="text/event-stream", body=f"event: answer\ndata: {json.dumps(row)}\n\n")


def test_settings_are_in_the_address(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    wait_for_collections(page)
    page.click("#settings-open")
    page.select_option("#set-model", "gguf:small")
    page.fill("#set-k", "7")
    page.uncheck("#set-rerank")
    page.select_option("#collection", "towns")
    ask(page, "Where is Ulm?")
    assert {"k": 7, "model": "gguf:small", "rerank": False, "index": "towns"}.items() <= standin.asked[0].items()
    assert page.locator("#changes-label").is_hidden()
    copy = open_page(page.url)
    copy.wait_for_selector('[data-state="whole"]')
    assert standin.asked[1] == standin.asked[0]
    assert copy.input_value("#set-k") == "7"
    copy.click("#new")
    assert copy.locator(".turn").count() == 0
    copy.go_back()
    copy.wait_for_selector('[data-state="whole"]')


def test_an_address_with_an_unknown_collection_says_so(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url + "?q=Where&index=planets")
    page.wait_for_selector("#notice:has-text('There is no collection planets here')")
    assert page.input_value("#question") == "Where"
    assert standin.asked == []


def test_token(standin: StandIn, open_page: Any) -> None:
    standin.token = "secret"
    page = open_page(standin.url)
    page.wait_for_selector("#token[open]")
    page.fill("#token-value", "secret")
    page.keyboard.press("Enter")
    ask(page, "How do wolves hunt?")
    given = open_page(standin.url + "?token=secret&q=Who")
    given.wait_for_selector('[data-state="whole"]')
    assert "secret" not in given.url
