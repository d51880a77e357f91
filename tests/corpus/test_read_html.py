"""Web pages as plain text."""

from __future__ import annotations

import bz2
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform.corpus.read import read_documents
from longform.corpus.shallow import shallow
from longform.corpus.sources import find_sources
from longform.corpus.webpage import html_document
from longform.errors import InputError
from longform.records import Document, Mark


def text(page: str) -> str:
    return html_document("a.html", "a", page).text


def read(data: bytes, name: str = "page-one.html") -> Document:
    Path(name).write_bytes(data)
    (document,) = read_documents(find_sources([name]).files[0])
    assert isinstance(document, Document)
    return document


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("page", "title", "expected"),
    [
        ("<title> A\n &amp; B </title><h1>C</h1><p>x", "A & B", "C\n\nx"),
        ("<title>A</title><h1>A</h1><p>x", "A", "x"),
        ("<h1>A <i>b</i></h1><p>x<h1>C</h1>", "A b", "x\n\nC"),
        ("<title></title><p>x", "a", "x"),
        ("<svg><title>No</title></svg><p>x", "a", "x"),
    ],
)
def test_titles(page: str, title: str, expected: str) -> None:
    document = html_document("a.html", "a", page)
    assert (document.title, document.text) == (title, expected)


def test_headings_are_marks() -> None:
    document = html_document("a.html", "a", "<p>x</p><h2>One</h2>y<h3>Two <b>b</b></h3><p>z<h4></h4>")
    assert document.text == "x\n\nOne\n\ny\n\nTwo b\n\nz"
    assert document.marks == (Mark(3, "One"), Mark(11, "Two b"))


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>a\n  b<p>c</p>d<div>e<div>f</div>g</div>", "a b\n\nc\n\nd\n\ne\n\nf\n\ng"),
        ("a <b>b</b><i>c</i> d", "a bc d"),
        ("a<br>b <br/> c<br><br>d", "a\nb\nc\n\nd"),
        ("&lt;p&gt; &eacute;&#8212;&nbsp;x infor&shy;mation a&#8203;b", "<p> é— x information ab"),
        ("<pre>\n  a\n\tb  \n</pre>c", "  a\n\tb\n\nc"),
        ("<ul><li>a<li><p>b</p><p>c</p><li>d<ul><li>e</ul></ul>f", "- a\n- b\n  c\n- d\n  - e\n\nf"),
        ("<ol start=4><li>a<li>b</ol><ol start=x><li>c</ol>", "4. a\n5. b\n\n1. c"),
        ("<li>loose", "- loose"),
        ("<dl><dt>a<dd>b</dl>", "a\n\nb"),
        ("<table><tr><th>A<th>B<tr><td>1 <td><p>2</p><p>3</p></table>x", "A | B\n1 | 2 3\n\nx"),
        ("<table><caption>C</caption><tr><td>1<td><ul><li>a<li>b</ul></table>", "C\n1 | a b"),
        ("<table><tr><td></td></tr></table>x", "x"),
        ("<ul><li>a<table><tr><td>1<td>2</table></ul>", "- a\n  1 | 2"),
        ("<table><tr><td><table><tr><td>1<td>2</table><td><p>x</table>", "1 | 2\n\nx"),
        ("<table><tr><td><h2>H</h2><p>x<p>y</table>", "H\n\nx\n\ny"),
        ("<blockquote>a<p>b</blockquote>", "a\n\nb"),
        ("<img alt=no src=x>a", "a"),
        ("<ul><li>a<h2>H</h2>b<li>c</ul>", "- a\n\nH\n\n  b\n- c"),
    ],
)
def test_blocks(page: str, expected: str) -> None:
    assert text(page) == expected


@pytest.mark.parametrize(
    "element",
    [
        "<script>no</script>",
        "<style>no</style>",
        "<noscript><p>no</p></noscript>",
        "<template><p>no</template>",
        "<nav>no</nav>",
        "<header>no</header>",
        "<footer>no</footer>",
        "<aside>no</aside>",
        "<form>no</form>",
        "<iframe>no</iframe>",
        "<svg><text>no</text></svg>",
        "<!-- no -->",
        "<div hidden>no</div>",
        "<div aria-hidden=true>no</div>",
        '<p style="color: red; DISPLAY : none">no</p>',
        '<p style="visibility:hidden">no</p>',
        "<button>no</button>",
        "<select><option>no</select>",
        "<textarea>no</textarea>",
    ],
)
def test_what_is_not_read(element: str) -> None:
    assert text(f"<p>a</p>{element}<p>b</p>") == "a\n\nb"
    assert text(f"<main><p>a</p><div>{element}</div></main>").startswith("a")


