"""Lists by a Fusion-in-Decoder reader, as answers that cite the passages in which each name stands."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from longform.answer.protocol import finish
from longform.answer.union import Mention, answer_list, mention_of, unite
from longform.errors import InputError
from longform.records import Answer, Hit
from longform.train.fid_data import FidPassage
from longform.train.fid_model import FidReader

__all__ = ["FidLister"]

# Of the first name that the decoder writes; each later one counts a little less, which keeps its order.
_FIRST, _STEP = 0.9, 0.999


@dataclass(frozen=True)
class FidLister:
    """Answers with a list, by one decoder over all passages: an :class:`longform.answer.Answerer`.

    The decoder does not say where it read a name; every passage that holds it is cited, and a name that no passage
    holds is left out, with a warning.
    """

    reader: FidReader
    passages: int = 50
    beams: int = 1

    def __post_init__(self) -> None:
        if self.passages < 1 or self.beams < 1:
            raise InputError("A list needs at least 1 passage to read, and 1 beam to write.")

    @property
    def name(self) -> str:
        """What its answers carry as their model."""
        return f"list:{self.reader.name}"

    @property
    def wants(self) -> int:
        """How many passages it reads."""
        return self.passages

    def answer(self, question: str, hits: Sequence[Hit]) -> Answer:
        """The whole list."""
        return finish(self.stream(question, hits))

    def stream(self, question: str, hits: Sequence[Hit]) -> Iterator[str | Answer]:
        """The lines of the list, then the answer."""
        hits = list(hits[: self.passages])
        started = time.perf_counter()
        written = self.reader.read(
            question, [FidPassage(hit.passage.title, hit.passage.text) for hit in hits], beams=self.beams
        )
        mentions: list[Mention] = []
        dropped = 0
        for place, name in enumerate(written):
            sure = _FIRST * _STEP**place
            found = [mention_of(name, number, hit.passage, sure) for number, hit in enumerate(hits)]
            mentions += [mention for mention in found if mention is not None]
            dropped += not any(found)
        warnings = [f"{dropped} answers that stand in no passage were left out."] if dropped else []
        items = unite(mentions, hits, [1.0] * len(hits), 0.0)
        seconds = {"read": time.perf_counter() - started}
        for part in answer_list(question, items, hits, model=self.name, warnings=warnings):
            yield replace(part, seconds=seconds) if isinstance(part, Answer) else part
