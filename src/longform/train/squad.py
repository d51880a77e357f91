"""SQuAD files, and how they are split: by article, so that no text that is tested on was ever trained on.

P. Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text", EMNLP 2016; P. Rajpurkar et al.,
"Know What You Don't Know: Unanswerable Questions for SQuAD", ACL 2018. Both versions' files are read, plain or
gzipped, and simple JSONL of one's own beside them.
"""

from __future__ import annotations

import gzip
import random
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from longform.errors import InputError, reason_of
from longform.score.rows import json_rows

__all__ = ["Extra", "Span", "Split", "SquadExample", "find_answer", "read_extra", "read_squad", "split_articles"]


class Span(NamedTuple):
    """An answer and the character of the context at which it starts."""

    text: str
    start: int


class SquadExample(NamedTuple):
    """One question about one paragraph; without ``answers`` the paragraph does not answer it."""

    id: str
    article: str
    question: str
    context: str
    answers: tuple[Span, ...]


class Split(NamedTuple):
    """What is trained on, what settings are chosen on, and what is only reported."""

    train: list[SquadExample]
    validation: list[SquadExample]
    test: list[SquadExample]


class Extra(NamedTuple):
    """Examples from a file of one's own, and how many of its rows had no answer that stands in the text."""

    examples: list[SquadExample]
    skipped: int


def read_squad(paths: Iterable[str | Path]) -> list[SquadExample]:
    """All questions of SQuAD 1.1 or 2.0 files; one that several files have (2.0 repeats 1.1) is taken once.

    >>> import json, tempfile
    >>> file = Path(tempfile.mkdtemp()) / "train.json"
    >>> asked = {"id": "1", "question": "What is hot?", "answers": [{"text": "Tea", "answer_start": 0}]}
    >>> paragraphs = [{"context": "Tea is hot.", "qas": [asked]}]
    >>> _ = file.write_text(json.dumps({"data": [{"title": "Tea", "paragraphs": paragraphs}]}))
    >>> read_squad([file])[0].answers
    (Span(text='Tea', start=0),)
    """
    found: dict[str, SquadExample] = {}
    for path in map(Path, paths):
        own = list(_examples(path, _json(path)))
        if not own:
            raise InputError(f"{path} holds no questions.")
        for example in own:
            known = found.setdefault(example.id, example)
            if (known.question, known.context) != (example.question, example.context):
                raise InputError(f"{path}: the id {example.id} stands for two different questions.")
    return list(found.values())


def _json(path: Path) -> Any:
    try:
        data = path.read_bytes()
        return orjson.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}: broken JSON ({error.msg}, line {error.lineno}).") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path} is cut off, or not a gzip file.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {reason_of(error)}.") from None


def _examples(path: Path, content: Any) -> Iterator[SquadExample]:
    if not isinstance(content, Mapping) or not isinstance(content.get("data"), list):
        raise InputError(f'{path} is no SQuAD file: it should hold {{"data": [{{"title", "paragraphs"}}, …]}}.')
    try:
        for place, article in enumerate(content["data"]):
            title = str(article.get("title") or f"{path.name} {place}")
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    yield _example(path, title, paragraph["context"], asked)
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"{path} is no SQuAD file: article {place + 1} is not as it should be.") from None


def _example(path: Path, title: str, context: str, asked: Mapping[str, Any]) -> SquadExample:
    identifier = str(asked["id"])
    spans = []
    # In 2.0 an unanswerable question may carry answers that look right; they are under another name.
    for answer in [] if asked.get("is_impossible") else asked["answers"]:
        text, start = answer["text"], answer["answer_start"]
        if context[start : start + len(text)] != text:
            raise InputError(f"{path}: the answer {text!r} of question {identifier} is not at character {start}.")
        spans.append(Span(text, start))
    if not isinstance(asked["question"], str):
        raise InputError(f"{path}: the question {identifier} is no text.")
    return SquadExample(identifier, title, asked["question"], context, tuple(spans))


