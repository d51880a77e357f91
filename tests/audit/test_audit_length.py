"""The length audit: cutting and repeating, what of a score or a lead is length, and what the command tells."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from longform import InputError
from longform.audit.finding import Verdict
from longform.audit.length import FRACTIONS, Answered, audit_length, rouge_of, rouge_steps, share_of
from longform.audit.length_cuts import cut, first_words, repeated
from longform.audit.length_lead import audit_lead, both_cut, shorter_repeated
from longform.cli.audit.length import command
from longform.data import Example, load_dataset
from longform.errors import LongformError
from longform.study.config import read_study
from longform.study.grid import run_study

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLD = EXAMPLES / "questions.json"
FAST = ["--resamples", "200"]


@pytest.fixture(scope="module")
def questions() -> tuple[Example, ...]:
    return load_dataset("asqa", file=GOLD).examples


def system(name: str, questions: tuple[Example, ...], texts: list[str], task: str = "asqa") -> Answered:
    rows = {one.id: {"answers": [{"text": text}]} for one, text in zip(questions, texts, strict=True)}
    return Answered(name, task, questions, rows)


def golds(questions: tuple[Example, ...]) -> list[str]:
    return [one.long_answers[0] for one in questions]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in arguments])


def refused(*arguments: object) -> str:
    result = run(*arguments)
    assert isinstance(result.exception, LongformError), result.output
    return str(result.exception)


# Cutting and repeating


@given(st.text(max_size=80), st.floats(0.01, 1.0))
def test_lengths_are_what_they_should_be(text: str, fraction: float) -> None:
    words = text.split()
    part = cut(text, fraction)
    assert part.split() == words[: len(part.split())]
    if words:
        assert abs(len(part.split()) - max(1, fraction * len(words))) <= 0.5 + 1e-9
    whole = repeated(text, fraction)
    assert len(whole.split()) == len(words)
    kept = len(part.split())
    assert whole.split() == [words[place % kept] for place in range(len(words))]


@given(st.text(max_size=60), st.integers(-1, 12))
def test_the_first_words_are_a_prefix(text: str, count: int) -> None:
    found = first_words(text, count)
    assert text.startswith(found)
    assert len(found.split()) == min(max(count, 0), len(text.split()))


def test_the_whole_stays_as_it_is() -> None:
    text = "One  two.\n\nThree"
    assert cut(text, 1.0) == text
    assert repeated(text, 1.0) == text
    assert repeated("", 0.5) == cut("", 0.5) == ""


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), min_size=1, max_size=4))
def test_two_systems_are_made_equally_long(texts: list[tuple[str, str]]) -> None:
    one, two = (
        {str(place): {"answers": [{"text": pair[side]}]} for place, pair in enumerate(texts)} for side in (0, 1)
    )
    for name in one:
        lengths = [len(rows[name]["answers"][0]["text"].split()) for rows in (one, two)]
        cuts = [len(rows[name]["answers"][0]["text"].split()) for rows in both_cut(one, two)]
        assert cuts == [min(lengths)] * 2
        longer = [len(rows[name]["answers"][0]["text"].split()) for rows in shorter_repeated(one, two)]
        assert longer == [max(lengths) if length else 0 for length in lengths], "nothing cannot be repeated"


def test_several_answers_are_cut_to_the_shortest_of_all() -> None:
    people = {"q": {"answers": [{"text": "a b c", "references": [1]}, {"text": "d e f g", "references": [0]}]}}
    mine, theirs = both_cut(people, {"q": {"answers": [{"text": "h i"}]}})
    assert [answer["text"] for answer in mine["q"]["answers"]] == ["a b", "d e"]
    assert mine["q"]["answers"][1]["references"] == [0], "each keeps what it is compared with"
    assert theirs["q"]["answers"][0]["text"] == "h i"


# One system


def test_content_is_told_from_length(questions: tuple[Example, ...]) -> None:
    """People's answers: what the second half adds is content, and repeating the first half does not bring it back."""
    finding = audit_length(system("people", questions, golds(questions)), resamples=500)
    assert finding.verdict is Verdict.FINE
    assert "mostly content" in finding.words
    scores = finding.numbers["truncate"]
    assert list(scores) == [f"{fraction:g}" for fraction in FRACTIONS]
    assert scores["1"]["rougeLsum"] == finding.numbers["whole"]["rougeLsum"]
    lengths = [row["length"] for row in scores.values()]
    assert lengths == sorted(lengths)
    found = [row["str_em"] for row in scores.values()]
    assert found == sorted(found), "a longer beginning holds no fewer answers"
    assert all(row["length"] == lengths[-1] for row in finding.numbers["repeat"].values())
    assert finding.tables[0].columns[-1] == "STR-EM, cut"
    assert len(finding.tables[0].rows) == len(FRACTIONS)


