"""PDF files: text, pages, titles, and files that cannot be read."""

from __future__ import annotations

import io
import logging
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from longform.corpus.read import ReadOptions, read_documents
from longform.corpus.sources import find_sources
from longform.corpus.unwrap import unwrap
from longform.errors import InputError
from longform.records import Document, Mark


def pdf(pages: Sequence[Sequence[str]], title: str | None = None) -> bytes:
    """A small PDF: each page is a list of lines, set in Helvetica from the top down."""
    objects: dict[int, bytes] = {}
    numbers = [5 + 2 * index for index in range(len(pages))]
    objects[1] = b"<< /Type /Catalog /Pages 2 0 R >>"
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()
    objects[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects[4] = b"<< /Title (%s) >>" % (title or "").encode("latin-1")
    for number, lines in zip(numbers, pages, strict=True):
        shown = b"".join(
            b"(%s) Tj T*\n" % line.encode("cp1252").replace(b"\\", rb"\\").replace(b"(", rb"\(").replace(b")", rb"\)")
            for line in lines
        )
        content = b"BT /F1 12 Tf 14 TL 72 720 Td\n" + shown + b"ET" if lines else b""
        objects[number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (number + 1)
        )
        objects[number + 1] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)
    out = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number in sorted(objects):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    info = b"/Info 4 0 R " if title is not None else b""
    out += b"trailer\n<< /Size %d /Root 1 0 R %s>>\n" % (len(offsets) + 1, info)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(data: bytes, name: str = "care-of_saws.pdf") -> Document:
    Path(name).write_bytes(data)
    (document,) = read_documents(find_sources([name]).files[0])
    assert isinstance(document, Document)
    return document


def message(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        read(data, "a.pdf")
    return str(caught.value)


def encrypted(data: bytes, password: str) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


FIRST = [
    "Care of saws",
    "A saw that is kept dry and lightly oiled will stay sharp for years, and when its",
    "teeth have worn down it can be sharp-",
    "ened by hand with a three-cornered file (if the steel is not too hard for a file).",
    "Then it is set.",
    "A second paragraph begins here with a capital letter and goes on for some lines until",
]
SECOND = ["it ends on the next page.", "• a file", "• a vise"]


def test_lines_become_paragraphs_and_pages_marks() -> None:
    document = read(pdf([FIRST, [], SECOND]))
    assert document.text == (
        "Care of saws\n\n"
        "A saw that is kept dry and lightly oiled will stay sharp for years, and when its teeth have worn "
        "down it can be sharpened by hand with a three-cornered file (if the steel is not too hard for a "
        "file). Then it is set.\n\n"
        "A second paragraph begins here with a capital letter and goes on for some lines until "
        "it ends on the next page.\n\n• a file\n\n• a vise"
    )
    assert document.marks == (Mark(0, "page 1"), Mark(document.text.index("it ends"), "page 3"))
    assert (document.id, document.title) == ("care-of_saws.pdf", "care of saws")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("The Care of Saws", "The Care of Saws"),
        (" two  words ", "two words"),
        ("", "a"),
        ("untitled", "a"),
        ("Untitled 1", "a"),
        ("Microsoft Word - care.doc", "a"),
        ("care_final.tex", "a"),
        ("---", "a"),
        ("12", "a"),
        ("x" * 301, "a"),
    ],
)
def test_titles_that_make_sense(title: str, expected: str) -> None:
    assert read(pdf([["Text."]], title), "a.pdf").title == expected


def test_an_empty_password_opens() -> None:
    assert read(encrypted(pdf([["Some text."]]), "")).text == "Some text."


def test_another_password_does_not() -> None:
    assert message(encrypted(pdf([["Some text."]]), "secret")) == (
        "a.pdf is encrypted: save a copy without a password."
    )


def test_no_text_layer() -> None:
    assert message(pdf([[], []])) == "a.pdf has no text layer (scanned?): run OCR on it first."


@pytest.mark.parametrize("data", [b"", b"no PDF at all", b"%PDF-1.4\n%%EOF\n", pdf([["Text."]])[:300]])
def test_broken_files(data: bytes) -> None:
    assert message(data).startswith("a.pdf is not a readable PDF: ")


def test_broken_files_are_reported_and_skipped() -> None:
    seen: list[InputError] = []
    Path("a.pdf").write_bytes(b"no")
    source = find_sources(["a.pdf"]).files[0]
    assert list(read_documents(source, ReadOptions(skip_bad=True), seen.append)) == []
    assert len(seen) == 1


def test_a_page_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pdf([["One."], ["Two."], ["Three."]])
    page_type = type(PdfReader(io.BytesIO(data)).pages[0])
    extract = page_type.extract_text

    def failing(page: object) -> str:
        text = extract(page)  # type: ignore[arg-type]
        if "Two" in text:
            raise KeyError("/Length")
        return text

    monkeypatch.setattr(page_type, "extract_text", failing)
    assert message(data) == "a.pdf: page 2 cannot be read: '/Length'."
    seen: list[InputError] = []
    source = find_sources(["a.pdf"]).files[0]
    (document,) = read_documents(source, ReadOptions(skip_bad=True), seen.append)
    assert document.text == "One.\n\nThree."
    assert len(seen) == 1


def test_the_librarys_warnings_are_silent(capfd: pytest.CaptureFixture[str]) -> None:
    level = logging.getLogger("pypdf").level
    odd = pdf([["Text."]]).replace(b"startxref\n", b"startxref\n9")
    assert read(odd).text == "Text."
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("pypdf").level == level


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("", ""),
        ("One line", "One line"),
        ("a well-\nknown tool and a well-known man", "a well-known tool and a well-known man"),
        ("soft\u00ad\nened steel", "softened steel"),
        ("from 1990-\n1995 or A-\nFrame", "from 1990- 1995 or A-Frame"),
        ("first block\n\nsecond block", "first block\n\nsecond block"),
        ("1. one\n2. two", "1. one\n\n2. two"),
    ],
)
def test_joining_lines(page: str, expected: str) -> None:
    assert unwrap([page])[0] == expected


def test_running_heads_and_page_numbers_are_left_out() -> None:
    bodies = ["Alpha text.", "Beta text.", "Gamma text.", "Delta text.", "Epsilon text."]
    pages = [f"Journal of Saws, vol. {n}\n{body}\n- {n} -" for n, body in enumerate(bodies, 1)]
    text, marks = unwrap(pages)
    assert text == "\n\n".join(bodies)
    assert [mark.label for mark in marks] == ["page 1", "page 2", "page 3", "page 4", "page 5"]


def test_ligatures_and_broken_characters() -> None:
    from longform.corpus.pdf import _clean

    assert _clean("e\ufb03cient \ud83d \ud83d\ude00 a\xa0b\0") == "efficient \ufffd \U0001f600 a b"


@given(st.lists(st.text(alphabet="aB-. \n1•\u00ad", max_size=80), max_size=6))
def test_marks_stand_where_pages_begin(pages: list[str]) -> None:
    text, marks = unwrap(pages)
    offsets = [mark.offset for mark in marks]
    assert offsets == sorted(offsets)
    assert all(0 <= offset < len(text) for offset in offsets)
    assert bool(text) == bool(marks)
