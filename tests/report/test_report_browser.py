"""The page in a real browser: nothing is fetched, nothing is run, everyone can use it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_study import HOSTILE

from longform.report import make_report

OVERLAPS = """() => {
  const found = [];
  for (const image of document.querySelectorAll("svg.plot")) {
    const boxes = [...image.querySelectorAll("text:not(.turned)")].map((text) => [text.textContent, text.getBBox()]);
    const view = image.viewBox.baseVal;
    boxes.forEach(([name, a], place) => {
      if (a.x < -0.5 || a.x + a.width > view.width + 0.5 || a.y + a.height > view.height + 0.5 || a.y < -3)
        found.push(`${name} leaves ${image.querySelector("title").textContent}`);
      for (const [other, b] of boxes.slice(place + 1)) {
        const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
        const down = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
        // The boxes of letters hold room for accents: lines of text may share a little of it.
        if (across > 1 && down > 5) found.push(`${name} / ${other}`);
      }
    });
  }
  return found;
}"""


@pytest.fixture(scope="module")
def address(made_runs: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_report(made_runs, tmp_path_factory.mktemp("browser"), examples=4, resamples=300).page.as_uri()


@pytest.fixture
def open_page(browser: Any, address: str) -> Iterator[Any]:
    """Opens the page; at the end nothing may have gone wrong, and nothing else may have been asked for."""
    contexts: list[Any] = []
    wrong: list[str] = []

    def opened(**options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("request", lambda request: request.url == address or wrong.append(request.url))
        page.goto(address)
        return page

    opened.wrong = wrong  # type: ignore[attr-defined]
    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def assert_accessible(page: Any) -> None:
    """axe-core finds nothing to blame."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the dev extra has axe")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_an_answer_is_shown_not_run(open_page: Any) -> None:
    page = open_page()
    shown = page.locator('.said[data-system="hostile_100"]:visible .answer').first
    assert shown.inner_text() == HOSTILE
    assert page.title() == "Report of runs · Longform"
    assert page.locator("main img, main script").count() == 0
    # The policy holds even where markup would slip through.
    page.evaluate("""() => {
      const script = document.createElement("script");
      script.textContent = "document.title = 'run'";
      document.body.append(script);
    }""")
    assert page.title() == "Report of runs · Longform"
    assert "Content Security Policy" in open_page.wrong.pop() and open_page.wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible(browser: Any, runs: Path, tmp_path: Path, scheme: str) -> None:
    table = {"title": "Cuts", "columns": ["cut", "score", ""], "rows": [["half", "12", "long"], ["", "9", ""]]}
    found = [
        {"check": "Length", "verdict": verdict, "words": "It is long.", "notes": ["A note."], "tables": [table]}
        for verdict in ("concern", "fine", "unknown")
    ]
    (runs / "ambiguous" / "findings.json").write_text(json.dumps(found))
    items = runs / "ambiguous" / "random-answer" / "items.jsonl"
    items.write_bytes(items.read_bytes().partition(b"\n")[0] + b"\n")
    # One example: axe looks at every word, and all examples are made alike.
    made = make_report(runs / "ambiguous", tmp_path / "report", examples=1, resamples=50)
    context = browser.new_context(color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.goto(made.page.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    assert_accessible(page)
    context.close()


def test_no_text_of_a_plot_lies_on_another(open_page: Any) -> None:
    page = open_page()
    assert page.locator("svg.plot").count() >= 12
    assert page.evaluate(OVERLAPS) == []


def test_picking_with_the_keyboard_alone(open_page: Any) -> None:
    page = open_page()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the scores"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    section = page.locator("#d0-examples")
    shown = section.locator(".example:visible h4")
    assert shown.count() == 1
    first = shown.inner_text()
    section.locator(".pick").focus()
    page.keyboard.press("ArrowDown")
    assert shown.count() == 1 and shown.inner_text() != first
    section.locator(".before").focus()
    page.keyboard.press("Enter")
    assert shown.inner_text() == first and section.locator(".before").is_disabled()


def test_finding_a_question_and_choosing_systems(open_page: Any) -> None:
    page = open_page()
    section = page.locator("#d0-examples")
    questions = section.locator(".pick option").all_inner_texts()
    word = questions[-1].split()[-2]
    section.locator(".find").fill(questions[-1])
    assert section.locator(".example:visible h4").inner_text() == questions[-1]
    assert section.locator(".found").inner_text() == "1 of 4 questions"
    section.locator(".find").fill(f"{word} xyzzy")
    assert section.locator(".example:visible").count() == 0
    section.locator(".find").fill("")
    section.locator(".every").click()
    assert section.locator(".example:visible").count() == 4
    section.locator(".every").click()
    assert section.locator(".said:visible h5").all_inner_texts() == ["bm25@1", "bm25@5", "hostile_100"]
    section.get_by_role("checkbox", name="human").check()
    section.get_by_role("checkbox", name="bm25@5").uncheck()
    assert section.locator(".said:visible h5").all_inner_texts() == ["bm25@1", "hostile_100", "human", "human"]


def test_a_citation_leads_to_its_passage(open_page: Any) -> None:
    page = open_page()
    page.locator('.said[data-system="hostile_100"]:visible a.cite').first.click()
    assert "<b>Title</b> A script for an image." in page.evaluate("document.activeElement.textContent")
    assert page.evaluate("document.activeElement.closest('details').open")


def test_without_a_script_everything_is_shown(open_page: Any) -> None:
    page = open_page(java_script_enabled=False)
    assert page.locator("#d0-examples .example:visible").count() == 4
    assert page.locator("#d0-examples .picker").is_hidden() and page.locator("#theme").is_hidden()


def test_light_and_dark(open_page: Any) -> None:
    page = open_page(color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    bar = "getComputedStyle(document.querySelector('rect.bar')).fill"
    before = page.evaluate(ground), page.evaluate(bar)
    page.click("#theme")
    after = page.evaluate(ground), page.evaluate(bar)
    assert before[0] != after[0] and before[1] != after[1], "plots follow the page"
    assert page.get_attribute("#theme", "aria-pressed") == "true"
    page.emulate_media(media="print")
    assert page.evaluate(bar) == before[1], "paper is light"


def test_phone(open_page: Any) -> None:
    page = open_page(viewport={"width": 375, "height": 720}, is_mobile=True, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    letters = page.evaluate("document.querySelector('svg.plot').getBoundingClientRect().width / 420 * 12")
    assert letters >= 8.5, "letters of plots can be read"
    wide = page.locator(".scroll", has=page.locator("table.scores")).first
    place = wide.bounding_box()
    assert place is not None and wide.evaluate("(box) => box.scrollWidth > box.clientWidth")

    def shade() -> bytes:
        """The last pixels at the right, between two rows."""
        edge = {"x": place["x"] + place["width"] - 3, "y": place["y"] + 2, "width": 2, "height": 6}
        return bytes(page.screenshot(clip=edge, full_page=True))

    more = shade()
    wide.evaluate("(box) => (box.scrollLeft = box.scrollWidth)")
    assert shade() != more, "a shadow says that there is more to the right, and goes where there is none"
    page.emulate_media(media="print")
    assert page.locator(".picker").first.is_hidden() and page.locator("table").first.is_visible()
