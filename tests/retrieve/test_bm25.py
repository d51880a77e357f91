"""BM25: the formula, the words of questions, and results that do not depend on how the index came about."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from longform import Document, FailureError, Index, Passage
from longform.retrieve.bm25 import K1, B, Bm25Searcher, Bm25Writer


def rows(*texts: str) -> list[Passage]:
    return [Passage(f"p{number}", f"p{number}", "", text, 0, len(text)) for number, text in enumerate(texts)]


def searcher(folder: Path, passages: list[Passage]) -> Bm25Searcher:
    writer = Bm25Writer(folder, None)
    writer.add(0, passages)
    writer.finish()
    return Bm25Searcher(folder, lambda row: passages[row].id)


def formula(frequency: int, length: int, average: float, documents: int, holding: int) -> float:
    """Robertson's BM25 with Lucene's idf."""
    idf = math.log(1 + (documents - holding + 0.5) / (holding + 0.5))
    return idf * frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / average))


TEXTS = ("cat dog bird", "cat cat fish", "dog horse cow pig hen", "tea")


def test_a_score_by_hand(tmp_path: Path) -> None:
    found = searcher(tmp_path, rows(*TEXTS)).search("cat", 4)
    assert (K1, B) == (1.2, 0.75)
    assert [(item.row, round(item.score, 5)) for item in found] == [
        (1, round(formula(2, 3, 3.0, 4, 2), 5)),
        (0, round(formula(1, 3, 3.0, 4, 2), 5)),
    ]


def test_several_words_add_up(tmp_path: Path) -> None:
    found = searcher(tmp_path, rows(*TEXTS)).search("cat dog", 4)
    assert found[0].row == 0
    assert found[0].score == pytest.approx(2 * formula(1, 3, 3.0, 4, 2), rel=1e-5)


def test_a_word_asked_twice_counts_twice(tmp_path: Path) -> None:
    engine = searcher(tmp_path, rows(*TEXTS))
    once, twice = engine.search("horse", 4), engine.search("horse horse Horses", 4)
    assert twice[0].score == pytest.approx(3 * once[0].score, rel=1e-5)


def test_the_title_counts_as_text(tmp_path: Path) -> None:
    passages = [Passage("a", "a", "Whales", "They swim.", 0, 10), Passage("b", "b", "", "They walk.", 0, 10)]
    assert [item.row for item in searcher(tmp_path, passages).search("whale", 2)] == [0]


def test_stop_words_go_from_questions_only(tmp_path: Path) -> None:
    engine = searcher(tmp_path, rows("the who were a band", "a band", "who is who"))
    assert engine.terms("Who is the singer of the band?") == ["singer", "band"]
    assert engine.terms("Who are The Who?") == ["who", "are", "the", "who"]
    assert [item.row for item in engine.search("who", 3)] == [2, 0]


@pytest.mark.parametrize("question", ["?!…", "🍵🫖", "—", "\n\t", "x" * 41])
def test_a_question_without_words_finds_nothing(tmp_path: Path, question: str) -> None:
    assert searcher(tmp_path, rows(*TEXTS)).search(question, 3) == []


def test_other_scripts_are_words(tmp_path: Path) -> None:
    engine = searcher(tmp_path, rows("الشاي مشروب ساخن", "Чай горячий", "紅茶 は 飲み物"))
    assert [engine.search(question, 1)[0].row for question in ("الشاي", "чай?", "紅茶")] == [0, 1, 2]


def test_case_and_endings_do_not_matter(tmp_path: Path) -> None:
    engine = searcher(tmp_path, rows("The rulers ruled", "nothing"))
    assert engine.search("RULER ruling", 1)[0].row == 0


def test_ties_are_ordered_by_id_and_to_their_end(tmp_path: Path) -> None:
    passages = [Passage(f"p{(n * 37) % 100:02d}", "", "", "same words", 0, 10) for n in range(100)]
    found = searcher(tmp_path, passages).search("words", 7)
    assert [passages[item.row].id for item in found] == [f"p{n:02d}" for n in range(7)]


WORDS = [f"{a}{b}" for a in ("ba", "ko", "li", "mu") for b in ("rt", "nd", "stic", "ly", "xen")]
QUESTIONS = ["bart", "kostic lixen", "mund mund balyx", "lind kort bastic muly"]


def pages(count: int = 120) -> list[Document]:
    chance = random.Random(5)
    return [
        Document(f"d{n}", chance.choice(WORDS), " ".join(chance.choices(WORDS, k=chance.randint(3, 30))))
        for n in range(count)
    ]


def results(index: Index) -> list[list[tuple[str, float]]]:
    return [[(hit.passage.id, round(hit.score, 4)) for hit in hits] for hits in index.search(QUESTIONS, 25)]


def test_results_do_not_depend_on_how_the_index_came_about(tmp_path: Path) -> None:
    documents = pages()
    expected = results(Index.create(tmp_path / "whole", documents))
    assert all(len(hits) == 25 for hits in expected)
    assert results(Index.create(tmp_path / "reversed", documents[::-1])) == expected
    parts = Index.create(tmp_path / "parts", documents[:50])
    for start in range(50, 120, 14):
        parts.add(documents[start : start + 14])
    assert len(parts.parts) == 6
    assert results(parts) == expected
    changed = Index.create(tmp_path / "changed", [*documents[60:], Document("gone", "", "bart kort lind")])
    changed.add([Document(document.id, "old", "bart bart bart") for document in documents[60:70]])
    changed.add(documents[:70])
    changed.remove(["gone"])
    changed.compact()
    assert results(changed) == expected


def test_rows_can_be_deleted(tmp_path: Path) -> None:
    passages = rows(*TEXTS)
    writer = Bm25Writer(tmp_path / "one", None)
    writer.add(0, passages)
    writer.finish()
    second = Bm25Writer(tmp_path / "two", tmp_path / "one")
    second.delete([1])
    second.add(4, rows("cat"))
    second.finish()
    new, old = Bm25Searcher(tmp_path / "two", str), Bm25Searcher(tmp_path / "one", str)
    assert ([item.row for item in new.search("cat", 4)], len(new)) == ([4, 0], 4)
    assert ([item.row for item in old.search("cat", 4)], len(old)) == ([1, 0], 4)


def test_what_was_not_committed_is_not_there(tmp_path: Path) -> None:
    writer = Bm25Writer(tmp_path, None)
    writer.add(0, rows(*TEXTS))
    writer.commit()
    writer.add(4, rows(*TEXTS))
    assert (writer.rows_from(0), writer.rows_from(2)) == (4, 2)
    writer.abandon()
    assert len(Bm25Searcher(tmp_path, str)) == 4


def test_a_folder_that_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "bm25-000001").mkdir()
    with pytest.raises(FailureError, match=r"bm25-000001 is damaged: `longform info .*` says more\.$"):
        Bm25Searcher(tmp_path / "bm25-000001", str)
