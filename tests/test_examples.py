"""Checks of the example collection: the pages, the questions over them, and their agreement."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PLACEHOLDER = "No context provided"


def load_pages() -> dict[str, str]:
    """Return the text of every page by its title, failing on a repeated title."""
    pages: dict[str, str] = {}
    for path in sorted((EXAMPLES / "pages").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        first = text.split("\n", 1)[0]
        assert first.startswith("# "), f"{path.name} has no title line"
        title = first[2:].strip()
        assert title, f"{path.name} has an empty title"
        assert title not in pages, f"{path.name} repeats the title {title!r}"
        pages[title] = text
    return pages


def load_questions() -> dict[str, dict[str, Any]]:
    """Return the questions by id."""
    data = json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))
    assert set(data) == {"dev"}
    questions: dict[str, dict[str, Any]] = data["dev"]
    return questions


PAGES = load_pages()
QUESTIONS = load_questions()

each_question = pytest.mark.parametrize("qid", list(QUESTIONS))


def mentions(text: str, aliases: list[str]) -> bool:
    """Whether any alias occurs in the text as whole words, whatever the case."""
    return any(re.search(rf"(?<!\w){re.escape(alias)}(?!\w)", text, re.IGNORECASE) for alias in aliases)


def test_page_count() -> None:
    assert 30 <= len(PAGES) <= 60


@pytest.mark.parametrize("title", list(PAGES))
def test_page_shape(title: str) -> None:
    text = PAGES[title]
    lines = text.split("\n")
    assert text.endswith("\n")
    assert sum(line.startswith("# ") for line in lines) == 1
    assert 2 <= sum(line.startswith("## ") for line in lines) <= 5
    assert 150 <= len(text.split()) <= 350


def test_question_count() -> None:
    assert 36 <= len(QUESTIONS) <= 48
    asked = [question["ambiguous_question"] for question in QUESTIONS.values()]
    assert len(set(asked)) == len(asked)


@each_question
def test_shape(qid: str) -> None:
    question = QUESTIONS[qid]
    assert set(question) == {"ambiguous_question", "qa_pairs", "wikipages", "annotations"}
    assert question["ambiguous_question"].endswith("?")
    assert 2 <= len(question["qa_pairs"]) <= 5
    for pair in question["qa_pairs"]:
        assert set(pair) == {"question", "short_answers", "context", "wikipage"}
        assert pair["question"].endswith("?")
        assert pair["short_answers"]
        assert all(isinstance(alias, str) and alias.strip() for alias in pair["short_answers"])
        assert pair["context"]
        assert pair["wikipage"] is None or isinstance(pair["wikipage"], str)
    assert question["wikipages"]
    for page in question["wikipages"]:
        assert set(page) == {"title", "url"}
    assert len(question["annotations"]) == 2
    for annotation in question["annotations"]:
        assert set(annotation) == {"long_answer", "knowledge"}
        assert annotation["knowledge"]
        for item in annotation["knowledge"]:
            assert set(item) == {"content", "wikipage"}


@each_question
def test_pages_exist(qid: str) -> None:
    question = QUESTIONS[qid]
    titles = [page["title"] for page in question["wikipages"]]
    assert len(set(titles)) == len(titles)
    assert set(titles) <= set(PAGES)
    named = {pair["wikipage"] for pair in question["qa_pairs"]} - {None}
    assert named <= set(titles)


@each_question
def test_pages_hold_the_answers(qid: str) -> None:
    question = QUESTIONS[qid]
    support = "\n".join(PAGES[page["title"]] for page in question["wikipages"])
    for pair in question["qa_pairs"]:
        assert mentions(support, pair["short_answers"]), pair["question"]


@each_question
def test_sentences_are_verbatim(qid: str) -> None:
    question = QUESTIONS[qid]
    for pair in question["qa_pairs"]:
        if pair["context"] != PLACEHOLDER:
            assert pair["context"] in PAGES[pair["wikipage"]]
    for annotation in question["annotations"]:
        for item in annotation["knowledge"]:
            assert item["content"] in PAGES[item["wikipage"]]


@each_question
def test_long_answers_cover_every_reading(qid: str) -> None:
    question = QUESTIONS[qid]
    answers = [annotation["long_answer"] for annotation in question["annotations"]]
    assert len(set(answers)) == len(answers)
    for answer in answers:
        assert 50 <= len(answer.split()) <= 100
        for pair in question["qa_pairs"]:
            assert mentions(answer, pair["short_answers"]), pair["question"]


def test_batch_file_agrees() -> None:
    lines = (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    expected = [{"id": qid, "question": item["ambiguous_question"]} for qid, item in QUESTIONS.items()]
    assert [json.loads(line) for line in lines] == expected
