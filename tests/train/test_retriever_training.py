"""Contrastive training: pairs and their split, the check, the loss, what is written, going on after a kill."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longform.errors import InputError
from longform.train.pairs import Pair, question_key, read_pairs, split_pairs, with_titles
from longform.train.retrieval_check import RetrievalCheck

TOPICS = [
    "tea",
    "coffee",
    "milk",
    "water",
    "juice",
    "wine",
    "beer",
    "cocoa",
    "soup",
    "broth",
    "cider",
    "mead",
    "rum",
    "gin",
    "ale",
    "sake",
    "port",
    "sherry",
    "tonic",
    "punch",
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def drinks() -> list[dict[str, Any]]:
    """Forty questions whose answers share one word with them."""
    return [
        {"question": f"who makes {topic} number {copy}", "long_answer": f"It is {topic} {copy} that they brew there."}
        for topic in TOPICS
        for copy in (1, 2)
    ]


# The pairs.


def test_each_long_answer_makes_a_pair(tmp_path: Path) -> None:
    first = write(
        tmp_path / "first.jsonl",
        [
            {"question": "who  sang?", "long_answers": ["Ringo sang.", "It was\nRingo."], "pages": ["The Beatles"]},
            {"question": "no long answer", "short_answers": ["none"]},
        ],
    )
    second = write(
        tmp_path / "second.jsonl",
        [{"question": "Who sang", "long_answer": "ringo  sang."}, {"question": "who swam", "long_answer": "A pike."}],
    )
    pairs, counts = read_pairs([first, second])
    assert pairs == [
        Pair("who sang?", "Ringo sang.", ("The Beatles",)),
        Pair("who sang?", "It was Ringo.", ("The Beatles",)),
        Pair("who swam", "A pike."),
    ]
    assert counts == [2, 1]


def test_a_limit_is_spread_over_the_files(tmp_path: Path) -> None:
    many = write(tmp_path / "many.jsonl", drinks()[:30])
    few = write(tmp_path / "few.jsonl", drinks()[30:])
    pairs, counts = read_pairs([many, few], limit=8)
    assert (len(pairs), counts) == (8, [6, 2])


def test_files_that_give_nothing_are_named(tmp_path: Path) -> None:
    empty = write(tmp_path / "short.jsonl", [{"question": "who", "short_answers": ["she"]}])
    with pytest.raises(InputError, match=r"short\.jsonl has no question with a long answer"):
        read_pairs([empty])
    one = write(tmp_path / "one.jsonl", [{"question": "who", "long_answer": "She did."}])
    with pytest.raises(InputError, match="There is only one pair"):
        read_pairs([one])


TEXT = st.sampled_from(["tea", "milk", "wine", "rum", "gin", "ale", "port", "soup"])
PAIRS = st.builds(
    lambda question, answer, pages: Pair(f"who makes {question}", f"{answer} is made there", tuple(pages)),
    st.tuples(TEXT, st.integers(0, 9)),
    st.tuples(TEXT, st.integers(0, 9)),
    st.lists(st.integers(0, 40).map(str), max_size=2),
)


@given(st.lists(PAIRS, min_size=2, max_size=40, unique_by=lambda pair: pair.keys), st.integers(0, 3), st.randoms())
@settings(max_examples=60, deadline=None)
def test_the_parts_share_no_question_answer_or_page(pairs: list[Pair], seed: int, random: Any) -> None:
    try:
        training, held = split_pairs(pairs, 0.3, seed)
    except InputError:
        return
    assert sorted(training + held, key=lambda pair: pair.keys) == sorted(pairs, key=lambda pair: pair.keys)
    assert 0 < len(held) <= max(round(len(pairs) * 0.3), 1)

    def traits(part: list[Pair]) -> set[str]:
        return {trait for pair in part for trait in (*pair.keys, *(f"page {page}" for page in pair.pages))}

    assert not traits(training) & traits(held)
    shuffled = list(pairs)
    random.shuffle(shuffled)
    assert split_pairs(shuffled, 0.3, seed) == (training, held)


def test_pairs_that_all_hang_together_cannot_be_split() -> None:
    pairs = [Pair(f"who makes {topic}", f"{topic} there", ("Drinks",)) for topic in TOPICS]
    with pytest.raises(InputError, match="20 pairs of which all share pages or words cannot be split"):
        split_pairs(pairs, 0.1, 0)
    assert split_pairs(pairs, 0.0, 0)[1] == []


def test_a_title_stands_before_an_answer_of_one_page() -> None:
    pairs = [Pair("who sang", "Ringo.", ("Help!",)), Pair("who swam", "A pike.", ("Pike", "Lake")), Pair("who", "she")]
    assert [pair.answer for pair in with_titles(pairs)] == ["Help! Ringo.", "A pike.", "she"]


# The check.


def test_the_best_of_several_answers_counts_and_ties_do_not() -> None:
    check = RetrievalCheck([Pair("who sang", "a"), Pair("Who sang?", "b"), Pair("who swam", "c"), Pair("who ran", "a")])
    assert (check.questions, check.answers) == (["who sang", "who swam", "who ran"], ["a", "b", "c"])
    answers = np.eye(3, dtype=np.float32)
    questions = np.asarray([[0.1, 0.9, 0.5], [0.9, 0.5, 0.1], [1, 1, 1]], dtype=np.float32)
    assert check.ranks(questions, answers).tolist() == [1, 3, 3]


@given(st.integers(1, 12), st.integers(0, 100))
@settings(max_examples=30, deadline=None)
def test_scores_are_shares_and_a_perfect_encoder_has_one(count: int, seed: int) -> None:
    check = RetrievalCheck([Pair(f"who makes {number}", f"{number} is there") for number in range(count)])
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(count, 8)).astype(np.float32)
    scores = check.scores(lambda _: draw.normal(size=(count, 8)).astype(np.float32), lambda _: vectors)
    assert 0 <= scores.recall_at_1 <= scores.mrr <= 1
    assert scores.recall_at_1 <= scores.recall_at_5 <= 1
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert check.scores(lambda _: vectors, lambda _: vectors).mrr == 1


def test_questions_with_the_same_words_have_one_key() -> None:
    assert question_key("Who made the tea?") == question_key("tea: made who")
    assert question_key("???") == "???"


# Training.

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("sentence_transformers")
pytest.importorskip("onnx")


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models of two layers are faster on one thread, and far faster beside other work."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT with two layers that knows the words of the drinks."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    folder = tmp_path_factory.mktemp("bases") / "tiny"
    words = {
        word for row in drinks() for text in row.values() for word in BertPreTokenizer().pre_tokenize_str(text.lower())
    }
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(word for word, _ in words)]
    known = list(dict.fromkeys(known))
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(known),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=32,
        initializer_range=0.2,
    )
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer = Tokenizer(WordLevel({word: row for row, word in enumerate(known)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {f"{part}_token": f"[{part.upper()}]" for part in ("pad", "unk", "cls", "sep", "mask")}
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **special}))
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "drinks.jsonl", drinks())


def quick(**changes: Any) -> Any:
    from longform.train.retriever_settings import RetrieverSettings

    chosen = RetrieverSettings(
        epochs=12, batch=16, mini_batch=8, learning_rate=5e-3, max_length=24, validation=0.2, looks=2
    )
    return replace(chosen, **changes)


@pytest.mark.torch
def test_training_finds_more_answers_and_writes_an_encoder(base: Path, data: Path, tmp_path: Path) -> None:
    from longform.files import sha256_of
    from longform.models.encoder import Encoder
    from longform.train.retriever import train_retriever

    steps: list[Any] = []
    out = tmp_path / "mine"
    result = train_retriever([data], str(base), out, quick(), report=steps.append)
    assert (result.pairs, result.held_out) == (32, 8)
    assert result.before and result.after and result.exported and result.cosine and result.least_cosine
    assert result.after.mrr > result.before.mrr
    assert result.exported.mrr == pytest.approx(result.after.mrr, abs=0.1)
    assert 0.98 < result.least_cosine <= result.cosine <= 1.0001
    assert (steps[-1].done, steps[-1].total, steps[-1].stage) == (24, 24, "training")
    assert steps[-1].loss < steps[2].loss
    encoder = Encoder.load(out)
    assert (encoder.dimension, encoder.max_length, encoder.name) == (32, 32, "mine")
    assert not (out / "training").exists()
    card = (out / "README.md").read_text()
    for part in (sha256_of(data), "before training", "after, as exported", "| batch | 16 |", "32 pairs × 12 epochs"):
        assert part in card
    assert f"{result.exported.recall_at_1:.4f}" in card
    assert str(tmp_path) not in (out / "config.json").read_text()


@pytest.mark.torch
def test_a_stopped_run_goes_on_and_ends_as_if_it_had_not_been(base: Path, data: Path, tmp_path: Path) -> None:
    from longform.train.retriever import train_retriever

    whole = train_retriever([data], str(base), tmp_path / "whole", quick(epochs=4), int8=False)

    def stop(step: Any) -> None:
        if step.done == 6:
            raise KeyboardInterrupt

    out = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        train_retriever([data], str(base), out, quick(epochs=4), int8=False, report=stop)
    assert (out / "training" / "checkpoint-4" / "trainer_state.json").is_file()
    with pytest.raises(InputError, match=r"unfinished run with other settings \(seed\)"):
        train_retriever([data], str(base), out, quick(epochs=4, seed=1), int8=False)
    # What a kill in the middle of writing a checkpoint leaves.
    shutil.copytree(out / "training" / "checkpoint-4", out / "training" / "checkpoint-6")
    (out / "training" / "checkpoint-6" / "trainer_state.json").unlink()
    steps: list[int] = []
    result = train_retriever(
        [data], str(base), out, quick(epochs=4), int8=False, report=lambda step: steps.append(step.done)
    )
    assert steps == [5, 6, 7, 8]
    assert result.after == whole.after
    assert (out / "model.onnx").read_bytes() == (tmp_path / "whole" / "model.onnx").read_bytes()


@pytest.mark.torch
def test_cached_gradients_are_those_of_the_whole_batch(base: Path, data: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    from longform.train.contrast import encoder_model, encoder_settings, fit
    from longform.train.running import Checkpoints, no_report, quiet_training

    pairs, _ = read_pairs([data])
    found = []
    for part in (4, 40):
        chosen = quick(batch=40, mini_batch=part, epochs=1, warmup=0.0, validation=0.0)
        with quiet_training():
            model = encoder_model(base, chosen)
            # Dropout draws other numbers in parts than in the whole.
            for module in model.modules():
                if isinstance(module, torch.nn.Dropout):
                    module.p = 0.0
            for layer in model[0].model.encoder.layer:
                layer.attention.self.dropout.p = 0.0
            place = Checkpoints(tmp_path / f"part-{part}")
            fit(model, encoder_settings(base), pairs, RetrievalCheck([]), chosen, place, {}, no_report)
            model.save(str(tmp_path / f"model-{part}"), create_model_card=False)
        found.append(load_file(tmp_path / f"model-{part}" / "model.safetensors"))
    before = load_file(base / "model.safetensors")
    name = "encoder.layer.1.output.dense.weight"
    assert np.abs(found[0][name] - before[name]).max() > 1e-3
    # The first step of AdamW moves a weight by the rate whatever the gradient: a gradient of nearly 0 may fall on
    # either side of it, so nearly all weights and not all must agree.
    assert np.mean(np.abs(found[0][name] - found[1][name]) < 1e-4) > 0.99
    table = "embeddings.word_embeddings.weight"
    assert np.array_equal(found[0][table], before[table])


@pytest.mark.torch
def test_no_batch_holds_two_right_answers(data: Path) -> None:
    from longform.train.contrast import _batches

    pairs = read_pairs([data])[0]
    pairs += [Pair(pairs[0].question.upper() + "?", "Another answer."), Pair("another question", pairs[1].answer)]
    generator = torch.Generator()
    batches = list(_batches(pairs, batch_size=21, drop_last=False, generator=generator, seed=3))
    assert sorted(row for rows in batches for row in rows) == list(range(len(pairs)))
    for rows in batches:
        keys = [key for row in rows for key in pairs[row].keys]
        assert len(keys) == len(set(keys))
        lengths = [len(pairs[row].answer) for row in rows]
        assert lengths == sorted(lengths)


@pytest.mark.torch
def test_nothing_held_out(base: Path, data: Path, tmp_path: Path) -> None:
    from longform.train.retriever import train_retriever

    result = train_retriever([data], str(base), tmp_path / "mine", quick(epochs=1, validation=0.0), limit=20)
    assert (result.pairs, result.held_out, result.before, result.exported) == (20, 0, None, None)
    assert "Nothing was held out." in (tmp_path / "mine" / "README.md").read_text()


@pytest.mark.torch
def test_the_ablation_trains_each_size_once(base: Path, data: Path, tmp_path: Path) -> None:
    from longform.train.ablation import ablate_batch

    out = tmp_path / "ablation"

    def stop(step: Any) -> None:
        if step.stage == "batch 16":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ablate_batch([data], str(base), out, [4, 16], quick(epochs=2), report=stop)
    seen: list[tuple[str, int]] = []
    rows = ablate_batch(
        [data], str(base), out, [4, 16], quick(epochs=2), report=lambda step: seen.append((step.stage, step.total))
    )
    assert set(seen) == {("batch 16", 4)}
    assert [(row.batch, row.steps) for row in rows] == [(None, 0), (4, 16), (16, 4)]
    card = (out / "README.md").read_text()
    assert "| base, not trained | – | – |" in card
    assert f"| 16 | 4 | {rows[2].loss:.4f} | {rows[2].scores.recall_at_1:.4f} |" in card
    assert sorted(path.name for path in out.iterdir()) == ["README.md", "rows.json"]
    with pytest.raises(InputError, match="holds an ablation with other settings"):
        ablate_batch([data], str(base), out, [4, 16], quick(epochs=3))


@pytest.mark.torch
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch": 1}, "batch must be at least 2"),
        ({"mini_batch": 0}, "mini batch must be at least 1, not 0"),
        ({"max_length": 3}, "max length must be at least 8"),
        ({"epochs": 0}, "epochs must be above 0"),
        ({"learning_rate": -1.0}, "learning rate must be above 0"),
        ({"scale": 0.0}, "scale must be above 0"),
        ({"validation": 1.0}, "validation must be at least 0 and below 1"),
        ({"warmup": 1.0}, "warmup must be at least 0 and below 1"),
        ({"max_length": 64}, "has 32 positions: set --max-length to 32 or less"),
    ],
)
def test_settings_that_cannot_be_meant(
    changes: dict[str, Any], message: str, base: Path, data: Path, tmp_path: Path
) -> None:
    from longform.train.retriever import train_retriever

    with pytest.raises(InputError, match=message):
        train_retriever([data], str(base), tmp_path / "mine", quick(**changes))


@pytest.mark.torch
def test_ablations_that_cannot_be_meant(base: Path, data: Path, tmp_path: Path) -> None:
    from longform.train.ablation import ablate_batch
    from longform.train.retriever import train_retriever

    def ablation(sizes: list[int], **changes: Any) -> Callable[[], Any]:
        return lambda: ablate_batch([data], str(base), tmp_path / "out", sizes, quick(**changes))

    for run, message in (
        (ablation([]), "Give two or more different batch sizes"),
        (ablation([4, 4]), "Give two or more different batch sizes"),
        (ablation([1, 4]), "batch must be at least 2"),
        (ablation([4, 400]), "There are 32 pairs to train on, fewer than a batch of 400"),
        (ablation([4, 8], validation=0.0), "An ablation needs held-out questions"),
        (lambda: train_retriever([data], str(base), tmp_path / "out", quick(), limit=1), "limit must be at least 2"),
        (lambda: train_retriever([data], str(base), data, quick()), "is a file: name a folder"),
    ):
        with pytest.raises(InputError, match=message):
            run()
