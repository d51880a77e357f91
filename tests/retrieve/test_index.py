"""The index: made, opened, changed, read and searched from Python."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from longform import Document, Index, InputError, Passage, read
from longform.retrieve import verify

PAGES = [
    Document("tea", "Tea", "Tea is a hot drink. It is brewed from leaves. The leaves come from Asia."),
    Document("milk", "Milk", "Milk is white. Cows give it."),
    Document("oak", "Oak", "An oak is a tree. It bears acorns."),
]


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index.create(tmp_path / "my.index", PAGES, words=5)


def ids(index: Index) -> list[str]:
    return [passage.id for passage in index]


def test_documents_are_cut_and_passages_kept(tmp_path: Path) -> None:
    given = Passage("x/1", "x", "X", "Given. As. It. Is. In one piece, whatever its length may be.", 10, 70, "Top")
    index = Index.create(tmp_path / "my.index", [PAGES[0], given], words=5)
    assert ids(index) == ["tea#0", "tea#1", "tea#2", "x/1"]
    assert index.passage("x/1") == given
    assert (len(index), index.manifest.documents, index.manifest.words) == (4, 2, 5)


def test_an_opened_index_is_the_one_that_was_made(index: Index) -> None:
    again = Index.open(str(index.folder))
    assert list(again) == list(index)
    assert again.manifest == index.manifest
    assert verify(index.folder) == []


def test_passages_and_documents_by_their_ids(index: Index) -> None:
    assert index.passage("tea#1").text == "It is brewed from leaves."
    assert "tea#1" in index
    assert "tea" not in index
    assert 7 not in index
    assert index.document("tea") == PAGES[0]
    index.remove(["tea#1"])
    assert index.document("tea").text == PAGES[0].text.replace("It is brewed from leaves.", " " * 25)
    for find, kind in ((index.passage, "passage"), (index.document, "document")):
        with pytest.raises(InputError, match=rf"has no {kind} 'tea#1'\.$"):
            find("tea#1")


def test_a_hit_tells_rank_score_and_passage(index: Index) -> None:
    hits = index.search("Which tree bears acorns?", 2)
    assert [(hit.rank, hit.passage.id) for hit in hits] == [(1, "oak#1"), (2, "oak#0")]
    assert hits[0].score == hits[0].scores["bm25"] > hits[1].score
    assert index.search(["acorns", "white"], 1) == [index.search("acorns", 1), index.search("white", 1)]
    assert index.search([], 1) == []


def test_without_k_a_small_index_gives_all_it_has(index: Index) -> None:
    assert len(index) == 7
    assert len(index.search("the tea milk oak leaves tree cows")) == 7


@pytest.mark.parametrize(
    ("question", "options", "sentence"),
    [
        ("", {}, "The question is empty."),
        (" \n\t", {}, "The question is empty."),
        (["tea", "\u3000"], {}, "Question 2 of 2 is empty."),
        ("tea \udcff", {}, "A question is not valid Unicode: is the terminal set to UTF-8?"),
        ("tea", {"k": 0}, "k must be at least 1, and 0 is not."),
        ("tea", {"k": -3}, "k must be at least 1, and -3 is not."),
        ("tea", {"k": 8}, "k is 8, but {} holds 7 passages: ask for at most 7."),
        ("tea", {"mode": "best"}, "There is no mode 'best': choose one of bm25, dense, hybrid."),
        (
            "tea",
            {"mode": "hybrid"},
            "{0} has no vectors: `longform add {0} --dense` makes them, or search with bm25.",
        ),
    ],
)
def test_what_cannot_be_searched(index: Index, question: str, options: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        index.search(question, **options)  # type: ignore[call-overload]
    assert str(caught.value) == sentence.format(index.folder)


def test_a_changed_document_replaces_all_of_the_old_one(index: Index) -> None:
    index.add([Document("tea", "Tea", "Tea is now cold.")])
    assert [name for name in ids(index) if name.startswith("tea")] == ["tea#0"]
    assert index.document("tea").text == "Tea is now cold."
    assert index.search("hot leaves Asia", 3) == []
    assert (index.manifest.passages, index.manifest.rows, index.manifest.documents) == (5, 8, 3)
    assert verify(index.folder) == []


def test_a_passage_replaces_only_its_own_id(index: Index) -> None:
    index.add([Passage("tea#1", "tea", "Tea", "It is brewed from roots.", 20, 44)])
    assert sorted(name for name in ids(index) if name.startswith("tea")) == ["tea#0", "tea#1", "tea#2"]
    assert index.passage("tea#1").text == "It is brewed from roots."


def test_removing_documents_and_passages(index: Index) -> None:
    assert index.remove(["milk", "tea#2", "milk", "milk#0"]) == 3
    assert ids(index) == ["tea#0", "tea#1", "oak#0", "oak#1"]
    assert index.search("milk cows Asia", 4) == []
    assert index.manifest.documents == 2


def test_nothing_is_removed_where_an_id_is_missing(index: Index) -> None:
    before = index.manifest
    with pytest.raises(InputError, match=r"has no document 'nope' and 1 more: nothing was removed\.$"):
        index.remove(["tea", "nope", "neither"])
    assert Index.open(index.folder).manifest == before


def test_an_index_can_be_emptied_and_filled_again(index: Index) -> None:
    assert index.remove([page.id for page in PAGES]) == 7
    assert (len(index), ids(index)) == (0, [])
    with pytest.raises(InputError, match=r"holds no passages: `longform add .* DOCS` adds some\.$"):
        index.search("tea", 1)
    index.compact()
    assert verify(index.folder) == []
    index.add(PAGES)
    assert len(index) == 7
    assert index.search("acorns", 1)[0].passage.id == "oak#1"


def test_compacting_leaves_what_is_there(index: Index) -> None:
    index.add([Document("milk", "Milk", "Milk is also a word."), Document("z", "Z", "Last.")])
    index.remove(["tea#0"])
    before = list(index)
    index.compact()
    assert list(index) == before
    assert (index.manifest.rows, len(index.manifest.parts), index.manifest.deleted) == (len(before), 1, None)
    assert verify(index.folder) == []


def test_a_reader_stays_at_its_state_until_it_reloads(index: Index) -> None:
    reader = Index.open(index.folder)
    for number in range(4):
        index.add([Document(f"new{number}", "New", f"Number {number} zzz.")])
    index.compact()
    index.remove(["tea"])
    assert len(reader) == 7
    assert len(list(reader)) == 7
    assert reader.search("hot drink", 1)[0].passage.id == "tea#0"
    assert reader.search("zzz", 5) == []
    reader.reload()
    assert len(reader) == 8
    assert len(reader.search("zzz", 5)) == 4


def test_old_generations_are_cleared_away(index: Index) -> None:
    for number in range(5):
        index.add([Document("one", "One", f"Version {number}.")])
    index.compact()
    index.remove(["one"])
    names = {path.name for path in index.folder.iterdir()} - {".lock"}
    # The state itself, and what the one before it used.
    assert names == {"longform.json", "part-000007", "bm25-000008", "deleted-000008.u64", "bm25-000007"}


def test_stray_temporary_files_are_cleared_away(tmp_path: Path) -> None:
    folder = tmp_path / "my.index"
    folder.mkdir()
    (folder / ".pending.json.123.tmp").write_bytes(b"{")
    index = Index.create(folder, PAGES)
    assert not list(folder.glob(".*.tmp"))
    assert len(index) == 3


def test_ids_of_every_kind(tmp_path: Path) -> None:
    names = ["a b", "new\nline", "docs/x.txt", "#", "a#0", "日本語", "🍵", "x" * 10_000, "'\"\\", "-", "%20", "\x00"]
    index = Index.create(tmp_path / "my.index", [Document(name, "", f"word{n} text") for n, name in enumerate(names)])
    for number, name in enumerate(names):
        assert index.search(f"word{number}", 1)[0].passage.document == name
        assert index.document(name).id == name
    assert index.remove(names[:-1]) == len(names) - 1
    assert ids(Index.open(index.folder)) == ["\x00#0"]


def test_a_repeated_id_stops_or_is_reported(tmp_path: Path) -> None:
    twice = [
        Document("a", "", "One two. Three four."),
        Document("b", "", "Other."),
        Document("a", "", "Five six. Seven eight. Nine ten."),
    ]
    with pytest.raises(InputError, match=r"^The id 'a' occurs twice: every document needs an id of its own\.$"):
        Index.create(tmp_path / "my.index", twice, words=2)
    assert not (tmp_path / "my.index").exists()
    seen: list[InputError] = []
    index = Index.create(tmp_path / "my.index", twice, words=2, on_bad=seen.append)
    assert ids(index) == ["a#0", "a#1", "b#0"], "the whole of the second document is left out"
    assert len(seen) == 1
    rows = [Passage("p", "d", "", "One.", 0, 4), Passage("p", "d", "", "Two.", 0, 4)]
    with pytest.raises(InputError, match=r"^The id 'p' occurs twice: every passage needs an id of its own\.$"):
        index.add(rows)
    assert ids(Index.open(index.folder)) == ["a#0", "a#1", "b#0"]


def test_half_characters_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^Between 'a#0' and 'b#0' there is text that is not valid Unicode\.$"):
        Index.create(tmp_path / "my.index", [Document("a", "", "Good."), Document("b", "", "Bad \ud800.")])


@pytest.mark.parametrize("items", [[], [Document("a", "T", "")], [Document("a", "T", " \n ")]])
def test_no_text_no_index(tmp_path: Path, items: list[Document]) -> None:
    with pytest.raises(InputError, match=r"^There is no text in what was given: nothing to index\.$"):
        Index.create(tmp_path / "new" / "my.index", items)
    assert not (tmp_path / "new" / "my.index").exists()


def test_no_text_nothing_added(index: Index) -> None:
    with pytest.raises(InputError, match=r"^There is no text in what was given: nothing to add\.$"):
        index.add([Document("tea", "Tea", "")])
    assert len(Index.open(index.folder)) == 7
    assert verify(index.folder) == []


def test_an_index_is_not_replaced_unasked(index: Index) -> None:
    with pytest.raises(InputError, match=r"already holds an index: `longform add` adds to it, `--overwrite` replaces"):
        Index.create(index.folder, PAGES)
    replaced = Index.create(index.folder, PAGES[:1], overwrite=True)
    assert ids(replaced) == ["tea#0"]
    assert verify(index.folder) == []


def test_an_index_can_be_made_of_itself(index: Index) -> None:
    before = list(index)
    again = Index.create(index.folder, iter(Index.open(index.folder)), overwrite=True)
    assert list(again) == before


def test_a_damaged_index_can_be_replaced(index: Index) -> None:
    (index.folder / "longform.json").write_text("{")
    assert len(Index.create(index.folder, PAGES, words=5, overwrite=True)) == 7
    assert verify(index.folder) == []


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("Years of work.")
    for overwrite in (False, True):
        with pytest.raises(InputError, match=r"is not empty and not an index \(it holds thesis\.txt\): choose another"):
            Index.create(tmp_path, PAGES, overwrite=overwrite)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_failure_in_the_middle_leaves_the_old_state(index: Index) -> None:
    def broken() -> Iterator[Document]:
        yield Document("new", "New", "Text.")
        raise OSError(5, "Input/output error")

    before = list(index)
    with pytest.raises(OSError, match=r"Input/output error"):
        index.add(broken())
    assert list(Index.open(index.folder)) == before
    assert verify(index.folder) == []


@pytest.mark.parametrize("words", [0, -5])
def test_passages_hold_words(tmp_path: Path, words: int) -> None:
    with pytest.raises(InputError, match=rf"^Passages must hold at least 1 word, and {words} is not\.$"):
        Index.create(tmp_path / "my.index", PAGES, words=words)


def test_a_finished_build_is_not_done_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One. Two.")
    source, folder = str(tmp_path / "a.txt"), tmp_path / "my.index"
    first = Index.create(folder, read(source))
    assert Index.create(folder, read(source)).manifest == first.manifest
    with pytest.raises(InputError, match=r"already holds an index"):
        Index.create(folder, read(source), words=1)
    (tmp_path / "a.txt").write_text("One. Two. Three.")
    with pytest.raises(InputError, match=r"already holds an index"):
        Index.create(folder, read(source))


def test_large_documents(tmp_path: Path) -> None:
    chance = random.Random(1)
    words = [f"w{number}" for number in range(5000)]
    pages = [
        Document("line", "", " ".join(chance.choices(words, k=800_000)) + " needle one."),
        Document("sentence", "", " ".join(chance.choices(words, k=10_000)) + " needle two."),
        Document("word", "", "x" * 200_000),
    ]
    index = Index.create(tmp_path / "my.index", pages)
    assert len(pages[0].text) > 4_500_000
    assert {hit.passage.document for hit in index.search("needle", 2)} == {"line", "sentence"}
    assert all(len(passage.text.split()) <= 100 for passage in index)
    assert index.document("sentence").text == pages[1].text
    assert index.passage("word#0").text == pages[2].text


def test_a_folder_with_an_odd_name(tmp_path: Path) -> None:
    folder = tmp_path / "my index’s ‘ß’ 茶" / "a b"
    index = Index.create(folder, PAGES)
    index.add([Document("new", "", "Text.")])
    assert len(Index.open(folder)) == 4
    with pytest.raises(InputError, match=r"^The name '.*\\udcff' is not valid UTF-8: choose another one\.$"):
        Index.create(tmp_path / "b\udcff", PAGES)
    assert [path.name for path in tmp_path.iterdir()] == ["my index’s ‘ß’ 茶"]