def test_headers_and_footers_of_an_article_stay() -> None:
    page = "<header>site</header><article><header>a</header>b<footer>c</footer></article><footer>site</footer>"
    assert text(page) == "a\n\nb\n\nc"
    assert text("<main><footer>c</footer></main>") == "c"


def test_a_page_that_is_one_form() -> None:
    assert text("<body><form><p>a</p><nav>no</nav></form></body>") == "a"


@pytest.mark.parametrize(
    "data",
    [
        '<meta charset="utf-8"><p>Zürich'.encode(),
        "<p>Zürich".encode("utf-8-sig"),
        "<p>Zürich".encode("utf-16"),
        "<p>Zürich".encode(),
        '<meta charset="iso-8859-1"><p>Zürich'.encode("latin-1"),
        "<meta charset=utf-16><p>Zürich".encode(),
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252"><p>Zürich'.encode("cp1252"),
        '<?xml version="1.0" encoding="ISO-8859-15"?><html><p>Zürich</p></html>'.encode("iso-8859-15"),
        '<meta charset="latin1"><p>Zürich\x81'.encode("latin-1"),
    ],
)
def test_charsets(data: bytes) -> None:
    assert read(data).text.rstrip("\ufffd") == "Zürich"


def test_other_charsets() -> None:
    assert read('<meta charset="Shift_JIS"><p>日本語'.encode("shift_jis")).text == "日本語"
    assert read('<meta charset="gb2312"><p>中文'.encode("gbk")).text == "中文"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"<p>a\n\xff", "a.html:2: not UTF-8 at byte 5 of the file; save the file as UTF-8."),
        (b"<meta charset=klingon><p>a", "a.html declares an unknown charset, 'klingon'."),
        (b"<meta charset=rot13><p>a", "a.html declares an unknown charset, 'rot13'."),
        (b"<meta charset=shift_jis><p>\x81", "a.html is not shift_jis, as it declares, at byte 27."),
    ],
)
def test_bad_charsets(data: bytes, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        read(data, "a.html")
    assert str(caught.value) == expected


def test_files() -> None:
    assert read(bz2.compress(b"<p>x"), "page-one.htm.bz2") == Document("page-one.htm.bz2", "page one", "x")
    xhtml = b'<?xml version="1.0"?><html><head><title/><script src="x"/></head><body><p>x</p></body></html>'
    assert read(xhtml, "b.xhtml") == Document("b.xhtml", "b", "x")
    Path("c.html").write_bytes(b"<script>x</script>")
    assert list(read_documents(find_sources(["c.html"]).files[0])) == []


@pytest.mark.parametrize("tag", ["div", "span", "b", "ul><li", "table><tr><td", "blockquote", "section><div"])
def test_deep_nesting_is_read_in_good_time(tag: str) -> None:
    start = time.process_time()
    assert text(f"<{tag}>" * 100_000 + "deep").endswith("deep")
    assert time.process_time() - start < 15


def test_what_follows_deep_nesting_is_read() -> None:
    page = "<div>" * 100_000 + "deep" + "</div>" * 100_000 + "<nav>no</nav><h2>After</h2>x"
    document = html_document("a.html", "a", page)
    assert document.text == "deep\n\nAfter\n\nx"
    assert document.marks == (Mark(6, "After"),)


def test_long_lists_without_end_tags_are_not_deep() -> None:
    page = "<ul>" + "<li>x" * 2000 + "</ul>"
    assert shallow(page) == page
    assert text(page) == "\n".join(["- x"] * 2000)


TAGS = ["p", "ul", "li", "ol", "table", "tr", "td", "h1", "h2", "pre", "article", "form", "b", "div", "br"]
PIECES = ["a", "b ", "\n", *(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS)]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_any_tags_are_a_page(pieces: list[str]) -> None:
    document = html_document("a.html", "a", "".join(pieces))
    assert document.text == document.text.rstrip()
    for mark in document.marks:
        assert document.text[mark.offset :].startswith(mark.label) or mark.label == document.title