def test_repetition_is_found_out(questions: tuple[Example, ...]) -> None:
    """The question eight times: whatever the second half adds, the first half said twice adds as well."""
    finding = audit_length(system("question", questions, [" ".join([one.question] * 8) for one in questions]))
    lost, regained = finding.numbers["second_half"], finding.numbers["repetition"]
    assert regained["difference"] == pytest.approx(lost["difference"], abs=0.8)
    share = finding.numbers["share_of_second_half_that_is_length"]
    assert finding.verdict is (Verdict.CONCERN if share is not None else Verdict.FINE)
    short = system("words", questions, [" ".join(one.question.split()[:3] * 6) for one in questions])
    found = audit_length(short, resamples=500)
    assert found.verdict is Verdict.CONCERN
    assert found.numbers["share_of_second_half_that_is_length"]["value"] == pytest.approx(100, abs=10)
    assert "is length, not content" in found.words


def test_more_words_may_cost(questions: tuple[Example, ...]) -> None:
    texts = [f"{text} {' '.join(['nonsense'] * 5 * len(text.split()))}" for text in golds(questions)]
    finding = audit_length(system("long", questions, texts), resamples=300)
    assert finding.verdict is Verdict.FINE
    assert "more words lower its score" in finding.words
    assert finding.numbers["share_of_second_half_that_is_length"] is None


def test_few_questions_tell_nothing(questions: tuple[Example, ...]) -> None:
    finding = audit_length(system("few", questions[:5], golds(questions)[:5]), resamples=100, fractions=[0.5])
    assert finding.verdict is Verdict.UNKNOWN
    assert len(finding.tables[0].rows) == 2, "the half and the whole are always there"


def test_kilt_has_its_own_rouge(questions: tuple[Example, ...]) -> None:
    assert (rouge_of("kilt"), rouge_of("eli5"), rouge_of("asqa"), rouge_of("text")) == (
        *("rougel",) * 2,
        *("rougeLsum",) * 2,
    )
    finding = audit_length(system("people", questions, golds(questions), "kilt"), resamples=50, fractions=[0.5])
    assert finding.numbers["metric"] == "rougel"
    assert finding.tables[0].columns[-1] == "p", "no STR-EM where there are no short answers to look for"


def test_without_long_answers_there_is_no_rouge() -> None:
    example = Example("a", "Who?", short_answers=(("Ann",),))
    with pytest.raises(InputError, match="have no ROUGE-L to audit: most questions have no long answer"):
        audit_length(system("x", (example,), ["Ann"], "text"))


@pytest.mark.parametrize("fraction", [0.0, 1.5, -0.1])
def test_a_fraction_is_one(questions: tuple[Example, ...], fraction: float) -> None:
    with pytest.raises(InputError, match="lies above 0 and is at most 1"):
        audit_length(system("x", questions, golds(questions)), fractions=[fraction])


# Two systems


def test_a_lead_that_is_length(questions: tuple[Example, ...]) -> None:
    """The same answers, whole and cut to a third: the lead is there, and gone at equal lengths."""
    whole = system("whole", questions, golds(questions))
    third = system("third", questions, [cut(text, 0.3) for text in golds(questions)])
    finding = audit_lead(third, whole, resamples=500)
    assert finding.verdict is Verdict.CONCERN
    assert finding.numbers["first"] == "whole", "the better one comes first, however they were named"
    assert finding.numbers["gain"]["own"]["rougeLsum"]["difference"] > 10
    assert finding.numbers["gain"]["cut"]["rougeLsum"]["difference"] == 0
    assert finding.numbers["share_of_gain_that_is_length"] == {"value": 100.0, "low": 100.0, "high": 100.0}
    assert "100 % of it is length" in finding.words


def test_a_lead_that_is_content(questions: tuple[Example, ...]) -> None:
    gold = system("gold", questions, golds(questions))
    other = system("other", questions, [*golds(questions)[1:], golds(questions)[0]])
    finding = audit_lead(gold, other, resamples=500)
    assert finding.verdict is Verdict.FINE
    assert finding.numbers["share_of_gain_that_is_length"]["value"] < 50
    assert [row[0] for row in finding.tables[0].rows][:2] == [
        "ROUGE-L, as they are",
        "ROUGE-L, both cut to the shorter",
    ]


