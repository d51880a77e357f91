"""Whether one system's lead over another is length: both are compared as they are, and at equal lengths."""

from __future__ import annotations

from collections.abc import Mapping

from longform.audit.enough import FEW, LEVEL, more_questions, too_few
from longform.audit.finding import Finding, Table, Verdict
from longform.audit.length import MUCH, Answered, LengthReport, difference_text, rouge_steps, share_of
from longform.audit.length_cuts import Row, cut_rows, first_words
from longform.audit.shown import comparison_row, metric_name
from longform.errors import InputError
from longform.score.statistics import Comparison, p_text

__all__ = ["CHECK", "audit_lead", "both_cut", "shorter_repeated"]

CHECK = "Is it better at the same length?"

Rows = Mapping[str, Row]


def both_cut(first: Rows, second: Rows) -> tuple[dict[str, Row], dict[str, Row]]:
    """Both systems' answers to each question cut to the words of the shortest among them.

    >>> one, two = {"q": {"answers": [{"text": "a b c"}]}}, {"q": {"answers": [{"text": "d e"}]}}
    >>> both_cut(one, two)[0]["q"]["answers"][0]["text"]
    'a b'
    """
    least = {identifier: min(*_words(first[identifier]), *_words(second[identifier])) for identifier in first}
    return (
        cut_rows(first, lambda identifier, text, _: first_words(text, least[identifier])),
        cut_rows(second, lambda identifier, text, _: first_words(text, least[identifier])),
    )


def shorter_repeated(first: Rows, second: Rows) -> tuple[dict[str, Row], dict[str, Row]]:
    """Both systems' answers to each question repeated to the words of the longest among them.

    >>> one, two = {"q": {"answers": [{"text": "a b c"}]}}, {"q": {"answers": [{"text": "d e"}]}}
    >>> shorter_repeated(one, two)[1]["q"]["answers"][0]["text"]
    'd e d'
    """
    most = {identifier: max(*_words(first[identifier]), *_words(second[identifier])) for identifier in first}

    def longer(identifier: str, text: str, _: int) -> str:
        words = len(text.split())
        return first_words(" ".join([text] * -(-most[identifier] // words)), most[identifier]) if words else text

    return cut_rows(first, longer), cut_rows(second, longer)


def audit_lead(one: Answered, other: Answered, *, resamples: int = 10_000, seed: int = 0) -> Finding:
    """The lead of the better system at own lengths, at equal lengths, and the share of it that is length."""
    _same_questions(one, other)
    ways: dict[str, tuple[Rows, Rows]] = {
        "own": (one.rows, other.rows),
        "cut": both_cut(one.rows, other.rows),
        "repeated": shorter_repeated(one.rows, other.rows),
    }
    scored = {way: (one.scored(mine), other.scored(theirs)) for way, (mine, theirs) in ways.items()}
    first, second = one, other
    rouge = scored["own"][0].rouge
    if scored["own"][0][rouge] < scored["own"][1][rouge]:
        first, second = other, one
        scored = {way: (theirs, mine) for way, (mine, theirs) in scored.items()}
    found = {way: mine.against(theirs, resamples, seed) for way, (mine, theirs) in scored.items()}
    verdict, words, share = _judged(first.name, second.name, scored, found, resamples, seed)
    numbers = {
        "first": first.name,
        "second": second.name,
        "questions": scored["own"][0].report.n,
        "metric": rouge,
        "lengths": {first.name: scored["own"][0]["length"], second.name: scored["own"][1]["length"]},
        "gain": {way: {name: comparison_row(value) for name, value in row.items()} for way, row in found.items()},
        "share_of_gain_that_is_length": share,
    }
    return Finding(CHECK, verdict, words, [_table(first.name, second.name, scored, found)], numbers)


def _judged(
    first: str,
    second: str,
    scored: Mapping[str, tuple[LengthReport, LengthReport]],
    found: Mapping[str, Mapping[str, Comparison]],
    resamples: int,
    seed: int,
) -> tuple[Verdict, str, dict[str, float] | None]:
    mine, theirs = scored["own"]
    rouge, name = mine.rouge, metric_name(mine.rouge)
    own, equal = found["own"][rouge], found["cut"][rouge]
    lengths = f"{mine['length']:.0f} words against {theirs['length']:.0f}"
    lead = f"{name} {own.first:.1f} against {own.second:.1f}, with {lengths}"
    same = f"{equal.difference:+.1f} points (95 % interval {equal.low:+.1f} to {equal.high:+.1f})"
    if mine.report.n < FEW:
        words = f"{first} has {lead}. {too_few(mine.report.n)}"
        return Verdict.UNKNOWN, words, None
    if own.p >= LEVEL or own.difference <= 0:
        words = (
            f"{first} and {second} do not differ for certain as they are ({lead}), so there is no lead to explain; cut "
            f"to equal lengths, {first} differs by {same}. {more_questions(own, mine.report.n, 1, resamples)}"
        )
        return Verdict.UNKNOWN, words, None
    # What of the lead is gone at equal lengths.
    gain = rouge_steps(mine, theirs)
    share = share_of(gain - rouge_steps(*scored["cut"]), gain, resamples=resamples, seed=seed)._asdict()
    text = f"{first} leads {second} ({lead}). Cut to equal lengths the lead is {same}"
    part = f"{max(0.0, share['value']):.0f} % of it is length ({share['low']:.0f} to {share['high']:.0f})"
    if equal.difference > 0 and equal.p < LEVEL:
        verdict = Verdict.CONCERN if share["value"] >= 100 * MUCH else Verdict.FINE
        ending = f": {part}." if share["value"] > 0 else ": none of it is length."
        return verdict, text + ending, share
    if equal.difference < 0 and equal.p < LEVEL:
        return Verdict.CONCERN, f"{text}: at equal lengths {second} is the better one.", share
    return Verdict.CONCERN, f"{text}, which may be chance: {part}.", share


_WAYS = {
    "own": "as they are",
    "cut": "both cut to the shorter",
    "repeated": "the shorter repeated to the longer",
}


def _table(
    first: str,
    second: str,
    scored: Mapping[str, tuple[LengthReport, LengthReport]],
    found: Mapping[str, Mapping[str, Comparison]],
) -> Table:
    rows = []
    for name in (name for name in found["own"] if name != "length"):
        for way, title in _WAYS.items():
            (mine, theirs), value = scored[way], found[way][name]
            rows.append(
                (
                    f"{metric_name(name)}, {title}",
                    f"{mine['length']:.1f} and {theirs['length']:.1f}",
                    f"{value.first:.1f}",
                    f"{value.second:.1f}",
                    difference_text(value),
                    p_text(value.p),
                )
            )
    note = "Question by question. In brackets the paired 95 % interval; p is the paired permutation test's."
    return Table("At own and at equal lengths", ("", "words", first, second, "difference", "p"), rows, note)


def _words(row: Row) -> list[int]:
    return [len(answer["text"].split()) for answer in row["answers"]]


def _same_questions(one: Answered, other: Answered) -> None:
    if one.task != other.task:
        raise InputError(f"{one.name} is scored as {one.task} and {other.name} as {other.task}: they do not compare.")
    ours, theirs = ({example.id for example in system.examples} for system in (one, other))
    if ours != theirs:
        lone = sorted(ours ^ theirs)[0]
        holder = one.name if lone in ours else other.name
        raise InputError(f"Only {holder} was asked the question {lone}: two systems compare on the same questions.")
