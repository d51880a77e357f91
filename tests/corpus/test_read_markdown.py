"""Markdown as plain text."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform.corpus.markdown import markdown_document
from longform.corpus.read import read_documents
from longform.corpus.sources import find_sources
from longform.errors import InputError
from longform.records import Document, Mark


def text(markdown: str) -> str:
    return markdown_document("a.md", "a", markdown).text


def test_the_first_top_heading_is_the_title() -> None:
    document = markdown_document("a.md", "a", "Before.\n\n# The *Title*\n\nIntro.\n\n## One\n\nx\n\n# Two\n\ny\n")
    assert document == Document(
        "a.md",
        "The Title",
        "Before.\n\nIntro.\n\nOne\n\nx\n\nTwo\n\ny",
        (Mark(17, "One"), Mark(25, "Two")),
    )
    for mark in document.marks:
        assert document.text[mark.offset :].startswith(mark.label)


def test_without_a_top_heading_the_name_is_the_title() -> None:
    assert markdown_document("a.md", "early years", "## One\n\nx").title == "early years"


def test_a_late_title_ends_the_section_before_it() -> None:
    document = markdown_document("a.md", "a", "## One\n\nx\n\n# Title\n\ny")
    assert document.text == "One\n\nx\n\ny"
    assert document.marks == (Mark(0, "One"), Mark(8, "Title"))


def test_a_late_title_without_text_leaves_no_mark() -> None:
    assert markdown_document("a.md", "a", "## One\n\nx\n\n# Title\n").marks == (Mark(0, "One"),)


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("A **b** _c_ ~~d~~ `e` [f](g) [h][i] <http://j.k>\n\n[i]: x", "A b c d e f h http://j.k"),
        ("![a *cat*](c.png) sat", "a cat sat"),
        ("one\ntwo  \nthree\\\nfour", "one two\nthree\nfour"),
        ("&amp; &eacute; \\* 1 < 2", "& é * 1 < 2"),
        ("- a\n- b\n  - c\n    - d\n- e", "- a\n- b\n  - c\n    - d\n- e"),
        ("* a\n\n  second\n\n* b", "- a\n  second\n- b"),
        ("3. a\n4. b\n   - c", "3. a\n4. b\n  - c"),
        ("- a\n\n      code\n- b", "- a\n  code\n- b"),
        ("| A | B |\n|---|:-:|\n| 1 | **2** |\n| | x\\|y |", "A | B\n1 | 2\n| x|y"),
        ("```py\ndef f():\n    pass\n```\n\n    indented\n", "def f():\n    pass\n\nindented"),
        ("> quoted\n> text\n>\n> - item", "quoted text\n\n- item"),
        ("a\n\n---\n\nb", "a\n\nb"),
        ("<div>\nhi <b>you</b><script>x()</script>\n</div>\n\nz", "hi you\n\nz"),
        ("a <b>c</b><br/>d <!-- e -->", "a c\nd"),
        ("<!-- only -->\n\nz", "z"),
        ("Setext\n------\n\nx\r\n\r\ny", "Setext\n\nx\n\ny"),
    ],
)
def test_blocks_and_spans(markdown: str, expected: str) -> None:
    assert text(markdown) == expected


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: No\ntags: [a]\n\nx: y\n---\n",
        "---\n# comment\na: b\n...\n",
        '+++\ntitle = "No"\n+++\n',
        "---\n---\n",
    ],
)
def test_front_matter_is_skipped(front: str) -> None:
    document = markdown_document("a.md", "a", front + "\ntext")
    assert (document.title, document.text) == ("a", "text")


def test_a_rule_is_not_front_matter() -> None:
    assert text("---\n\nkept\n\n---\n\nx") == "kept\n\nx"


def test_deep_nesting_does_no_harm() -> None:
    assert text("> " * 50 + "deep") == "deep"
    text("> " * 5000 + "deep")
    text("- " * 5000 + "deep")
    text("[" * 5000 + "*" * 5000)


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a-b.md.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfx\n"))
    Path("c.markdown").write_bytes(b"# Only\n")
    Path("d.md").write_bytes(b"x \xff")
    first, second, third = find_sources(["a-b.md.gz", "c.markdown", "d.md"])
    assert list(read_documents(first)) == [Document("a-b.md.gz", "a b", "x")]
    assert list(read_documents(second)) == []
    with pytest.raises(InputError, match=r"^d\.md:1: not UTF-8 at byte 2"):
        list(read_documents(third))


@settings(deadline=None)
@given(st.text(alphabet="ab #*-_`>|[]()!<\n\t1.&~", max_size=120))
def test_any_text_is_markdown(markdown: str) -> None:
    document = markdown_document("a.md", "a", markdown)
    assert document.text == document.text.rstrip("\n")
    for mark in document.marks:
        assert 0 <= mark.offset < len(document.text)
