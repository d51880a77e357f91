"""What a sentence that opens with "He" or "This" leans on: without it, a reader cannot tell who is meant."""

from __future__ import annotations

from collections.abc import Sequence

from longform.answer.candidates import Candidate
from longform.records import Hit

__all__ = ["leaned_on", "support_of"]

# Passages of a document that stand at most this many characters apart follow each other.
_GAP = 4


def leaned_on(candidates: Sequence[Candidate], hits: Sequence[Hit] = ()) -> list[int | None]:
    """For every candidate the number of the one it leans on; ``None`` where it stands alone, or that one is not there.

    That is the sentence before it, be it the last of the passage before. Below a heading "He" is whom the page is
    about: there it is the page's first sentence. Without ``hits``, only what stands in the same passage is known.

    >>> one, two, three = (Candidate(0, n, 0, 9, text, leans=n > 0) for n, text in enumerate(("Nero.", "He.", "His.")))
    >>> leaned_on([one, two, three]), leaned_on([one, three])
    ([None, 0, 1], [None, None])
    """
    places = {(one.hit, one.place): number for number, one in enumerate(candidates)}
    last: dict[int, int] = {}
    for one in candidates:
        last[one.hit] = max(one.place, last.get(one.hit, 0))
    found: list[int | None] = []
    for one in candidates:
        if not one.leans:
            found.append(None)
        elif one.place and not one.heads:
            found.append(places.get((one.hit, one.place - 1)))
        elif not hits:
            found.append(None)
        else:
            other = _first_of_page(one.hit, hits) if one.heads else _before(one.hit, hits)
            found.append(None if other is None else places.get((other, 0 if one.heads else last.get(other, 0))))
    return [None if number == place else number for place, number in enumerate(found)]


def support_of(
    place: int, on: Sequence[int | None], candidates: Sequence[Candidate], said: set[int]
) -> list[int] | None:
    """The sentences, first to last, that must stand before a candidate so that it dangles no more; ``said`` ones do.

    ``None`` where that cannot be had.

    >>> one, two, three = (Candidate(0, n, 0, 9, text, leans=n > 0) for n, text in enumerate(("Nero.", "He.", "His.")))
    >>> found = leaned_on([one, two, three])
    >>> support_of(2, found, [one, two, three], set()), support_of(2, found, [one, two, three], {1})
    ([0, 1], [])
    """
    needed: list[int] = []
    while candidates[place].leans:
        before = on[place]
        if before is None or before in needed:
            return None
        if before in said:
            break
        needed.insert(0, before)
        place = before
    return needed


def _first_of_page(hit: int, hits: Sequence[Hit]) -> int | None:
    """The hit that opens the document of a hit."""
    document = hits[hit].passage.document
    openings = (n for n, other in enumerate(hits) if other.passage.document == document and other.passage.start == 0)
    return next(openings, None)


def _before(hit: int, hits: Sequence[Hit]) -> int | None:
    """The hit whose passage ends where that of a hit begins."""
    passage = hits[hit].passage
    for number, other in enumerate(hits):
        gap = passage.start - other.passage.end
        if number != hit and other.passage.document == passage.document and other.passage.end and 0 <= gap <= _GAP:
            return number
    return None
