"""Natural Questions in its three forms (Kwiatkowski et al., TACL 2019; Lee et al., ACL 2019, for the open one)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from longform.data.example import Example, GoldPassage
from longform.data.values import identifier_of, list_of, read_values, strings_of, text_of
from longform.errors import InputError
from longform.score.nq_records import Label, NqSpan, read_gold

__all__ = ["read_nq", "read_nq_open"]

_TAG = re.compile(r"</?[A-Za-z][^ ]*>")


def read_nq(path: str, split: str | None) -> Iterator[Example]:  # noqa: ARG001
    """The questions of a file of whole pages, original (``document_tokens``) or simplified (``document_text``).

    ``long_answers`` are the distinct boxes that annotators chose, as text without HTML. An annotator's short answer is
    usually one span: the spans of all of these are names of one answer. Only where every annotator who gave any gave
    several are the first one's spans answers of their own. ``meta["labelled"]`` counts the annotators, those with a
    long and those with a short answer: the paper takes a question as answered where at least two of five gave one.
    """
    for where, _, row in read_values(path):
        identifier = identifier_of(row, "example_id", where)
        try:
            labels = read_gold([row])[identifier]
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        tokens = _tokens(row, where)
        url = str(row.get("document_url") or "")
        title = str(row.get("document_title") or _title_in(url))
        long = tuple(dict.fromkeys(filter(None, (tokens(label.long) for label in labels if label.has_long))))
        yield Example(
            identifier,
            text_of(row, "question_text", where),
            long,
            _short(labels, tokens),
            (title,) if title else (),
            passages=tuple(GoldPassage(title, text, place) for place, text in enumerate(long)),
            meta={
                "url": url,
                "labelled": [
                    len(labels),
                    sum(label.has_long for label in labels),
                    sum(label.has_short for label in labels),
                ],
            },
        )


def _tokens(row: Mapping[str, Any], where: str) -> Callable[[NqSpan], str]:
    """From a span to its words, without HTML."""
    if isinstance(row.get("document_tokens"), list):
        words = [(str(token["token"]), bool(token["html_token"])) for token in row["document_tokens"]]
    elif isinstance(row.get("document_text"), str):
        # Tokens are parted by single blanks, and a tag has none inside.
        words = [(token, bool(_TAG.fullmatch(token))) for token in row["document_text"].split(" ")]
    else:
        raise InputError(f"{where}: there is neither document_tokens (original) nor document_text (simplified).")

    def said(span: NqSpan) -> str:
        return " ".join(word for word, html in words[span.start_token : span.end_token] if not html)

    return said


def _short(labels: Sequence[Label], tokens: Callable[[NqSpan], str]) -> tuple[tuple[str, ...], ...]:
    given = [
        (label.yes_no,) if label.yes_no != "none" else tuple(tokens(span) for span in label.short if not span.null)
        for label in labels
        if label.has_short
    ]
    given = [tuple(text for text in texts if text) for texts in given]
    single = [texts[0] for texts in given if len(texts) == 1]
    if single:
        return (tuple(dict.fromkeys(single)),)
    return tuple((text,) for text in dict.fromkeys(given[0])) if given else ()


def _title_in(url: str) -> str:
    """The page's title, which the simplified form has only in its address.

    >>> _title_in("https://en.wikipedia.org//w/index.php?title=Trade_winds&amp;oldid=817251427")
    'Trade winds'
    """
    parts = urlsplit(url.replace("&amp;", "&"))
    title = parse_qs(parts.query).get("title", [unquote(parts.path.rpartition("/wiki/")[2])])[0]
    return title.replace("_", " ")


def read_nq_open(path: str, split: str | None) -> Iterator[Example]:  # noqa: ARG001
    """The questions of ``NQ-open.….jsonl``, which have no ids: they are numbered by line, ``nq-open-1`` and so on."""
    for where, number, row in read_values(path):
        question = text_of(row, "question", where)
        names = strings_of(list_of(row, "answer", where), "answer", where)
        yield Example(f"nq-open-{number}", question, (), (names,) if names else ())
