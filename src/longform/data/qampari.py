"""QAMPARI: questions with many answers (Amouyal et al., 2022)."""

from __future__ import annotations

from collections.abc import Iterator

from longform.data.example import Example, GoldPassage
from longform.data.values import list_of, read_values, text_of
from longform.errors import InputError
from longform.score.qampari import question_type, read_qampari

__all__ = ["read_qampari_file"]


def read_qampari_file(path: str, split: str | None) -> Iterator[Example]:  # noqa: ARG001
    """The questions of ``dev_data.jsonl`` and its sisters; the names of an answer are its ``aliases``, as officially.

    ``meta["type"]`` is the kind of question, ``meta["answers"]`` are the answers' own texts. Proofs, where the file has
    them, become ``passages``, and the pages that they were found on ``pages``.
    """
    for where, _, row in read_values(path):
        if not isinstance(row, dict):
            raise InputError(f"{where}: not a JSON object.")
        text_of(row, "question_text", where)
        try:
            question = read_qampari([row])[0]
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        proofs = [proof for answer in row["answer_list"] for proof in list_of(answer, "proof", where)]
        passages = [
            GoldPassage(str(one.get("found_in_title") or ""), str(one.get("proof_text") or "")) for one in proofs
        ]
        kind = question_type(question.id)
        yield Example(
            question.id,
            question.question,
            (),
            tuple(answer.aliases for answer in question.answers),
            tuple(dict.fromkeys(passage.title for passage in passages if passage.title)),
            passages=tuple(dict.fromkeys(passage for passage in passages if passage.text)),
            meta={"answers": [answer.text for answer in question.answers], **({"type": kind} if kind else {})},
        )
