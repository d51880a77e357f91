"""MediaWiki exports and their wikitext."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from xml.sax.saxutils import escape

import mwparserfromhell
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform.corpus.read import ReadOptions, read_documents
from longform.corpus.sources import find_sources
from longform.corpus.wikitext import wikitext_document
from longform.errors import InputError
from longform.records import Document, Mark, Passage

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
<siteinfo><sitename>Wikipedia</sitename><namespaces>
<namespace key="0" case="first-letter" />
<namespace key="6" case="first-letter">Datei</namespace>
<namespace key="14" case="first-letter">Kategorie</namespace>
</namespaces></siteinfo>
"""


def page(number: int, title: str, *texts: str, ns: str = "0", redirect: str = "") -> str:
    moved = f'<redirect title="{redirect}" />' if redirect else ""
    revisions = "".join(
        f"<revision><id>{number}99</id><contributor><username>u</username><id>5</id></contributor>"
        f'<text bytes="1" xml:space="preserve">{escape(text)}</text></revision>'
        for text in texts
    )
    return f"<page><title>{escape(title)}</title><ns>{ns}</ns><id>{number}</id>{moved}{revisions}</page>\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(data: bytes, name: str = "dump.xml", **options: bool) -> tuple[list[Document | Passage], list[str]]:
    seen: list[InputError] = []
    Path(name).write_bytes(data)
    source = find_sources([name]).files[0]
    documents = list(read_documents(source, ReadOptions(**options), seen.append))  # type: ignore[arg-type]
    return documents, [str(error) for error in seen]


def dump(*pages: str) -> bytes:
    return (HEAD + "".join(pages) + "</mediawiki>").encode()


def test_articles_with_their_ids_and_titles() -> None:
    data = dump(
        page(12, "Säge & Co", "A '''saw'''.\n\n== Care ==\nOil it."),
        page(13, "Talk:Säge", "no", ns="1"),
        page(14, "Sägen", "#REDIRECT [[Säge]]", redirect="Säge"),
        page(15, "Alt", "#redirect [[Säge]]"),
        page(16, "Leer", "{{stub}}"),
        page(17, "Neu", "old text", "[[Datei:x.jpg|thumb|no]]new[[Kategorie:K]] text[[File:y.png]]"),
    )
    expected = [
        Document("12", "Säge & Co", "A saw.\n\nCare\n\nOil it.", (Mark(8, "Care"),)),
        Document("17", "Neu", "new text"),
    ]
    assert read(data) == (expected, [])
    assert read(bz2.compress(data[:500]) + bz2.compress(data[500:]), "d.xml.bz2") == (expected, [])
    assert read(gzip.compress(data), "d.xml.gz") == (expected, [])


def test_a_page_beyond_the_parser_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = mwparserfromhell.parse

    def failing(text: str) -> object:
        if "bad" in text:
            raise RuntimeError("the tokenizer gave up")
        return parse(text)

    monkeypatch.setattr(mwparserfromhell, "parse", failing)
    documents, seen = read(dump(page(1, "A", "a"), page(2, "B", "bad"), page(3, "C", "c")))
    assert [document.id for document in documents] == ["1", "3"]
    assert seen == ["dump.xml: the page 'B' (2) cannot be parsed: the tokenizer gave up."]


def test_broken_dumps() -> None:
    whole = dump(page(1, "A", "a"), page(2, "B", "b"))
    with pytest.raises(InputError, match=r"^dump\.xml:8: invalid XML: "):
        read(whole[:-40])
    documents, seen = read(whole[:-40], skip_bad=True)
    assert [document.id for document in documents] == ["1"]
    assert len(seen) == 1
    with pytest.raises(InputError, match=r"^dump\.xml:1: invalid XML: no element found"):
        read(b"")
    with pytest.raises(InputError, match=r"^dump\.xml:7: invalid XML: not well-formed"):
        read(whole.replace(b">a<", b">\xff<"))
    with pytest.raises(InputError) as caught:
        read(b"<project><a/></project>")
    assert str(caught.value) == "dump.xml is XML, but no MediaWiki export (its root is <project>)."
    squeezed = bz2.compress(whole)
    with pytest.raises(InputError, match=r"^d\.xml\.bz2 is cut off: the bz2 data end too early\.$"):
        read(squeezed[:-10], "d.xml.bz2")


def test_entities_do_not_explode() -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "' + "ha" * 1000 + '">'
    for left, right in zip("abcdefgh", "bcdefghi", strict=True):
        bomb += f'<!ENTITY {right} "{f"&{left};" * 10}">'
    with pytest.raises(InputError, match="invalid XML"):
        read((bomb + "]><mediawiki>&i;</mediawiki>").encode())


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("'''b''' ''i'' '''''bi'''''", "b i bi"),
        ("[[a]] [[b|c]] [[b|''d'']]s [[:Category:X|e]] [[a#s|]]", "a c ds e a#s"),
        ("[[Category:X]]a[[de:Säge]] [[Re:Zero]]", "a Re:Zero"),
        ("[http://x.y label] [http://x.y] http://z.w", "label http://z.w"),
        ("a<ref>no</ref><ref name=x/> b{{cite|no}}.", "a b."),
        ("a {{convert|{{nested}}|x}} ({{lang|fr}}; born 1900) ({{x}}) b", "a (born 1900) b"),
        ("x\n{| class=a\n|-\n! h\n|-\n| c\n|}\ny", "x\n\ny"),
        ("x\n{| broken\n|-\n| c\ny", "x\n\ny"),
        ("<!-- no -->a<br>b<br />c", "a\nb\nc"),
        ("a &nbsp;&amp; &ndash; b", "a & – b"),
        ("<nowiki>''a''</nowiki> <math>E=mc^2</math> <sup>2</sup>", "''a'' E=mc^2 2"),
        ("<gallery>\nFile:a.png|no\n</gallery>x", "x"),
        ("__NOTOC__a", "a"),
        ("* a\n** b\n*# c\n* d", "- a\n  - b\n  1. c\n- d"),
        ("# a\n# b\n## c\n# d", "1. a\n2. b\n  1. c\n3. d"),
        ("; term : meaning\n: indented", "term: meaning\nindented"),
        ("intro:\n* a\nafter\n\nnext", "intro:\n\n- a\n\nafter\n\nnext"),
        ("one\ntwo\n\nthree\n\n\n\nfour", "one\ntwo\n\nthree\n\nfour"),
        ("<div class=x>a</div>b<blockquote>c</blockquote>", "a\n\nb\n\nc"),
        ("", ""),
    ],
)
def test_wikitext(wikitext: str, expected: str) -> None:
    assert wikitext_document("1", "T", wikitext).text == expected


def test_unclosed_wikitext_loses_no_words() -> None:
    text = wikitext_document("1", "T", "'''unclosed {{template [[link").text
    assert [word for word in ("unclosed", "template", "link") if word not in text] == []


def test_headings() -> None:
    document = wikitext_document("1", "T", "a\n== One '''b''' ==\n=== Two<ref>x</ref> ===\nc\n==Three==\n{{reflist}}")
    assert document.text == "a\n\nOne b\n\nTwo\n\nc\n\nThree"
    assert document.marks == (Mark(3, "One b"), Mark(10, "Two"), Mark(18, "Three"))


@settings(deadline=None)
@given(st.text(alphabet="ab'[]{}|=<>/*#:;\n!-ref\x01 ", max_size=150))
def test_any_text_is_wikitext(wikitext: str) -> None:
    document = wikitext_document("1", "T", wikitext)
    assert "\x01" not in document.text
    for mark in document.marks:
        assert document.text[mark.offset :].startswith(mark.label)