def test_a_lead_that_turns(questions: tuple[Example, ...]) -> None:
    """The gold answer and much nonsense behind it loses to another's answer, and wins at equal lengths."""
    golden = golds(questions)
    noisy = system("noisy", questions, [f"{text} {' '.join(['so'] * 8 * len(text.split()))}" for text in golden])
    half = system("half", questions, [" ".join(text.split()[1::2]) for text in golden])
    finding = audit_lead(noisy, half, resamples=500)
    assert finding.numbers["first"] == "half"
    assert finding.verdict is Verdict.CONCERN
    assert "at equal lengths noisy is the better one" in finding.words


def test_no_lead_is_nothing_to_explain(questions: tuple[Example, ...]) -> None:
    gold = system("gold", questions, golds(questions))
    finding = audit_lead(gold, system("again", questions, golds(questions)), resamples=200)
    assert finding.verdict is Verdict.UNKNOWN
    assert "no lead to explain" in finding.words


def test_a_share_is_a_ratio_of_means(questions: tuple[Example, ...]) -> None:
    generator = np.random.default_rng(0)
    gain = generator.normal(5, 1, 200)
    part = 0.25 * gain + generator.normal(0, 0.5, 200)
    found = share_of(part, gain, resamples=2000)
    assert found.value == pytest.approx(100 * part.mean() / gain.mean())
    assert 20 < found.low < found.value < found.high < 30
    one = system("one", questions, golds(questions)).scored()
    assert np.array_equal(rouge_steps(one, one), np.zeros(len(questions)))


def test_other_questions_do_not_compare(questions: tuple[Example, ...]) -> None:
    gold = system("gold", questions, golds(questions))
    with pytest.raises(InputError, match="Only gold was asked the question"):
        audit_lead(gold, system("few", questions[1:], golds(questions)[1:]))
    with pytest.raises(InputError, match="gold is scored as asqa and kilt as kilt"):
        audit_lead(gold, system("kilt", questions, golds(questions), "kilt"))


# The command


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("length")
    (place / "study.toml").write_text(
        f'datasets = [{{ name = "asqa", file = "{GOLD}" }}]\nsystems = ["question", "human"]\n'
        "[scores]\nresamples = 50\n"
    )
    run_study(read_study(str(place / "study.toml"), None))
    return place / "runs" / "asqa"


def test_the_command_on_runs(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "out" / "page.md"
    result = run("--run", runs / "question-x8", "--against", runs / "human", "-o", page, *FAST)
    assert result.exit_code == 0, result.output
    assert "How much of its ROUGE-L is length?" in result.output
    assert "human leads question-x8" in result.output
    text = page.read_text()
    assert text.startswith("# Length\n\n## How much of its ROUGE-L is length?")
    assert "| question-x8 (items.jsonl) | " in text
    assert "| human (items.jsonl) | " in text


def test_the_command_on_predictions(tmp_path: Path, questions: tuple[Example, ...]) -> None:
    whole, half = tmp_path / "whole.json", tmp_path / "half.jsonl"
    whole.write_text(json.dumps({one.id: one.long_answers[0] + " [1]" for one in questions}))
    rows = [{"id": one.id, "answer": cut(one.long_answers[0], 0.5)} for one in questions]
    half.write_text("\n".join(map(json.dumps, rows)))
    common = ("--dataset", GOLD, "--fractions", "0.5", *FAST)
    told = json.loads(run("--predictions", whole, "--against", half, *common, "--json").output)
    assert [one["verdict"] for one in told["findings"]] == ["fine", "concern"]
    assert set(told["hashes"]) == {str(GOLD), str(whole), str(half)}
    single = told["findings"][0]["numbers"]
    assert single["system"] == "whole"
    assert single["whole"]["length"] == np.mean([len(one.long_answers[0].split()) for one in questions]), "no citations"
    twice = json.loads(run("--predictions", half, "--against", half, *common, "--json").output)
    assert twice["findings"][1]["numbers"]["second"] == "half (2)"


def test_a_command_that_cannot_be_meant(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "some.json").write_text("{}")
    some = tmp_path / "some.json"
    assert "is of one system: name its run with --run" in refused()
    assert "is of one system" in refused("--run", runs / "human", "--predictions", some)
    assert "name it with --dataset" in refused("--predictions", some)
    assert "A run has its own questions" in refused("--run", runs / "human", "--dataset", "asqa")
    assert "--fractions takes numbers" in refused("--run", runs / "human", "--fractions", "half")
    assert "has no answer to the question" in refused("--predictions", some, "--dataset", GOLD)
    assert "is no run" in refused("--run", tmp_path)
