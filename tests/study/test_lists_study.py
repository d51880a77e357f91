"""The study of lists: gold out of a graph and its pages, lists out of a reader, a table out of both."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from longform.answer.lists import ListAnswerer
from longform.errors import InputError
from longform.models import ReaderAnswer
from longform.study.lists_questions import Page, graph_questions, halves
from longform.study.lists_study import (
    choose_least,
    held,
    lists_page,
    page_index,
    read_pages,
    read_questions,
    rows_of,
)

DIRECTORS = {"Jo Ham": ["Ay", "Bee (film)", "Cee", "Dee"], "Al Fox": ["Eff", "Gee", "Hay"]}
PAGES = [
    Page(title, f"{title.partition(' (')[0]} is a 1950 film directed by {name}, starring Kay Ell.")
    for name, titles in DIRECTORS.items()
    for title in titles
] + [Page("Jo Ham", "Jo Ham directed films."), Page("Kay Ell", "Kay Ell acted for Jo Ham. She sang.")]
TRIPLES = [
    {"subject": "Ay", "relation": "director", "object": "Jo Ham"},
    {"subject": "Eff", "relation": "director", "object": "Al Fox"},
    {"subject": "Nowhere", "relation": "director", "object": "Al Fox"},
    {"subject": "Ay", "relation": "country", "object": "France"},
]


class Openings:
    """Finds what a text opens with; of people it is less sure."""

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[ReaderAnswer]:
        found = []
        for _, text in pairs:
            name = text.partition(" is a")[0] if " is a" in text else "Kay Ell"
            start = max(text.find(name), 0)
            found.append(ReaderAnswer(name, 4.0 if " is a" in text else -1.0, 0.0, start, start + len(name)))
        return found


def test_gold_is_completed_from_the_pages() -> None:
    jo, al = sorted(graph_questions(TRIPLES, PAGES), key=lambda question: -len(question.answers))
    assert jo.question == "Which films were directed by Jo Ham?" and jo.id == "director__Jo Ham"
    assert [answer.text for answer in jo.answers] == ["Ay", "Bee (film)", "Cee", "Dee"]
    assert jo.answers[1].aliases == ("Bee (film)", "Bee")
    assert [answer.text for answer in al.answers] == ["Eff", "Gee", "Hay"]  # "Nowhere" has no page
    assert graph_questions(TRIPLES, PAGES, least=4) == [jo]
    assert graph_questions(TRIPLES, PAGES, most=3) == [al]
    with pytest.raises(InputError, match="no subject, relation or object"):
        graph_questions([{"subject": "x"}], PAGES)


def test_only_pages_of_the_kind_that_is_asked_for_count() -> None:
    pages = [*PAGES, Page("Zed", "Zed is an actor. His first film was directed by Jo Ham.")]
    (jo,) = (one for one in graph_questions(TRIPLES, pages) if one.id.endswith("Jo Ham"))
    assert "Zed" not in [answer.text for answer in jo.answers]


def test_questions_are_parted_by_the_seed() -> None:
    questions = graph_questions(TRIPLES, PAGES)
    development, test = halves(questions, 1, 0)
    assert len(development) == len(test) == 1 and development != test and halves(questions, 1, 0) == (development, test)
    with pytest.raises(InputError, match="Of 2 questions, 2 cannot be set aside"):
        halves(questions, 2, 0)


def test_the_study_from_pages_to_a_table(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(page._asdict()) + "\n" for page in PAGES), encoding="utf-8")
    pages = read_pages(path)
    assert pages == PAGES
    index = page_index(tmp_path / "pages.index", pages)
    assert len(page_index(tmp_path / "pages.index", pages)) == len(index) == 9
    lister = ListAnswerer(Openings(), least=0.4)
    told: list[int] = []
    read = read_questions(
        graph_questions(TRIPLES, pages), index, lister, lambda stage, done, total=None: told.append(done)
    )
    assert told == [1, 2] and held(read) == 1.0
    titles, everything, lists = rows_of(read, lister)
    assert lists.report.scores["f1"] > everything.report.scores["f1"] and lists.report.scores["recall"] > 0
    assert titles.report.scores["recall"] == 1.0
    best, reports = choose_least(read, (0.0, 0.4, 1.0))
    assert best == 0.4 and reports[0.0].scores["f1"] == everything.report.scores["f1"]
    page = lists_page([titles, everything, lists], read, command="python x", hashes={"pages": "abc"}, seed=0)
    assert page == lists_page([titles, everything, lists], read, command="python x", hashes={"pages": "abc"}, seed=0)
    assert "| `--list` (support ≥ 0.4) | " in page and "| director | 2 | " in page and "| pages | `abc` |" in page
    assert "2 questions with 3.5 answers on average" in page
