"""Every mistake is one sentence that names the thing and what mends it: exact words, exact exit codes."""

from __future__ import annotations

import bz2
import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfWriter

from longform.corpus.sources import READABLE

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def things(here: None, longform: Run) -> None:
    """One of everything that can be wrong."""
    assert longform("index", "docs", "-o", "my.index").code == 0
    files: dict[str, str | bytes] = {
        "a.png": b"png",
        "empty.txt": "",
        "empty.jsonl": "\n\n",
        "latin.txt": b"one\ncaf\xe9",
        "latin.jsonl": b'{"text": "a"}\n{"text": "caf\xe9"}\n',
        "broken.jsonl": '{"text": "a"}\n{"text": \n',
        "list.jsonl": '{"text": "a"}\n["b"]\n',
        "fields.jsonl": '{"headline": "a"}\n',
        "number.jsonl": '{"id": "a", "text": 7}\n',
        "twice.jsonl": '{"id": "a", "text": "b"}\n{"id": "a", "text": "c"}\n',
        "cut.jsonl.gz": gzip.compress(b'{"text": "a"}\n' * 500)[:-10],
        "cut.txt.bz2": bz2.compress(b"a")[:-4],
        "nope.txt.gz": b"not gzip",
        "broken.pdf": b"no PDF at all",
        "wide.csv": "id,text\n1,a\n2,b,c\n",
        "open.csv": 'id,text\n1,"a\n',
        "cut.xml": "<mediawiki><page>",
        "q.jsonl": '{"id": "1", "question": "tea"}\n',
        "q.twice.jsonl": '{"id": "1", "question": "tea"}\n{"id": "1", "question": "milk"}\n',
        "q.empty.jsonl": '{"id": "1", "question": " "}\n',
    }
    for name, data in files.items():
        Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
    scan = PdfWriter()
    scan.add_blank_page(100, 100)
    scan.write("scan.pdf")
    for name in ("nothing", "photos", "never.index", "newer.index", "damaged.index"):
        Path(name).mkdir()
    Path("photos/a.png").touch()
    Path("never.index/pending.json").write_text("{}")
    Path("newer.index/longform.json").write_text('{"format": 99}')
    Path("damaged.index/longform.json").write_text('{"format": 1')
    shutil.copytree("my.index", "half.index")
    Path("half.index/part-000001/keys.u64").unlink()


ANEW = "restore it from a copy, or build the index anew with --overwrite."