def read_extra(path: str | Path) -> Extra:
    """Questions from JSONL: ``{"question", "context", "answers": [text, …]}``, none for "no answer".

    The file of questions that re-rankers are trained from works too: ``long_answer`` is the context and
    ``short_answers`` (lists of aliases) the answers. Their aliases need not stand in the text; a row of which none
    does is left out and counted, since it says nothing about where the answer is, nor that there is none.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "extra.jsonl"
    >>> _ = file.write_text('{"question": "What is hot?", "context": "Iced tea? Hot tea.", "answers": ["hot tea"]}')
    >>> read_extra(file).examples[0].answers
    (Span(text='Hot tea', start=10),)
    """
    examples, skipped = [], 0
    for number, row in enumerate(json_rows(path), 1):
        where = f"{path}: row {number}"
        if "context" in row:
            context, answers = row["context"], row.get("answers")
        else:
            context, answers = row.get("long_answer"), _aliases(row.get("short_answers"))
        question = row.get("question")
        if not isinstance(question, str) or not isinstance(context, str) or not isinstance(answers, list):
            raise InputError(f'{where} should have "question", "context" and a list of "answers".')
        if not all(isinstance(answer, str) and answer.strip() for answer in answers):
            raise InputError(f"{where} has an answer that is no text; an empty list stands for no answer.")
        spans = [span for answer in answers if (span := find_answer(answer.strip(), context)) is not None]
        if not spans and (answers or "context" not in row):
            if "context" in row:
                raise InputError(f"{where}: none of its answers ({answers[0]!r}, …) stands in its context.")
            skipped += 1
            continue
        examples.append(SquadExample(f"{Path(path).name}:{number}", "", question, context, tuple(spans)))
    return Extra(examples, skipped)


def _aliases(short_answers: Any) -> Any:
    """The answers in lists of aliases, flat; anything else as it is."""
    if isinstance(short_answers, list) and all(isinstance(aliases, list) for aliases in short_answers):
        return [alias for aliases in short_answers for alias in aliases]
    return short_answers


def find_answer(answer: str, context: str) -> Span | None:
    """Where an answer first stands in a text as whole words, letters of any case.

    >>> find_answer("tea", "Steam, and Tea.")
    Span(text='Tea', start=11)
    """
    match = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", context, re.IGNORECASE)
    return Span(match.group(), match.start()) if match else None


def split_articles(
    examples: Sequence[SquadExample], held_out: float = 0.15, seed: int = 0, dev: Sequence[SquadExample] | None = None
) -> Split:
    """Three parts that share no article: ``held_out`` of the articles for validation, as many for the test.

    With ``dev``, its articles are halved into validation and test, and training keeps none of them. The same seed
    gives the same parts, whatever the order of the files.

    >>> pages = [SquadExample(str(page), f"page {page}", "?", "…", ()) for page in range(10)]
    >>> [len(part) for part in split_articles(pages, 0.2)]
    [6, 2, 2]
    """
    if not 0 < held_out < 0.5:
        raise InputError(f"The share of articles to hold out must lie between 0 and 0.5, not at {held_out}.")
    source = examples if dev is None else dev
    titles = sorted({example.article for example in source})
    random.Random(seed).shuffle(titles)
    each = max(round(held_out * len(titles)), 1) if dev is None else len(titles) // 2
    if len(titles) < (3 if dev is None else 2):
        wanted = "three or more are needed, or a file for --dev" if dev is None else "the dev file needs two or more"
        raise InputError(f"The questions are about {len(titles)} article(s), too few to hold some out: {wanted}.")
    test, validation = set(titles[:each]), set(titles[each : 2 * each] if dev is None else titles[each:])
    train = [example for example in examples if example.article not in test | validation]
    if not train:
        raise InputError("Nothing is left to train on: every article of the training files is in the dev file too.")
    return Split(
        train,
        [example for example in source if example.article in validation],
        [example for example in source if example.article in test],
    )
