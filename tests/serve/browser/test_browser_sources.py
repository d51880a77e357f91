"""Citations and sources in a real browser; markup in them is shown, never run."""

from __future__ import annotations

import re
from typing import Any

from pages import ask
from standin import EVIDENCE, STATIC, StandIn


def test_citation_shows_the_passage_and_opens_the_source(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    ask(page, "How do wolves hunt?")
    page.hover("button.cite >> nth=0")
    page.wait_for_selector("#popover:visible")
    assert page.inner_text("#popover-text mark") == EVIDENCE  # counted in characters, past one of two UTF-16 units
    assert page.locator('#hits > li.pointed[data-number="1"]').count() == 1
    page.mouse.move(5, 5)
    page.wait_for_selector("#popover", state="hidden")
    page.click("button.cite >> nth=0")
    page.wait_for_selector("#source mark")
    assert page.inner_text("#source mark") == EVIDENCE
    assert page.inner_text("#source .passage >> nth=0").startswith("The ")
    assert page.inner_text("#source-title") == "Wolf"
    assert page.locator("#source-text h3").all_inner_texts() == ["Food"]
    page.keyboard.press("Escape")
    page.wait_for_selector("#source", state="hidden")


def test_the_source_is_scrolled_to_the_place(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    ask(page, "How do wolves hunt?")
    page.evaluate("""async () => {
        const { openSource } = await import("/static/source.js");
        const hit = { document: "animals/wolf.md", title: "Wolf", text: "", start: 5900, end: 6000 };
        await openSource("animals", hit, [{ passage: 1, start: 0, end: 14 }]);
    }""")
    mark = page.locator("#source mark")
    mark.wait_for()
    assert page.evaluate("document.querySelector('#source-text').scrollTop") > 500
    box = mark.bounding_box()
    assert box is not None and 0 < box["y"] < 860


def test_headings_and_page_numbers_of_a_source(standin: StandIn, open_page: Any) -> None:
    """Marks stand at the beginnings of passages, which may be in the middle of a line or of a section."""
    text = "The moon is far. Orbit\n\nIt turns. It turns again.\n\nFaces\n\nOne is dark."
    marks = [(17, "Orbit"), (34, "Orbit"), (58, "page 2")]
    document = {"id": "m", "title": "Moon", "text": text, "marks": [{"offset": at, "label": one} for at, one in marks]}
    page = open_page(standin.url)
    page.route("**/documents/m", lambda route: route.fulfill(json=document))
    page.evaluate("""async () => {
        const { openSource } = await import("/static/source.js");
        await openSource("animals", { document: "m", title: "Moon", text: "", start: 0, end: 16 });
    }""")
    page.wait_for_selector("#source .passage")
    found = page.evaluate("""[...document.querySelector("#source-text").children].map(
        (one) => [one.localName, one.className, one.innerText])""")
    assert [(tag, kind, words.strip()) for tag, kind, words in found] == [
        ("p", "", "The moon is far."),
        ("h3", "", "Orbit"),
        ("p", "", "It turns. It turns again."),
        ("p", "heading", "Faces"),
        ("p", "page-number", "page 2"),
        ("p", "", "One is dark."),
    ]


def test_markup_in_a_passage_is_shown_not_run(standin: StandIn, open_page: Any) -> None:
    page = open_page(standin.url)
    ask(page, "How do <b>wolves</b> hunt? <script>window.attacked = 2</script>")
    page.hover("button.cite >> nth=0")
    page.wait_for_selector("#popover:visible")
    assert "<script>window.attacked = 1</script> & <b>bold</b>" in page.inner_text("#popover-text")
    assert "<script>window.attacked = 1</script>" in page.inner_text("#hits")
    page.click("button.cite >> nth=0")
    page.wait_for_selector("#source mark")
    assert "<script>window.attacked = 1</script>" in page.inner_text("#source-text")
    assert "<script>window.attacked = 2</script>" in page.inner_text(".asked")
    assert page.evaluate("window.attacked") is None
    assert page.locator("main b, main script, #source b, #hits b").count() == 0


def test_inline_script_is_refused_by_the_policy(standin: StandIn, browser: Any) -> None:
    page = browser.new_page()
    page.goto(standin.url)
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.attacked = 3";
        document.body.append(script);
    }""")
    assert page.evaluate("window.attacked") is None
    page.close()


def test_the_files_of_the_page_keep_to_the_rules() -> None:
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=|\son\w+=|https?://", page)
    for file in sorted(STATIC.iterdir()):
        text = file.read_text()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text), file.name
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), file.name


def test_offsets_in_the_text(standin: StandIn, open_page: Any) -> None:
    """The page's own functions, on what is hard: characters of two units, marks between words, events cut anywhere."""
    page = open_page(standin.url)
    found = page.evaluate("""async () => {
        const { unitsOf, citationsIn, placed } = await import("/static/text.js");
        const { events, parsed } = await import("/static/sse.js");
        const text = "a\\u{1F43A}b";
        const answer = { answer: "One  two [1],\\nthree [9] [2].", sentences: [
            { text: "One two, three [9].", ungrounded: [[4, 7]] }, { text: "not there", ungrounded: [] } ] };
        const citations = citationsIn(answer.answer, 2);
        const bytes = new TextEncoder().encode(
            ": hi\\r\\n\\r\\nevent: text\\r\\ndata: é\\u{1F43A}\\r\\n\\r\\ndata: cut off");
        const stream = new ReadableStream({ start(controller) {
            for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
            controller.close();
        } });
        const came = [];
        for await (const event of events(stream)) came.push(event);
        return {
            units: [0, 1, 2, 3, 9].map(unitsOf(text)),
            numbers: citations.map((one) => one.number),
            sentences: placed(answer, citations).map(({ start, end, ungrounded: [one] }) =>
                [start, end, one.start, one.end]),
            event: parsed(": hello\\nevent: text\\ndata: one\\ndata:two"),
            came,
        };
    }""")
    assert found["units"] == [0, 1, 3, 4, 4]
    assert found["numbers"] == [1, 2]
    assert found["sentences"] == [[0, 28, 5, 8]]
    assert found["event"] == {"event": "text", "data": "one\ntwo"}
    assert found["came"] == [{"event": "text", "data": "é\U0001f43a"}]
