"""Fine-tuning a writer: its data, its tokens, that it learns, what it writes, and going on after a kill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from killed import killed_and_finished
from tiny_llama import byte_tokenizer, random_llama, write_gguf

from longform import Index, Passage
from longform.corpus import TrainingQuestion
from longform.errors import FailureError, InputError
from longform.records import Hit
from longform.train.generator_data import examples_of, find_hits, open_reranker, read_answered
from longform.train.generator_settings import GeneratorSettings

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("peft")

from longform.train.generator import train_generator  # noqa: E402
from longform.train.generator_fit import _answer_loss, add_lora, held_out_loss  # noqa: E402
from longform.train.generator_tokens import IGNORED, Row, Text, collate, rows_of  # noqa: E402
from longform.train.likelihood import CausalModel  # noqa: E402

TOPICS = ["tea", "coffee", "milk", "wine", "cider", "mead", "rum", "gin", "ale", "sake", "port", "soup"]
SMALL = GeneratorSettings(
    k=2,
    pool=4,
    epochs=4.0,
    batch=4,
    mini_batch=2,
    learning_rate=1e-2,
    rank=4,
    alpha=8,
    max_length=1900,
    validation=0.25,
    looks=2,
)


def passage(name: str, title: str, text: str) -> Passage:
    return Passage(name, name, title, text, 0, len(text))


def hits_of(*texts: str) -> tuple[Hit, ...]:
    return tuple(Hit(passage(str(rank), "t", text), rank, 0.0) for rank, text in enumerate(texts, 1))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    passages = [
        passage(f"{topic}-{number}", topic, f"They drink {topic} {number} with honey.")
        for topic in TOPICS
        for number in (1, 2, 3)
    ]
    return Index.create(tmp_path_factory.mktemp("index") / "drinks.index", passages).folder


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "qa.jsonl"
    rows = [
        {"id": f"q-{topic}", "question": f"who drinks {topic}?", "long_answer": f"They drink\n{topic} with honey."}
        for topic in TOPICS
    ]
    rows.append({"id": "short", "question": "who drinks?", "short_answers": ["they"]})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bases") / "llama"
    random_llama(1900, 64).save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return folder


# Data.


def test_only_questions_with_long_answers_count(questions: Path, tmp_path: Path) -> None:
    assert len(read_answered(str(questions))) == len(TOPICS)
    excluded = tmp_path / "ids.json"
    excluded.write_text(json.dumps(["q-tea", "q-milk"]))
    found = read_answered(str(questions), exclude=str(excluded), limit=3)
    assert [question.id for question in found] == ["q-coffee", "q-wine", "q-cider"]
    short = tmp_path / "short.jsonl"
    short.write_text('{"question": "who?", "short_answers": ["they"]}\n')
    with pytest.raises(
        InputError, match=r"short\.jsonl has no question with a long answer, where fine-tuning needs two"
    ):
        read_answered(str(short))


@settings(deadline=None)
@given(count=st.integers(2, 40), share=st.floats(0, 0.9), seed=st.integers(0, 3))
def test_the_split_keeps_every_answer_once_and_questions_together(count: int, share: float, seed: int) -> None:
    asked = [TrainingQuestion(str(n), "Who?", ("She  did.",) * (1 + n % 3)) for n in range(count)]
    hits = [hits_of("a")] * count
    training, held = examples_of(asked, hits, share, seed)
    assert len(training) + len(held) == sum(len(question.long_answers) for question in asked)
    assert not {row.id for row in training} & {row.id for row in held}
    assert training
    assert bool(held) == bool(share)
    assert {row.answer for row in training} == {"She did."}
    assert examples_of(asked[::-1], hits, share, seed) == (training, held)


def test_nothing_found_is_told() -> None:
    asked = [TrainingQuestion(str(n), "Who?", ("She.",)) for n in range(3)]
    with pytest.raises(InputError, match="has passages for fewer than two of the questions"):
        examples_of(asked, [(), (), hits_of("a")], 0.1, 0)


def test_passages_are_found_once_and_kept(index: Path, questions: Path, tmp_path: Path) -> None:
    opened, asked = Index.open(index), read_answered(str(questions))

    class Backwards:
        seen = 0

        def rerank(self, question: str, hits: Sequence[Hit], k: int | None = None) -> list[Hit]:
            Backwards.seen += 1
            return sorted(hits, key=lambda hit: hit.passage.id, reverse=True)[:k]

    file = tmp_path / "passages.jsonl"
    whole = find_hits(opened, asked, Backwards(), 2, 3, file)
    assert [hit.passage.id for hit in whole[0]] == ["tea-3", "tea-2"]
    lines = file.read_bytes()
    # What a kill in the middle of a line leaves.
    for kept in (0, 4, len(asked)):
        rows = lines.splitlines(keepends=True)
        file.write_bytes(b"".join(rows[:kept]) + (rows[kept][:9] if kept < len(rows) else b""))
        Backwards.seen = 0
        assert find_hits(opened, asked, Backwards(), 2, 3, file) == whole
        assert Backwards.seen == len(asked) - kept
        assert file.read_bytes() == lines
    plain = find_hits(opened, asked, None, 2, 3, tmp_path / "plain.jsonl")
    assert [[hit.passage.id for hit in hits] for hits in plain] == [
        [hit.passage.id for hit in opened.search(question.question, 2)] for question in asked
    ]


def test_re_rankers_by_name(index: Path) -> None:
    opened = Index.open(index)
    assert open_reranker("none", opened).model is None
    similar = open_reranker("similarity", opened)
    assert (similar.name, len(similar.fingerprint) > 0) == ("similarity", True)
    assert open_reranker(None, opened).name in ("similarity", "reranker")
    with pytest.raises(InputError, match="There is no re-ranker nothing"):
        open_reranker("nothing", opened)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"prompt": "poem"}, "There is no prompt poem: choose instruct or asqa"),
        ({"k": 0}, "k must be at least 1, not 0"),
        ({"rank": 0}, "rank must be at least 1"),
        ({"pool": 1}, "A pool of 1 is too small to choose 2 passages from"),
        ({"epochs": float("nan")}, "epochs must be above 0"),
        ({"learning_rate": 0.0}, "learning rate must be above 0"),
        ({"validation": 1.0}, "validation must be at least 0 and below 1"),
        ({"dropout": -0.1}, "dropout must be at least 0 and below 1"),
        ({"weight_decay": -1.0}, "weight decay must not be negative"),
        ({"batch": 3}, "batch must be a multiple of mini batch, and 3 is none of 2"),
        ({"max_length": 63}, "max length must be at least 64 tokens, not 63"),
    ],
)
def test_settings_that_cannot_be_meant(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        replace(SMALL, **change).check()


# Tokens.


def plain_prompt(question: str, hits: Sequence[Hit], answer: str) -> Text:
    return Text("|".join([*(hit.passage.text for hit in hits), question]), answer, "</s>", special=True)


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.text("abc é日", min_size=1, max_size=90), min_size=1, max_size=4),
    answer=st.text("xyz ü", min_size=1, max_size=40).filter(str.strip),
    length=st.integers(64, 200),
)
def test_passages_are_cut_and_answers_never(texts: list[str], answer: str, length: int) -> None:
    from longform.train.generator_data import Example

    tokenizer = byte_tokenizer()
    example = Example("1", "who?", hits_of(*texts), answer)
    found = rows_of([example], plain_prompt, tokenizer, length)
    uncut = rows_of([example], plain_prompt, tokenizer, 10_000).rows[0]
    assert found.left_out == 1 - len(found.rows)
    for row in found.rows:
        assert len(row.ids) <= length
        written = tokenizer.decode(row.ids[row.prompt :])
        assert written == f" {answer}</s>"
        prompt = tokenizer.decode(row.ids[: row.prompt], errors="ignore")
        assert prompt.startswith("<s>") and prompt.endswith("|who?")
        assert (row == uncut) == (found.cut == 0)
        # One token more of the longest passages would not fit.
        if found.cut:
            assert len(row.ids) > length - 4 * len(texts) - 1 or len(row.ids) == len(uncut.ids)


def test_an_example_without_room_for_passages_is_left_out() -> None:
    from longform.train.generator_data import Example

    long = Example("1", "who?", hits_of("word " * 60), "a" * 70)
    found = rows_of([long], plain_prompt, byte_tokenizer(), 64)
    assert (found.rows, found.cut, found.left_out) == ([], 0, 1)


def test_an_answer_behind_white_space_gets_no_space() -> None:
    from longform.train.generator_data import Example

    tokenizer = byte_tokenizer()
    example = Example("1", "who?", hits_of("a"), "She.")
    row = rows_of([example], lambda *_: Text("who?\n", "She.", "</s>", special=False), tokenizer, 64).rows[0]
    assert tokenizer.decode(row.ids[: row.prompt]) == "who?\n"
    assert tokenizer.decode(row.ids[row.prompt :]) == "She.</s>"


def test_only_answers_are_learnt() -> None:
    batch = collate([Row((5, 6, 7, 8), 2), Row((5, 6, 7), 1)], 0, keep=True)
    assert batch["input_ids"].tolist() == [[5, 6, 7, 8], [5, 6, 7, 0]]
    assert batch["labels"].tolist() == [[IGNORED, IGNORED, 7, 8], [IGNORED, 6, 7, IGNORED]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 1, 0]]
    assert batch["logits_to_keep"] == 4
    assert "logits_to_keep" not in collate([Row((5, 6), 1)], 0, keep=False)


def test_the_loss_is_the_log_likelihood_of_the_answer(base: Path) -> None:
    opened = CausalModel.load(base)
    rows = [Row((0, 10, 11, 12, 13), 3), Row((0, 20, 21), 1)]
    total = 0.0
    for row in rows:
        with torch.inference_mode():
            told = torch.log_softmax(opened._model(input_ids=torch.tensor([row.ids])).logits[0].double(), dim=-1)
        total -= sum(float(told[place - 1, row.ids[place]]) for place in range(row.prompt, len(row.ids)))
    assert held_out_loss(opened._model, rows) == pytest.approx(total / 4, abs=1e-5)
    for keep in (True, False):
        batch = collate(rows, 0, keep=keep)
        labels = batch.pop("labels")
        with torch.inference_mode():
            assert float(_answer_loss(opened._model(**batch), labels)) == pytest.approx(total / 4, abs=1e-5)
            assert float(_answer_loss(opened._model(**batch), labels, 8)) == pytest.approx(total / 8, abs=1e-5)


def test_additions_are_nothing_at_first_and_do_not_touch_the_last_layer(base: Path) -> None:
    rows = [Row((0, 10, 11, 12), 2)]
    opened = CausalModel.load(base)
    before = held_out_loss(opened._model, rows)
    model = add_lora(opened._model, SMALL, "llama")
    assert held_out_loss(model, rows) == pytest.approx(before, abs=1e-6)
    learning = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    assert all("lora_" in name and "lm_head" not in name and "embed" not in name for name in learning)
    assert len(learning) == 2 * 7 * model.config.num_hidden_layers


# The prompt.

TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ END }}\n{% endfor %}"
TEMPLATE += "{% if add_generation_prompt %}<assistant>\n{% endif %}"


@pytest.mark.parametrize("end", ["</s>", "!"])
def test_a_writer_learns_behind_the_prompt_that_it_will_be_given(base: Path, end: str) -> None:
    from longform.answer.prompts import make_prompt
    from longform.train.generator_data import Example
    from longform.train.generator_prompt import prompter_of
    from longform.train.writer_model import WriterModel

    opened = CausalModel.load(base)
    tokenizer = opened._tokenizer
    example = Example(
        "1", "who drinks tea?", hits_of("They drink tea.", "And [1] milk."), "They drink tea.[7] So they do."
    )
    for template in (None, TEMPLATE.replace("{{ END }}", end).replace("<assistant>\n", "<assistant>")):
        tokenizer.chat_template = template
        for style, best_last in (("instruct", False), ("asqa", True)):
            chosen = replace(SMALL, prompt=style, best_last=best_last)
            row = rows_of([example], prompter_of(chosen, opened), tokenizer, 10_000).rows[0]
            asked = make_prompt(
                example.question,
                example.hits,
                count=len,
                context=100_000,
                max_tokens=100,
                style=style,
                words=5,
                best_last=best_last,
            )
            assert list(row.ids[: row.prompt]) == WriterModel("x", 100_000, opened)._prompt(asked.messages)
            written = tokenizer.decode(row.ids[row.prompt :])
            marked = "They drink tea [1]. So they do.</s>" if style == "instruct" else "They drink tea. So they do.</s>"
            assert written.strip() == marked
    assert (
        "[1]"
        not in tokenizer.decode(
            rows_of([example], prompter_of(replace(SMALL, cite=False), opened), tokenizer, 10_000).rows[0].ids
        ).rpartition("paragraph.")[2]
    )


def test_a_tokenizer_without_an_end_is_refused(base: Path) -> None:
    from longform.train.generator_prompt import prompter_of

    opened = CausalModel.load(base)
    opened._tokenizer.eos_token = None
    with pytest.raises(InputError, match="has no token that ends a text, and would never stop writing"):
        prompter_of(SMALL, opened)


# The whole.


@pytest.mark.torch
def test_it_learns_and_writes_what_it_learnt(index: Path, questions: Path, base: Path, tmp_path: Path) -> None:
    from longform.files import sha256_of

    steps: list[Any] = []
    out = tmp_path / "mine"
    result = train_generator(
        index, questions, str(base), out, replace(SMALL, epochs=10.0), rerank="none", report=steps.append
    )
    assert (result.examples, result.held_out, result.gguf) == (9, 3, None)
    assert result.before is not None and result.after is not None and result.exported is not None
    assert result.after < result.before - 0.5
    assert result.exported == pytest.approx(result.after, abs=1e-3)
    assert [step for step, _ in result.looks] == [11, 22, 23]
    assert result.after == pytest.approx(min(loss for _, loss in result.looks), abs=1e-3)
    training = [step for step in steps if step.stage == "training"]
    assert (training[-1].done, training[-1].total) == (23, 23)
    assert training[-1].loss is not None and training[-1].loss < training[1].loss
    names = {path.name for path in out.iterdir()}
    assert names >= {"README.md", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert not names & {"training", "export", "adapter_config.json", "model.gguf"}
    card = (out / "README.md").read_text()
    for part in (
        sha256_of(questions),
        sha256_of(base / "model.safetensors"),
        f"| before training | {result.before:.4f} |",
        f"| as exported | {result.exported:.4f} |",
        "| rank | 4 |",
        "re-ranked by none",
    ):
        assert part in card
    opened = CausalModel.load(out)
    tuned, plain = (
        model.log_likelihoods(["who drinks tea? They drink"], [" tea with honey."])
        for model in (opened, CausalModel.load(base))
    )
    assert tuned > plain
    with pytest.raises(InputError, match="mine holds a model already"):
        train_generator(index, questions, str(base), out, SMALL, rerank="none")


@pytest.mark.torch
def test_a_stopped_run_goes_on_and_ends_as_if_it_had_not_been(
    index: Path, questions: Path, base: Path, tmp_path: Path
) -> None:
    def run(out: Path, settings: GeneratorSettings = SMALL, **options: Any) -> Any:
        return train_generator(index, questions, str(base), out, settings, rerank="none", **options)

    whole = run(tmp_path / "whole")
    out = tmp_path / "stopped"

    def stop(step: Any) -> None:
        if step.stage == "training" and step.done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(out, report=stop)
    with pytest.raises(InputError, match=r"unfinished run with other settings \(rank\)"):
        run(out, replace(SMALL, rank=2))
    with pytest.raises(InputError, match=r"unfinished run with other settings \(limit\)"):
        run(out, limit=8)
    seen: list[int] = []
    result = run(out, report=lambda step: seen.append(step.done) if step.stage == "training" else None)
    assert seen == [5, 6, 7, 8, 9]
    assert (result.before, result.looks) == (whole.before, whole.looks)
    assert (out / "model.safetensors").read_bytes() == (tmp_path / "whole" / "model.safetensors").read_bytes()


@pytest.mark.torch
def test_a_run_that_was_stopped_while_it_was_written_is_written(
    index: Path, questions: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import longform.train.generator_export as export

    def run(**options: Any) -> Any:
        return train_generator(index, questions, str(base), tmp_path / "mine", SMALL, rerank="none", **options)

    with monkeypatch.context() as patch:
        patch.setitem(export.TOLERANCE, "fp16", -1.0)
        with pytest.raises(FailureError, match=r"written as export \(fp16\) is not the one that was trained: its loss"):
            run(precision="fp16")
    assert not (tmp_path / "mine" / "config.json").exists()
    seen: list[Any] = []
    result = run(precision="bf16", report=seen.append)
    assert not [step for step in seen if step.stage == "training"], "it trained again"
    assert len(result.looks) == 3
    assert result.after == pytest.approx(min(loss for _, loss in result.looks), abs=1e-3)
    assert json.loads((tmp_path / "mine" / "config.json").read_text())["dtype"] == "bfloat16"


@pytest.mark.torch
def test_nothing_held_out(index: Path, questions: Path, base: Path, tmp_path: Path) -> None:
    chosen = replace(SMALL, epochs=1.0, validation=0.0)
    result = train_generator(index, questions, str(base), tmp_path / "mine", chosen, rerank="none", limit=4)
    assert (result.examples, result.held_out, result.before, result.after, result.exported) == (4, 0, None, None, None)
    assert "Nothing was held out." in (tmp_path / "mine" / "README.md").read_text()


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["f16", "q8_0"])
def test_a_gguf_base_gives_a_gguf(index: Path, questions: Path, tmp_path: Path, kind: str) -> None:
    gguf = pytest.importorskip("gguf")
    path = tmp_path / "tiny.gguf"
    write_gguf(path, random_llama(1900, 64))
    result = train_generator(index, questions, str(path), tmp_path / "mine", SMALL, rerank="none", gguf=kind)
    assert result.gguf == tmp_path / "mine" / "model.gguf"
    assert result.exported_gguf == pytest.approx(result.after, abs=3e-2)
    assert result.after is not None and result.before is not None and result.after < result.before - 0.2
    written, taken = gguf.GGUFReader(result.gguf), gguf.GGUFReader(path)
    assert {tensor.name for tensor in written.tensors} == {tensor.name for tensor in taken.tensors}
    assert written.get_field("tokenizer.ggml.pre").contents() == "smollm"
    assert written.get_field("general.name").contents() == "mine"
    kinds = {tensor.name: tensor.tensor_type.name for tensor in written.tensors}
    assert kinds["blk.0.attn_q.weight"] == kind.upper()
    assert kinds["output_norm.weight"] == "F32"
    # Number by number against the folder, which was written from the same weights.
    text = torch.tensor([[0, 10, 40, 30, 20, 11]])
    with torch.inference_mode():
        ours, folder = (CausalModel.load(place)._model(input_ids=text).logits for place in (result.gguf, result.folder))
    assert torch.allclose(ours, folder, atol=0.02 if kind == "f16" else 0.3)
    assert "as exported to GGUF" in (tmp_path / "mine" / "README.md").read_text()


@pytest.mark.torch
def test_mistakes_are_told_before_anything_is_made(index: Path, questions: Path, base: Path, tmp_path: Path) -> None:
    out = tmp_path / "mine"

    def run(changes: dict[str, Any] | None = None, **options: Any) -> None:
        named = {"index": index, "questions": questions, "base": str(base), "out": out, "rerank": "none", **options}
        places = [named.pop(name) for name in ("index", "questions", "base", "out")]
        train_generator(*places, replace(SMALL, **(changes or {})), **named)

    for changes, options, sentence in (
        ({"max_length": 2048}, {}, "reads 1,900 tokens at once: set --max-length to that or less"),
        ({}, {"base": "nothing"}, "There is no language model nothing"),
        ({}, {"rerank": "nothing"}, "There is no re-ranker nothing"),
        ({}, {"index": tmp_path / "none.index"}, "none.index"),
        ({}, {"questions": tmp_path / "none.jsonl"}, "none.jsonl does not exist"),
        ({}, {"questions": "-"}, "--questions must name a file"),
        ({}, {"exclude": str(tmp_path / "ids")}, "ids does not exist"),
        ({}, {"split": "dev"}, "has no splits"),
        ({}, {"limit": 1}, "limit must be at least 2, not 1"),
        ({}, {"precision": "fp8"}, "There is no precision fp8"),
        ({}, {"gguf": "q2"}, "There is no kind of GGUF q2"),
        ({}, {"out": questions}, "qa.jsonl is a file: name a folder"),
        ({"k": 0}, {}, "k must be at least 1"),
    ):
        with pytest.raises(InputError) as caught:
            run(changes, **options)
        assert sentence in str(caught.value)
    assert not out.exists()


@pytest.mark.torch
@pytest.mark.long
def test_a_killed_training_goes_on_from_its_checkpoint(
    index: Path, questions: Path, base: Path, tmp_path: Path
) -> None:
    out = tmp_path / "mine"
    options = "--rerank none -k 2 --pool 4 --epochs 10 --batch 4 --learning-rate 0.01 --rank 4 --max-length 1900"
    words = ["train", "generator", "--index", index, "--questions", questions, "--base", base, "--out", out]
    words += [*options.split(), "--validation", "0.25", "--looks", "8"]
    printed = killed_and_finished(list(map(str, words)), out, "config.json")
    assert "Loss of a token of 3 held-out answers" in printed
