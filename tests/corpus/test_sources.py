"""Which files are found, under which names, and what is said when there is nothing to read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from longform.corpus.sources import READABLE, Source, find_sources, format_of
from longform.errors import InputError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(*names: str) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def paths(*arguments: str) -> list[str]:
    return [source.path for source in find_sources(arguments)]


def message(*arguments: str) -> str:
    with pytest.raises(InputError) as caught:
        find_sources(arguments)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.txt", ("text", "")),
        ("a.text", ("text", "")),
        ("A.TXT", ("text", "")),
        ("a.md", ("markdown", "")),
        ("a.markdown", ("markdown", "")),
        ("a.html", ("html", "")),
        ("a.htm", ("html", "")),
        ("a.xhtml.gz", ("html", "gz")),
        ("a.pdf", ("pdf", "")),
        ("a.jsonl.gz", ("jsonl", "gz")),
        ("a.ndjson", ("jsonl", "")),
        ("a.json.xz", ("json", "xz")),
        ("a.csv.bz2", ("csv", "bz2")),
        ("psgs_w100.tsv.gz", ("tsv", "gz")),
        ("enwiki-20240101-pages.xml.bz2", ("mediawiki", "bz2")),
        ("v1.2.txt", ("text", "")),
        ("a.pdf.gz", None),
        ("a.gz", None),
        ("a.png", None),
        ("a.tar.gz", None),
        ("README", None),
        (".txt", None),
    ],
)
def test_the_name_tells_the_format(name: str, expected: tuple[str, str] | None) -> None:
    assert format_of(name) == expected


def test_a_file_has_its_name_format_size_and_time() -> None:
    Path("notes.txt.gz").write_bytes(b"12345")
    os.utime("notes.txt.gz", ns=(1, 5_000_000_000))
    (source,) = find_sources(["./notes.txt.gz"])
    assert source == Source("notes.txt.gz", "text", "gz", 5, 5_000_000_000)
    assert source.file.read_bytes() == b"12345"


def test_folders_are_read_to_the_bottom_in_order() -> None:
    touch("docs/b.txt", "docs/a.md", "docs/sub/c.html", "docs/sub/deep/d.pdf", "docs/Z.txt")
    expected = ["docs/Z.txt", "docs/a.md", "docs/b.txt", "docs/sub/c.html", "docs/sub/deep/d.pdf"]
    assert paths("docs") == expected
    assert paths("./docs/") == expected


def test_the_current_folder_adds_nothing_to_names() -> None:
    touch("sub/a.txt")
    assert paths(".") == ["sub/a.txt"]


def test_hidden_files_and_folders_are_passed_over() -> None:
    touch("docs/a.txt", "docs/.b.txt", "docs/.git/c.txt")
    found = find_sources(["docs"])
    assert [source.path for source in found] == ["docs/a.txt"]
    assert not found.skipped
    assert paths("docs/.b.txt") == ["docs/.b.txt"]


def test_other_types_in_folders_are_counted() -> None:
    touch("docs/a.txt", "docs/b.png", "docs/c.PNG", "docs/Makefile", "docs/d.tar.gz")
    found = find_sources(["docs"])
    assert len(found) == 1
    assert found.skipped == {".png": 2, "(no suffix)": 1, ".tar.gz": 1}


def test_patterns_that_the_shell_left() -> None:
    touch("docs/b.txt", "docs/a.txt", "docs/c.png", "docs/sub/d.txt")
    assert paths("docs/*.txt") == ["docs/a.txt", "docs/b.txt"]
    assert paths("docs/**/*.txt") == ["docs/a.txt", "docs/b.txt", "docs/sub/d.txt"]
    assert paths("docs/**") == ["docs/a.txt", "docs/b.txt", "docs/sub/d.txt"]
    found = find_sources(["docs/*"])
    assert [source.path for source in found] == ["docs/a.txt", "docs/b.txt", "docs/sub/d.txt"]
    assert found.skipped == {".png": 1}


def test_a_name_that_looks_like_a_pattern() -> None:
    touch("a[1].txt")
    assert paths("a[1].txt") == ["a[1].txt"]


def test_the_same_file_twice_counts_once() -> None:
    touch("docs/a.txt", "docs/b.txt")
    Path("docs/link.txt").symlink_to("a.txt")
    assert paths("docs/a.txt", "docs", "./docs/../docs/b.txt", "-", "-") == ["docs/a.txt", "docs/b.txt", "-"]


def test_a_folder_whose_files_were_given_before_is_not_empty() -> None:
    touch("docs/a.txt")
    assert paths("docs/a.txt", "docs", "docs/*.txt") == ["docs/a.txt"]


def test_links_to_folders_are_followed_but_not_in_circles() -> None:
    touch("docs/a.txt", "other/b.txt")
    Path("docs/up").symlink_to("..", target_is_directory=True)
    Path("docs/other").symlink_to("../other", target_is_directory=True)
    Path("docs/self").symlink_to(".", target_is_directory=True)
    assert paths("docs") == ["docs/a.txt", "docs/other/b.txt"]


def test_standard_input_is_jsonl() -> None:
    (source,) = find_sources(["-"])
    assert (source.path, source.format) == ("-", "jsonl")


def test_names_that_are_not_utf8_can_be_written_down() -> None:
    try:
        Path(os.fsdecode(b"caf\xe9.txt")).write_text("x")
    except OSError:
        pytest.skip("the file system takes only UTF-8")
    (source,) = find_sources(["."])
    assert source.path == "caf\\xe9.txt"
    assert source.file.read_text() == "x"


@pytest.mark.parametrize(
    ("path", "stem"),
    [("a/early-years_of.Saws.txt.gz", "early years of.Saws"), ("x.md", "x"), ("__.txt", ""), ("-", "")],
)
def test_a_title_from_the_name(path: str, stem: str) -> None:
    assert Source(path, "text").stem == stem


def test_a_missing_file() -> None:
    assert message("nope.txt") == "nope.txt does not exist."
    assert message("") == "(an empty name) does not exist."


def test_a_link_to_nothing() -> None:
    Path("gone.txt").symlink_to("nowhere.txt")
    assert message("gone.txt") == "gone.txt is a link to a file that does not exist."
    touch("docs/a.txt")
    Path("docs/gone.txt").symlink_to("nowhere.txt")
    assert paths("docs") == ["docs/a.txt"]


def test_a_named_file_of_no_readable_type() -> None:
    touch("photo.png")
    assert message("photo.png") == f"photo.png is of no readable type; readable are: {READABLE}."
    assert ".txt" in READABLE
    assert ".gz" in READABLE


def test_a_pattern_without_a_match() -> None:
    assert message("*.txt") == "*.txt matches no file."
    touch("a.png")
    assert message("*.png") == f"*.png matches no readable file (passed over: 1 .png); readable are: {READABLE}."


def test_an_empty_folder() -> None:
    Path("docs").mkdir()
    assert message("docs") == f"docs holds no readable file; readable are: {READABLE}."
    touch("docs/b.png", "docs/c.png", "a.txt")
    assert "docs holds no readable file (passed over: 2 .png)" in message("a.txt", "docs")


def test_an_index_is_no_folder_of_documents() -> None:
    touch("index/longform.json", "index/a.txt")
    assert message("index") == "index is a Longform index and no folder of documents: give theirs."
    touch("b.txt")
    assert paths(".") == ["b.txt"]


def test_permission_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    touch("docs/a.txt")

    def scandir(path: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: False)
        assert message("docs/a.txt") == "docs/a.txt cannot be read: permission denied."
        assert message("docs") == "docs/a.txt cannot be read: permission denied."
    monkeypatch.setattr(os, "scandir", scandir)
    assert message("docs") == "docs cannot be read: permission denied."


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_a_file() -> None:
    os.mkfifo("pipe.jsonl")
    assert message("pipe.jsonl") == (
        "pipe.jsonl is not a regular file; to read a stream of JSONL, pipe it in and give '-'."
    )
