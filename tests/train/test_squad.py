"""SQuAD files read, split and scored; the official script's rules, written a second time."""

from __future__ import annotations

import collections
import gzip
import json
import re
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.errors import InputError
from longform.score.statistics import intervals
from longform.train.squad import Span, SquadExample, read_extra, read_squad, split_articles
from longform.train.squad_score import best_threshold, score_squad


def asked(identifier: str, *answers: tuple[str, int], **more: Any) -> dict[str, Any]:
    found = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": identifier, "question": f"What is {identifier}?", "answers": found, **more}


def squad(path: Path, articles: dict[str, list[tuple[str, list[dict[str, Any]]]]], **more: Any) -> Path:
    data = [
        {"title": title, "paragraphs": [{"context": context, "qas": qas} for context, qas in paragraphs]}
        for title, paragraphs in articles.items()
    ]
    content = json.dumps({"version": "v2.0", "data": data, **more}).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_both_versions_are_read(tmp_path: Path) -> None:
    old = squad(tmp_path / "old.json", {"Tea": [("Tea is hot.", [asked("1", ("Tea", 0), ("hot", 7))])]})
    plausible = {"is_impossible": True, "plausible_answers": [{"text": "hot", "answer_start": 7}]}
    new = squad(
        tmp_path / "new.json.gz",
        {"Tea": [("Tea is hot.", [asked("1", ("Tea", 0)), asked("2", **plausible)])], "Milk": [("Milk.", [])]},
    )
    found = read_squad([old, new])
    assert [example.id for example in found] == ["1", "2"]
    assert found[0] == SquadExample("1", "Tea", "What is 1?", "Tea is hot.", (Span("Tea", 0), Span("hot", 7)))
    assert found[1].answers == ()


def test_an_impossible_question_has_no_answer_whatever_it_lists(tmp_path: Path) -> None:
    file = squad(tmp_path / "a.json", {"Tea": [("Tea.", [asked("1", ("Tea", 0), is_impossible=True)])]})
    assert read_squad([file])[0].answers == ()