ERRORS = {
    # What to index
    "index missing.txt": (2, "missing.txt does not exist."),
    "index missing/*.txt": (2, "missing/*.txt matches no file."),
    "index a.png": (2, f"a.png is of no readable type; readable are: {READABLE}."),
    "index nothing": (2, f"nothing holds no readable file; readable are: {READABLE}."),
    "index photos": (2, f"photos holds no readable file (passed over: 1 .png); readable are: {READABLE}."),
    "index my.index": (2, "my.index is a Longform index and no folder of documents: give theirs."),
    "index empty.txt": (2, "There is no text in what was given: nothing to index."),
    "index empty.jsonl": (2, "There is no text in what was given: nothing to index."),
    "index latin.txt": (2, "latin.txt:2: not UTF-8 at byte 7 of the file; save the file as UTF-8."),
    "index latin.jsonl": (2, "latin.jsonl:2: not UTF-8 at byte 13 of the line; save the file as UTF-8."),
    "index broken.jsonl": (2, "broken.jsonl:2: broken JSON at column 1: unexpected end of data."),
    "index list.jsonl": (2, "list.jsonl:2: not a JSON object; every row is one."),
    "index fields.jsonl": (
        2,
        "fields.jsonl:1: no text field; the row has: headline. Name the right one with --text-field.",
    ),
    "index --text-field body fields.jsonl": (2, "fields.jsonl:1: no field 'body'; the row has: headline."),
    "index number.jsonl": (2, "number.jsonl:1: the field 'text' is a number, not a string."),
    "index twice.jsonl": (2, "The id 'a' occurs twice: every document needs an id of its own."),
    "index --passages twice.jsonl": (2, "The id 'a' occurs twice: every passage needs an id of its own."),
    "index --passages docs": (
        2,
        "docs/coffee.txt cannot be read as passages: only rows of .jsonl, .json, .csv and .tsv can.",
    ),
    "index --shape kilt docs": (
        2,
        "docs/coffee.txt cannot be read in the shape 'kilt': that is for .jsonl, .json files.",
    ),
    "index cut.jsonl.gz": (2, "cut.jsonl.gz is cut off: the gz data end too early."),
    "index cut.txt.bz2": (2, "cut.txt.bz2 is cut off: the bz2 data end too early."),
    "index nope.txt.gz": (2, "nope.txt.gz is not valid gz data: not a gzipped file (b'no')."),
    "index scan.pdf": (2, "scan.pdf has no text layer (scanned?): run OCR on it first."),
    "index wide.csv": (2, "wide.csv:3: 3 columns where the header has 2."),
    "index open.csv": (2, "open.csv:2: a quote in this row is never closed."),
    "index --words 0 docs": (2, "Passages must hold at least 1 word, and 0 is not."),
    # Where to put it
    "index docs -o docs": (
        2,
        "docs is not empty and not an index (it holds coffee.txt): choose another place with -o.",
    ),
    "index docs -o docs --overwrite": (
        2,
        "docs is not empty and not an index (it holds coffee.txt): choose another place with -o.",
    ),
    "index docs -o a.png": (2, "a.png is a file: choose another place for the index with -o."),
    "index docs -o a.png/my.index": (2, "a.png/my.index cannot be made: not a directory."),
    "index docs/tea.txt -o my.index": (
        2,
        "my.index already holds an index: `longform add` adds to it, `--overwrite` replaces it, "
        "and `-o` names another place.",
    ),
    "index docs -o damaged.index": (1, f"damaged.index/longform.json is damaged: {ANEW}"),
    "index docs -o newer.index --overwrite": (
        2,
        "newer.index has index format 99, newer than the 1 that this Longform reads: upgrade Longform.",
    ),
    # Which index
    "search missing tea": (2, "missing does not exist: make it with `longform index DOCS -o missing`."),
    "search docs tea": (
        2,
        "docs is not a Longform index (it has no longform.json): name a folder that `longform index` made.",
    ),
    "search q.jsonl tea": (2, "q.jsonl is a file, not an index folder."),
    "search never.index tea": (
        2,
        "never.index was never finished: run the same `longform index` command again, and it goes on from there.",
    ),
    "search newer.index tea": (
        2,
        "newer.index has index format 99, newer than the 1 that this Longform reads: upgrade Longform.",
    ),
    "search damaged.index tea": (1, f"damaged.index/longform.json is damaged: {ANEW}"),
    "search half.index tea": (
        1,
        "half.index is damaged, keys.u64 is missing: `longform info half.index` says more.",
    ),
    "info missing": (2, "missing does not exist: make it with `longform index DOCS -o missing`."),
    "info damaged.index": (1, f"damaged.index/longform.json is damaged: {ANEW}"),
    "add missing docs": (2, "missing does not exist: make it with `longform index DOCS -o missing`."),
    "remove docs x": (
        2,
        "docs is not a Longform index (it has no longform.json): name a folder that `longform index` made.",
    ),
    "compact q.jsonl": (2, "q.jsonl is a file, not an index folder."),
    # What to ask
    "search my.index": (2, "Give one question, or a file of them with --questions."),
    "search my.index tea --questions q.jsonl": (2, "Give one question, or a file of them with --questions."),
    "search my.index ": (2, "The question is empty."),
    "search my.index tea -k 0": (2, "k must be at least 1, and 0 is not."),
    "search my.index tea -k -1": (2, "k must be at least 1, and -1 is not."),
    "search my.index tea -k 4": (2, "k is 4, but my.index holds 3 passages: ask for at most 3."),
    "search my.index tea -k 99999999999999999999": (
        2,
        "k is 99999999999999999999, but my.index holds 3 passages: ask for at most 3.",
    ),
    "search my.index tea --mode dense": (
        2,
        "my.index has no vectors: `longform add my.index --dense` makes them, or search with bm25.",
    ),
    "search my.index tea -o run.trec": (
        2,
        "-o and --format go with --questions; for one question, --json prints all there is.",
    ),
    "search my.index --questions missing.jsonl": (2, "missing.jsonl does not exist."),
    "search my.index --questions docs": (2, "docs is a folder: name a file of questions, one JSON object a line."),
    "search my.index --questions empty.jsonl": (2, "empty.jsonl holds no questions."),
    "search my.index --questions q.twice.jsonl": (2, "q.twice.jsonl:2: the question id '1' occurs twice."),
    "search my.index --questions q.empty.jsonl": (2, "q.empty.jsonl:1: the question is empty."),
    "search my.index --questions list.jsonl": (
        2,
        "list.jsonl:1: the question has no id (one of the fields id, _id, qid, query_id, question_id).",
    ),
    "search my.index --questions q.jsonl -k 9": (2, "k is 9, but my.index holds 3 passages: ask for at most 3."),
    "search my.index --questions q.jsonl -o missing/run.trec": (
        2,
        "missing/run.trec cannot be written: no such file or directory.",
    ),
    "search my.index --questions q.jsonl -o docs": (2, "docs cannot be written: is a directory."),
    # What to change
    "add my.index": (2, "Name documents to add, or give --dense to encode what is there."),
    "add my.index missing.txt": (2, "missing.txt does not exist."),
    "add my.index empty.txt": (2, "There is no text in what was given: nothing to add."),
    "add my.index my.index": (2, "my.index is a Longform index and no folder of documents: give theirs."),
    "add my.index twice.jsonl": (2, "The id 'a' occurs twice: every document needs an id of its own."),
    "remove my.index nope": (2, "my.index has no document 'nope': nothing was removed."),
    "remove my.index docs/tea.txt nope nix": (2, "my.index has no document 'nope' and 1 more: nothing was removed."),
}


