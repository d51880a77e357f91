"""Search by vectors: the same as comparing with all of them, or nearly; and encoding that goes on where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from longform import Dense, Document, FailureError, Index, InputError, Passage, read
from longform.retrieve import vectors as vectors_module
from longform.retrieve.dense import EXACT_LIMIT, DenseSearcher, build_ivf, choose_method
from longform.retrieve.keys import keys_of
from longform.retrieve.store import Entry, PartReader, PartWriter
from longform.retrieve.vectors import encode_part, map_vectors, passage_text, vectors_name

NONE = np.empty(0, dtype=np.uint64)


def unit(vectors: NDArray[Any]) -> NDArray[np.float32]:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def random_vectors(count: int, dimension: int = 32, seed: int = 0) -> NDArray[np.float16]:
    return unit(np.random.default_rng(seed).normal(size=(count, dimension))).astype(np.float16)


def clustered(count: int, centres: int, seed: int = 0) -> tuple[NDArray[np.float16], NDArray[np.float32]]:
    """Vectors around centres, as texts about topics are, and questions among them."""
    chance = np.random.default_rng(seed)
    middle = chance.normal(size=(centres, 48))
    passages = unit(middle[chance.integers(centres, size=count)] + 0.5 * chance.normal(size=(count, 48)))
    questions = unit(middle[chance.integers(centres, size=50)] + 0.5 * chance.normal(size=(50, 48)))
    return passages.astype(np.float16), questions


def name(row: int) -> str:
    return f"p{row:06d}"


def brute_force(vectors: NDArray[Any], questions: NDArray[np.float32], k: int) -> list[list[int]]:
    scores = questions @ vectors.astype(np.float32).T
    return [list(np.argsort(-row, kind="stable")[:k]) for row in scores]


def found(searcher: DenseSearcher, questions: NDArray[np.float32], k: int) -> list[list[int]]:
    return [[item.row for item in ranking] for ranking in searcher.search(questions, k)]


def test_exact_is_what_comparing_with_all_gives() -> None:
    vectors, questions = random_vectors(1000), random_vectors(20, seed=1).astype(np.float32)
    searcher = DenseSearcher([vectors[:300], vectors[300:310], vectors[310:]], NONE, None, name)
    assert found(searcher, questions, 10) == brute_force(vectors, questions, 10)
    scores = searcher.search(questions[:1], 3)[0]
    expected = sorted(questions[0] @ vectors.astype(np.float32).T, reverse=True)[:3]
    assert [item.score for item in scores] == pytest.approx(expected, abs=1e-6)


def test_deleted_rows_are_not_found() -> None:
    vectors, questions = random_vectors(500), random_vectors(10, seed=1).astype(np.float32)
    deleted = np.arange(0, 500, 3, dtype=np.uint64)
    searcher = DenseSearcher([vectors[:200], vectors[200:]], deleted, None, name)
    kept = np.setdiff1d(np.arange(500), deleted.astype(np.int64))
    expected = [[int(kept[place]) for place in places] for places in brute_force(vectors[kept], questions, 20)]
    assert found(searcher, questions, 20) == expected
    assert {len(ranking) for ranking in found(searcher, questions, len(kept))} == {len(kept)}


def test_equal_vectors_are_ordered_by_id() -> None:
    vectors = np.repeat(random_vectors(5), 40, axis=0)
    searcher = DenseSearcher([vectors], NONE, None, lambda row: f"{999 - row}")
    assert found(searcher, vectors[:1].astype(np.float32), 3) == [[39, 38, 37]]


def test_inverted_lists_find_nearly_all(tmp_path: Path) -> None:
    vectors, questions = clustered(6000, 60)
    build_ivf([vectors[:1000], vectors[1000:]], tmp_path / "a.faiss", lambda done: None)
    searcher = DenseSearcher([vectors[:1000], vectors[1000:]], NONE, tmp_path / "a.faiss", name)
    exact = brute_force(vectors, questions, 10)
    overlap = [len(set(a) & set(b)) / 10 for a, b in zip(found(searcher, questions, 10), exact, strict=True)]
    assert np.mean(overlap) > 0.95


def test_inverted_lists_leave_out_deleted_rows(tmp_path: Path) -> None:
    vectors, questions = clustered(3000, 30)
    build_ivf([vectors], tmp_path / "a.faiss", lambda done: None)
    gone = np.unique(np.concatenate(brute_force(vectors, questions, 10))).astype(np.uint64)
    searcher = DenseSearcher([vectors], gone, tmp_path / "a.faiss", name)
    rows = {row for ranking in found(searcher, questions, 50) for row in ranking}
    assert rows
    assert rows.isdisjoint(gone.tolist())


def test_the_same_vectors_give_the_same_lists(tmp_path: Path) -> None:
    vectors, _ = clustered(2000, 20)
    for path in (tmp_path / "a", tmp_path / "b"):
        build_ivf([vectors], path, lambda done: None)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("count", [1, 2, 38, 40])
def test_few_vectors_make_lists_without_a_word(tmp_path: Path, capfd: pytest.CaptureFixture[str], count: int) -> None:
    vectors = random_vectors(count)
    build_ivf([vectors], tmp_path / "a", lambda done: None)
    assert len(found(DenseSearcher([vectors], NONE, tmp_path / "a", name), vectors[:1].astype(np.float32), 5)[0]) > 0
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("data", [b"", b"nonsense", b"IwSq" + b"\0" * 50])
def test_damaged_lists(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "dense-000001.faiss").write_bytes(data)
    with pytest.raises(FailureError, match=r"dense-000001\.faiss is damaged: `longform info"):
        DenseSearcher([random_vectors(3)], NONE, tmp_path / "dense-000001.faiss", name)


def test_the_method_is_chosen_by_size() -> None:
    assert [choose_method(rows) for rows in (0, 1, EXACT_LIMIT, EXACT_LIMIT + 1)] == ["exact"] * 3 + ["ivf"]
    with pytest.raises(InputError, match=r"^There is no dense method 'hnsw': choose one of exact, ivf\.$"):
        Dense(method="hnsw")


class Counting:
    """An encoder that counts what it encodes, and fails when it has had enough."""

    name, fingerprint, dimension = "counting", "c" * 64, 4

    def __init__(self, enough: int) -> None:
        self.enough, self.seen = enough, list[str]()

    def encode(self, texts: list[str], *, progress: Callable[[int], None] | None = None) -> NDArray[np.float32]:
        if len(self.seen) + len(texts) > self.enough:
            raise KeyboardInterrupt
        self.seen += texts
        return np.array([[float(text.split()[-1])] * 4 for text in texts], dtype=np.float32)

    def encode_questions(self, texts: list[str]) -> NDArray[np.float32]:
        return self.encode(texts)


def test_encoding_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_module, "_WINDOW", 10)
    items = [Passage(f"p{n}", f"p{n}", "T" if n % 2 else "", f"text {n}", 0, 6) for n in range(55)]
    writer = PartWriter(tmp_path)
    writer.append([Entry(item, False) for item in items], keys_of(item.id for item in items))
    writer.flush()
    writer.close()
    first, second = Counting(39), Counting(1000)
    with pytest.raises(KeyboardInterrupt):
        encode_part(PartReader(tmp_path), first, lambda done: None)
    # Half a vector is cut off.
    with (tmp_path / vectors_name(first.fingerprint)).open("ab") as file:
        file.write(b"\0\0\0")
    done: list[int] = []
    encode_part(PartReader(tmp_path), second, done.append)
    assert first.seen + second.seen == [passage_text(item) for item in items]
    assert len(second.seen) == 25
    assert (done[0], done[-1]) == (30, 55)
    assert map_vectors(tmp_path, first.fingerprint, 4)[:, 0].tolist() == list(range(55))


# With the encoder that the package ships.

PAGES = [
    Document("tea", "Tea", "A hot drink that is brewed from leaves."),
    Document("chess", "Chess", "A board game for two players."),
    Document("oak", "Oak", "A large tree with acorns."),
    Document("moon", "Moon", "It circles the Earth once a month."),
]


@pytest.fixture(scope="module")
def dense_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dense") / "my.index"
    Index.create(folder, PAGES, dense=True)
    return folder


def test_meaning_is_found_where_no_word_is_shared(dense_index: Path) -> None:
    index = Index.open(dense_index)
    questions = ["warm beverage", "satellite of our planet"]
    assert [hits[0].passage.document for hits in index.search(questions, 1, "dense")] == ["tea", "moon"]
    assert index.default_mode == "hybrid"
    hit = index.search("hot beverage", 1)[0]
    assert hit.passage.document == "tea"
    assert set(hit.scores) == {"bm25", "dense", "hybrid"}


def test_ranks_are_those_of_brute_force(dense_index: Path) -> None:
    index = Index.open(dense_index)
    vectors = index.encoder.encode([passage_text(passage) for passage in index])
    question = index.encoder.encode_questions(["Which game has pawns?"])[0]
    expected = [PAGES[place].id for place in np.argsort(-(vectors @ question))]
    assert [hit.passage.document for hit in index.search("Which game has pawns?", 4, "dense")] == expected


def test_vectors_follow_the_passages(tmp_path: Path) -> None:
    index = Index.create(tmp_path / "my.index", PAGES[:2])
    with pytest.raises(InputError, match=r"has no vectors: `longform add .* --dense` makes them"):
        index.search("tea", 1, "dense")
    index.add(dense=True)
    index.add(PAGES[2:])
    assert index.search("huge plant", 1, "dense")[0].passage.document == "oak"
    index.remove(["oak"])
    assert "oak" not in {hit.passage.document for hit in index.search("huge plant", 3, "dense")}
    before = [(hit.passage.id, hit.score) for hit in index.search("huge plant", 3, "dense")]
    index.compact()
    assert [(hit.passage.id, hit.score) for hit in index.search("huge plant", 3, "dense")] == before
    index.add([Document("tea", "Acorn", "The fruit of an oak tree.")])
    assert index.search("nut of a tree", 1, "dense")[0].passage.title == "Acorn"


def test_another_method_and_an_emptied_index(tmp_path: Path) -> None:
    index = Index.create(tmp_path / "my.index", PAGES, dense=Dense(method="ivf"))
    assert index.manifest.dense is not None
    assert (index.manifest.dense.method, index.manifest.dense.automatic) == ("ivf", False)
    assert index.search("warm beverage", 1, "dense")[0].passage.document == "tea"
    index.remove([page.id for page in PAGES])
    index.compact()
    with pytest.raises(InputError, match=r"holds no passages"):
        index.search("warm beverage", 1, "dense")
    index.add(PAGES[1:])
    assert index.search("board with pawns", 1, "dense")[0].passage.document == "chess"


def test_a_finished_build_is_not_done_again(tmp_path: Path, examples: Path) -> None:
    sources = [str(page) for page in sorted(examples.rglob("*.md"))[:2]]
    first = Index.create(tmp_path / "my.index", read(*sources), dense=True)
    again = Index.create(tmp_path / "my.index", read(*sources), dense=True)
    assert first.manifest == again.manifest
    with pytest.raises(InputError, match=r"already holds an index"):
        Index.create(tmp_path / "my.index", read(*sources), dense=Dense(method="ivf"))
