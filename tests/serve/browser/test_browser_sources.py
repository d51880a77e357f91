"""Citations and sources in a real browser; markup in them is shown, never run."""

from __future__ import annotations

import json
import re
from typing import Any

from pages import ask
from standin import EVIDENCE, STATIC, StandIn, answer


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


def test_a_document_that_was_uploaded_anew(standin: StandIn, open_page: Any) -> None:
    """The passage is looked for in what the document is now; where it is gone, the page says so."""
    document = {"id": "w", "title": "W", "text": "Owls. Wolves hunt.", "marks": []}
    page = open_page(standin.url)
    page.route("**/documents/w", lambda route: route.fulfill(json=document))

    def open_at(start: int, text: str = "Wolves hunt.") -> None:
        hit = {"document": "w", "title": "W", "text": text, "start": start, "end": start + len(text)}
        page.evaluate(
            """async (hit) => {
                const { openSource } = await import("/static/source.js");
                await openSource("animals", hit, [{ passage: 1, start: 0, end: 6 }]);
            }""",
            hit,
        )

    open_at(6)
    assert page.inner_text("#source mark") == "Wolves"
    document["text"] = "\U0001f43a Much is new. Owls. Wolves hunt."
    for start in (21, 3):  # where a new answer found it; where an old one says that it is
        open_at(start)
        assert page.inner_text("#source mark") == "Wolves" and "Much is new" in page.inner_text("#source-text")
    open_at(0, "Foxes hunt.")
    assert "no longer in it" in page.inner_text("#source-text .error")
    assert page.inner_text("#source-text .passage >> nth=0") == "Foxes hunt."
    assert "Much is new" in page.inner_text("#source-text")


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


def test_markup_in_names_is_shown_not_run(standin: StandIn, open_page: Any) -> None:
    """In titles, ids of documents, sections, names of collections and files, warnings and questions of the history."""
    bad = "<img src=x onerror='window.attacked = 4'>"
    row = answer("How?") | {"warnings": [bad], "follow_ups": [f"What is {bad}?"]}
    row["passages"] = [{**hit, "title": bad, "document": f"{bad}.txt", "section": bad} for hit in row["passages"]]
    standin.indexes[0] = {**standin.indexes[0], "name": bad}
    standin.history = [{"id": "old", "asked_at": bad, "index": bad, "question": bad}]
    page = open_page(standin.url)
    page.route(
        "**/v1/ask",
        lambda route: route.fulfill(
            content_type="text/event-stream", body=f"event: answer\ndata: {json.dumps(row)}\n\n"
        ),
    )
    turn = ask(page, bad)
    assert turn.inner_text().count(bad) >= 3 and page.inner_text("#hits").count(bad) >= 2
    page.click("button.cite >> nth=0")
    page.wait_for_selector("#source .passage")
    assert page.inner_text("#source-where") == f"{bad}.txt" and page.inner_text("#source-title") == bad
    page.keyboard.press("Escape")
    page.click("#history-open")
    page.wait_for_selector("#past li:nth-child(2)")
    assert page.inner_text("#past").count(bad) >= 3
    page.keyboard.press("Escape")
    page.click("#collections-open")
    page.set_input_files("#files", {"name": f"{bad}.txt", "mimeType": "text/plain", "buffer": b"x"})
    assert bad in page.inner_text("#shelf") and bad in page.inner_text("#chosen")
    assert page.evaluate("window.attacked") is None and page.locator("img").count() == 0


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