@pytest.mark.parametrize("command", ERRORS)
def test_mistakes(longform: Run, command: str) -> None:
    code, sentence = ERRORS[command]
    before = Path("my.index/longform.json").read_bytes()
    arguments = command.split(" ")
    if arguments[0] == "index" and "-o" not in arguments:
        arguments += ["-o", "new.index"]
    result = longform(*arguments)
    assert (result.code, result.out, result.err) == (code, "", f"Error: {sentence}\n")
    assert Path("my.index/longform.json").read_bytes() == before
    assert not Path("new.index").exists()
    assert longform("info", "my.index").code == 0


@pytest.mark.parametrize("command", ["index broken.pdf -o new.index", "index cut.xml -o new.index"])
def test_mistakes_in_the_words_of_a_library(longform: Run, command: str) -> None:
    result = longform(*command.split())
    assert result.code == 2
    assert result.err.startswith(f"Error: {command.split()[1]}")
    assert result.err.count("\n") == 1
    assert not Path("new.index").exists()


@pytest.mark.parametrize(
    "command",
    ["nonsense", "index", "index docs", "search", "search my.index x --mode best", "search my.index x -k ten", "info"],
)
def test_mistakes_in_the_command_itself(longform: Run, command: str) -> None:
    result = longform(*command.split())
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Usage: longform")
    assert "Error: " in result.err.splitlines()[-1]


def test_names_and_questions_that_are_not_utf8(longform: Run) -> None:
    for arguments, sentence in {
        ("search", "my.index", "tea \udcff"): "A question is not valid Unicode: is the terminal set to UTF-8?",
        ("search", "a\udcff", "tea"): "The name 'a\\udcff' is not valid UTF-8: choose another one.",
        ("index", "docs", "-o", "a\udcff"): "The name 'a\\udcff' is not valid UTF-8: choose another one.",
        ("remove", "my.index", "\udcff"): "my.index has no document '\\udcff': nothing was removed.",
    }.items():
        result = longform(*arguments)
        assert (result.code, result.err) == (2, f"Error: {sentence}\n")


def test_a_name_that_is_too_long(longform: Run) -> None:
    name = "x" * 300
    sentence = f"Error: The system does not let Longform go on: file name too long ({name}).\n"
    assert longform("index", "docs", "-o", name) == (1, "", sentence)
    result = longform("search", name, "tea")
    assert (result.code in (1, 2), result.err.count("\n")) == (True, 1)


def test_questions_from_an_index_written_by_hand(longform: Run) -> None:
    manifest = json.loads(Path("my.index/longform.json").read_text())
    manifest["passages"] = 1_000_000
    Path("half.index/longform.json").write_text(json.dumps(manifest))
    assert longform("search", "half.index", "tea").err == f"Error: half.index/longform.json is damaged: {ANEW}\n"


def test_debug_shows_the_trace(longform: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from longform.errors import InputError

    monkeypatch.setenv("LONGFORM_DEBUG", "1")
    with pytest.raises(InputError, match=r"does not exist"):
        longform("search", "missing", "tea")
