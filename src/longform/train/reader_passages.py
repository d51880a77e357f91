"""What a reader can learn from questions and short answers alone, over passages that a search finds.

D. Chen et al., "Reading Wikipedia to Answer Open-Domain Questions" (ACL 2017, section 4.4): a found passage that holds
an answer is taken to answer. Here another one, found as well but without any answer, teaches "no answer": such passages
are what lists and answers are made from.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from longform.corpus.training_questions import TrainingQuestion
from longform.models.spans import reader_context
from longform.records import Passage
from longform.retrieve import Index
from longform.text.normalize import normalize_answer
from longform.train.running import Report, TrainingStep, no_report
from longform.train.squad import Extra, Span, SquadExample, find_answer

__all__ = ["POOL", "passages_to_read"]

POOL = 20
# Questions that are searched between two reports of progress.
_EACH = 100


def passages_to_read(
    index: Index, questions: Sequence[TrainingQuestion], *, pool: int = POOL, seed: int = 0, report: Report = no_report
) -> Extra:
    """Two examples a question where the first ``pool`` passages have them: one with an answer, one without.

    The first is the best-ranked passage that holds the most of the question's answers. The second is drawn from those
    in which no answer stands, not even with other articles and punctuation. Questions for which no passage holds an
    answer are left out and counted: that none was found does not say that none is there.

    >>> import tempfile
    >>> from longform import Document
    >>> pages = [Document("a", "Tea", "Tea is hot."), Document("b", "Iced tea", "Iced tea is cold.")]
    >>> index = Index.create(tempfile.mkdtemp() + "/my.index", pages)
    >>> asked = TrainingQuestion("1", "How is iced tea?", (), (("cold", "icy"),))
    >>> [(example.context, example.answers) for example in passages_to_read(index, [asked]).examples]
    [('Iced tea is cold.', (Span(text='cold', start=12),)), ('Tea is hot.', ())]
    """
    examples: list[SquadExample] = []
    skipped = 0
    for number, question in enumerate(questions):
        if number % _EACH == 0:
            report(TrainingStep("finding passages", number, len(questions), None, None))
        hits = index.search(question.question, min(pool, len(index)), "bm25") if len(index) else []
        found = [_spans(question, reader_context(hit.passage).text) for hit in hits]
        most = max(map(len, found), default=0)
        if not most:
            skipped += 1
            continue
        best = next(place for place, spans in enumerate(found) if len(spans) == most)
        examples.append(_example(question, hits[best].passage, found[best]))
        without = [hit.passage for hit, spans in zip(hits, found, strict=True) if not spans]
        without = [passage for passage in without if not _hinted(question, passage)]
        if without:
            # Of the question alone: another file or order draws the same.
            drawn = random.Random(f"{seed} {question.id}").choice(without)
            examples.append(_example(question, drawn, []))
    return Extra(examples, skipped)


def _spans(question: TrainingQuestion, context: str) -> list[Span]:
    """For each direct answer the first of its names that stands in the text."""
    found = []
    for names in question.short_answers:
        span = next((span for name in names if name and (span := find_answer(name, context)) is not None), None)
        if span is not None and span not in found:
            found.append(span)
    return found


def _hinted(question: TrainingQuestion, passage: Passage) -> bool:
    """Whether an answer stands in a passage in other words than its own."""
    text = f" {normalize_answer(reader_context(passage).text)} "
    names = (normalize_answer(name) for names in question.short_answers for name in names)
    return any(f" {name} " in text for name in names if name)


def _example(question: TrainingQuestion, passage: Passage, spans: Sequence[Span]) -> SquadExample:
    return SquadExample(
        f"{question.id} {passage.id}", passage.title, question.question, reader_context(passage).text, tuple(spans)
    )