def test_broken_files_are_told(tmp_path: Path) -> None:
    def written(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    moved = squad(tmp_path / "moved.json", {"Tea": [("Tea is hot.", [asked("1", ("hot", 6))])]})
    first = squad(tmp_path / "first.json", {"Tea": [("Tea.", [asked("1")])]})
    other = squad(tmp_path / "other.json", {"Tea": [("Milk.", [asked("1")])]})
    for paths, message in [
        ([tmp_path / "none.json"], "none.json cannot be read: no such file"),
        ([written("a.json", b"{")], "a.json: broken JSON"),
        ([written("b.json.gz", b"not gzip")], "b.json.gz is cut off, or not a gzip file"),
        ([written("c.json", b"[]")], "c.json is no SQuAD file: it should hold"),
        (
            [written("d.json", b'{"data": [{"title": "x"}]}')],
            "d.json is no SQuAD file: article 1 is not as it should be",
        ),
        ([written("e.json", b'{"data": [7]}')], "e.json is no SQuAD file: article 1 is not"),
        ([written("f.json", b'{"data": []}')], "f.json holds no questions"),
        ([moved], "the answer 'hot' of question 1 is not at character 6"),
        ([first, other], "other.json: the id 1 stands for two different questions"),
    ]:
        with pytest.raises(InputError, match=message):
            read_squad(paths)


def test_extra_examples(tmp_path: Path) -> None:
    file = tmp_path / "extra.jsonl"
    rows: list[dict[str, Any]] = [
        {"question": "a?", "context": "A tear. Tea is HOT.", "answers": ["tea", "hot"]},
        {"question": "b?", "context": "Milk.", "answers": []},
        {"question": "c?", "long_answer": "It was Rome.", "short_answers": [["Roma", "Rome"]]},
        {"question": "d?", "long_answer": "It was Rome.", "short_answers": [["Paris"]]},
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    found = read_extra(file)
    assert [example.answers for example in found.examples] == [
        (Span("Tea", 8), Span("HOT", 15)),
        (),
        (Span("Rome", 7),),
    ]
    assert found.skipped == 1
    assert len({example.id for example in found.examples}) == 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "a?"}, 'row 1 should have "question", "context" and a list of "answers"'),
        ({"question": "a?", "context": "b", "answers": "b"}, "a list of"),
        ({"question": "a?", "context": "b", "answers": [" "]}, "has an answer that is no text"),
        ({"question": "a?", "context": "tear", "answers": ["tea"]}, r"none of its answers \('tea', …\) stands"),
    ],
)
def test_broken_extra_rows_are_told(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(json.dumps(row))
    with pytest.raises(InputError, match=message):
        read_extra(tmp_path / "x.jsonl")


def about(*titles: str) -> list[SquadExample]:
    return [SquadExample(f"{title} {n}", title, "?", "…", ()) for title in titles for n in range(3)]


@given(st.integers(3, 40), st.floats(0.01, 0.49), st.integers(0, 5))
def test_parts_share_no_article_and_lose_none(count: int, share: float, seed: int) -> None:
    examples = about(*(f"p{n}" for n in range(count)))
    try:
        split = split_articles(examples, share, seed)
    except InputError as error:
        assert "Nothing is left" in str(error)
        return
    titles = [{example.article for example in part} for part in split]
    assert sum(map(len, titles)) == count == len(set.union(*titles))
    assert sorted(example for part in split for example in part) == sorted(examples)
    assert len(titles[1]) == len(titles[2]) == max(round(share * count), 1)
    again = split_articles(examples[::-1], share, seed)
    assert [{example.article for example in part} for part in again] == titles


def test_a_dev_file_is_halved_and_never_trained_on() -> None:
    split = split_articles(about("a", "b", "c"), dev=about("c", "d", "e"))
    assert {example.article for example in split.train} == {"a", "b"}
    assert {example.article for part in split[1:] for example in part} == {"c", "d", "e"}
    assert min(map(len, split)) > 0


def test_splits_that_cannot_be_are_told() -> None:
    with pytest.raises(InputError, match=r"must lie between 0 and 0\.5, not at 0\.5"):
        split_articles(about("a", "b", "c"), 0.5)
    with pytest.raises(
        InputError, match=r"about 2 article\(s\), too few.*three or more are needed, or a file for --dev"
    ):
        split_articles(about("a", "b"))
    with pytest.raises(InputError, match="the dev file needs two or more"):
        split_articles(about("a", "b"), dev=about("c"))
    with pytest.raises(InputError, match="every article of the training files is in the dev file too"):
        split_articles(about("a", "b"), dev=about("a", "b"))


class Official:
    """SQuAD 2.0's evaluation script, its rules told again in plain Python."""

    @staticmethod
    def tokens(text: str) -> list[str]:
        text = "".join(letter for letter in text.lower() if letter not in set(string.punctuation))
        return re.sub(r"\b(a|an|the)\b", " ", text).split()

    @classmethod
    def f1(cls, gold: str, found: str) -> float:
        wanted, given_ = cls.tokens(gold), cls.tokens(found)
        if not wanted or not given_:
            return float(wanted == given_)
        same = sum((collections.Counter(wanted) & collections.Counter(given_)).values())
        if not same:
            return 0.0
        precision, recall = same / len(given_), same / len(wanted)
        return 2 * precision * recall / (precision + recall)

    @classmethod
    def scores(cls, examples: list[SquadExample], found: dict[str, str]) -> tuple[dict[str, float], dict[str, float]]:
        exact, f1 = {}, {}
        for example in examples:
            golds = [answer.text for answer in example.answers if cls.tokens(answer.text)] or [""]
            exact[example.id] = max(float(cls.tokens(g) == cls.tokens(found[example.id])) for g in golds)
            f1[example.id] = max(cls.f1(g, found[example.id]) for g in golds)
        return exact, f1

    @classmethod
    def threshold(
        cls, examples: list[SquadExample], found: dict[str, str], odds: dict[str, float]
    ) -> tuple[float, float]:
        scores = cls.scores(examples, found)[1]
        answerable = {example.id: bool(example.answers) for example in examples}
        current = best = sum(not value for value in answerable.values())
        threshold = 0.0
        for key in sorted(odds, key=lambda key: odds[key]):
            current += scores[key] if answerable[key] else (-1 if found[key] else 0)
            if current > best:
                best, threshold = current, odds[key]
        return 100 * best / len(scores), threshold


words = st.lists(st.sampled_from(["tea", "The", "hot", "a", "milk!", ",", "Tea"]), max_size=3).map(" ".join)
items = st.lists(st.tuples(st.lists(words, max_size=3), words, st.floats(-5, 5)), min_size=1, max_size=12)


@given(items)
def test_scores_are_the_official_ones(rows: list[tuple[list[str], str, float]]) -> None:
    examples = [
        SquadExample(str(n), "", "?", "", tuple(Span(text, 0) for text in golds))
        for n, (golds, _, _) in enumerate(rows)
    ]
    found = {str(n): text for n, (_, text, _) in enumerate(rows)}
    odds = {str(n): value for n, (_, _, value) in enumerate(rows)}
    report = score_squad(examples, found)
    official = dict(zip(("exact", "f1"), Official.scores(examples, found), strict=True))
    for name, values in official.items():
        assert report.scores[name] == pytest.approx(100 * sum(values.values()) / len(values))
        for prefix, wanted in (("HasAns", True), ("NoAns", False)):
            part = [values[example.id] for example in examples if bool(example.answers) is wanted]
            assert report.scores[f"{prefix}_{name}"] == pytest.approx(100 * sum(part) / len(part) if part else 0)
    assert tuple(best_threshold(examples, found, odds)) == pytest.approx(Official.threshold(examples, found, odds))
    assert all(0 <= value <= 100.000001 for value in report.scores.values())


def test_who_says_no_answer() -> None:
    spans = (Span("tea", 0),)
    examples = [SquadExample(str(n), "", "?", "", spans if n < 2 else ()) for n in range(5)]
    report = score_squad(examples, {"0": "tea", "1": "", "2": "", "3": "", "4": "milk"})
    assert report.scores["null_accuracy"] == pytest.approx(60)
    assert report.scores["null_precision"] == pytest.approx(200 / 3)
    assert report.scores["null_recall"] == pytest.approx(200 / 3)
    low, high = intervals(report, resamples=200)["NoAns_f1"][1:]
    assert 0 <= low < high <= 100


def test_a_missing_prediction_is_told() -> None:
    with pytest.raises(InputError, match="1 of 1 questions have no prediction, 7 among them"):
        score_squad([SquadExample("7", "", "?", "", ())], {})


@pytest.mark.shared
def test_the_shared_half_of_squad(shared: Path) -> None:
    examples = read_squad([shared / "data" / "squad" / "dev-v2.0-half.json.gz"])
    assert (len(examples), sum(not example.answers for example in examples)) == (6078, 3168)
    gold = {example.id: example.answers[0].text if example.answers else "" for example in examples}
    assert score_squad(examples, gold).scores["f1"] == 100
    assert [len({example.article for example in part}) for part in split_articles(examples)] == [12, 2, 2]
