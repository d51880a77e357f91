"""ELI5, long answers from Reddit (Fan et al., ACL 2019), as KILT and as ALCE publish it."""

from __future__ import annotations

from collections.abc import Iterator

from longform.data.example import Example
from longform.data.values import identifier_of, list_of, read_values, strings_of, text_of
from longform.errors import InputError

__all__ = ["read_eli5_alce", "read_eli5_kilt"]


def read_eli5_kilt(path: str, split: str | None) -> Iterator[Example]:  # noqa: ARG001
    """The questions of ``eli5-….-kilt.jsonl``: every answer is a whole one; pages are the titles of all provenances.

    Any other task of KILT in this shape is read too. ``meta["pages"]`` are the Wikipedia ids by which KILT scores.
    """
    for where, _, row in read_values(path):
        answers, pages, numbers = [], [], []
        for output in list_of(row, "output", where):
            if not isinstance(output, dict):
                raise InputError(f"{where}: output must be a list of objects.")
            answers.append(output.get("answer") or "")
            for page in list_of(output, "provenance", where):
                pages.append(page.get("title") or "")
                numbers.append(str(page.get("wikipedia_id") or ""))
        yield Example(
            identifier_of(row, "id", where),
            text_of(row, "input", where),
            strings_of(answers, "output", where),
            (),
            strings_of(pages, "provenance", where),
            meta={"pages": list(strings_of(numbers, "provenance", where))} if any(numbers) else {},
        )


def read_eli5_alce(path: str, split: str | None) -> Iterator[Example]:  # noqa: ARG001
    """The questions of ALCE's ``eli5_eval_….json``: one answer, and the three claims that it makes, in ``meta``.

    The file's questions have no ids (``id`` or ``sample_id`` is taken where there is one): they are numbered from 0,
    as ALCE counts them.
    """
    for where, number, row in read_values(path):
        question = text_of(row, "question", where)
        field = next((name for name in ("id", "sample_id") if name in row), None)
        claims = strings_of(list_of(row, "claims", where), "claims", where)
        yield Example(
            identifier_of(row, field, where) if field else str(number - 1),
            question,
            (text_of(row, "answer", where),),
            meta={"claims": list(claims)} if claims else {},
        )
