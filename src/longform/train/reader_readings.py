"""What a reader can learn from ambiguous questions whose readings and long answers people wrote down (ASQA).

Disambig-F1 asks a reader each reading of a question about a long answer (Stelmakh et al., EMNLP 2022, section 4.2), so
this is the very thing it is for: a reading, a long answer or a note that holds its short answer, and where it stands. A
note on the same question that holds answers to other readings only teaches "no answer".
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from pathlib import Path

from longform.data.asqa import read_asqa
from longform.data.example import Example, Reading
from longform.errors import InputError
from longform.text.normalize import normalize_answer
from longform.train.squad import Extra, Span, SquadExample, find_answer

__all__ = ["readings_to_read"]


def readings_to_read(path: str | Path, *, exclude_ids: Collection[str] = (), seed: int = 0) -> Extra:
    """For each reading of each question: the long answers that hold its answer, one note that does, one that does not.

    Readings whose answer stands in no text of their question are left out and counted.

    >>> import json, tempfile
    >>> file = Path(tempfile.mkdtemp()) / "ASQA.json"
    >>> pairs = [{"question": f"Who won in {year}?", "short_answers": [who]} for year, who in ((1, "Al"), (2, "Bo"))]
    >>> notes = [{"content": "Al won once.", "wikipage": None}]
    >>> note = {"long_answer": "Al won, then Bo.", "knowledge": notes}
    >>> item = {"ambiguous_question": "Who won?", "qa_pairs": pairs, "annotations": [note], "wikipages": []}
    >>> _ = file.write_text(json.dumps({"dev": {"7": item}}))
    >>> for one in readings_to_read(file).examples:
    ...     print(one.question, one.context, [span.text for span in one.answers])
    Who won in 1? Al won, then Bo. ['Al']
    Who won in 1? Al won once. ['Al']
    Who won in 2? Al won, then Bo. ['Bo']
    Who won in 2? Al won once. []
    """
    asked = [example for example in read_asqa(str(path), None) if example.id not in exclude_ids]
    if not asked:
        raise InputError(f"All questions of {path} are excluded: none is left.")
    examples: list[SquadExample] = []
    skipped = 0
    for example in asked:
        for number, reading in enumerate(example.readings):
            found = list(_read(example, reading, random.Random(f"{seed} {example.id} {number}")))
            skipped += not found
            examples += [
                SquadExample(f"{example.id} {number} {place}", "", reading.question, text, spans)
                for place, (text, spans) in enumerate(found)
            ]
    return Extra(examples, skipped)


def _read(example: Example, reading: Reading, rng: random.Random) -> list[tuple[str, tuple[Span, ...]]]:
    """The texts to read for one reading, each with where its answer stands."""
    notes = [passage.text for passage in example.passages]
    answers = [(text, spans) for text in example.long_answers if (spans := _spans(reading, text))]
    noted = [(text, spans) for text in notes if (spans := _spans(reading, text))]
    if not answers and not noted:
        return []
    others = [text for text in notes if not _hinted(reading, text) and _answers_another(example, reading, text)]
    return [*answers, *noted[:1], *((text, ()) for text in rng.sample(others, min(1, len(others))))]


def _spans(reading: Reading, text: str) -> tuple[Span, ...]:
    spans = (find_answer(name.strip(), text) for name in reading.short_answers if name.strip())
    return tuple(dict.fromkeys(span for span in spans if span is not None))


def _hinted(reading: Reading, text: str) -> bool:
    """Whether an answer stands in a text, be it in other words than its own."""
    said = f" {normalize_answer(text)} "
    return any(f" {name} " in said for name in map(normalize_answer, reading.short_answers) if name)


def _answers_another(example: Example, reading: Reading, text: str) -> bool:
    others: Sequence[Reading] = [one for one in example.readings if one is not reading]
    return any(_spans(one, text) for one in others)
