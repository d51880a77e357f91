"""The lines of TREC runs, as everything that writes them writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["trec_id", "trec_lines"]

# Apart even as the 32-bit numbers that trec_eval reads.
_STEP, _RELATIVE_STEP = 1e-6, 2.5e-7


def trec_id(identifier: str) -> str:
    """An id as TREC files hold it: white space, which they cannot hold, becomes ``%20`` and the like.

    >>> trec_id("a b")
    'a%20b'
    """
    return re.sub(r"\s", lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), identifier)


def trec_lines(question_id: str, ranking: Iterable[tuple[str, float]], tag: str) -> Iterator[str]:
    """The lines of a TREC run for one question: ``question Q0 passage rank score tag``.

    Tools sort by score and order ties in their own ways; so here scores always fall, by at least a millionth, and
    every tool sees the ranking that we made. White space in ids, which the format cannot hold, becomes ``%20`` etc.

    >>> print(*trec_lines("q1", [("a", 2.0), ("b c", 2.0)], "bm25"), sep="", end="")
    q1 Q0 a 1 2.000000 bm25
    q1 Q0 b%20c 2 1.999999 bm25
    """
    last = 0.0
    for rank, (passage_id, score) in enumerate(ranking, 1):
        last = round(min(score, last - max(_STEP, _RELATIVE_STEP * abs(last))) if rank > 1 else score, 6)
        yield f"{trec_id(question_id)} Q0 {trec_id(passage_id)} {rank} {last:.6f} {tag}\n"
