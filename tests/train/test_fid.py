"""A tiny T5 of random weights learns to list what its passages say, is written and described; killed, it goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from longform.errors import InputError
from longform.records import Hit, Passage
from longform.train.fid_data import FidExample, FidPassage, fid_target, read_fid, split_fid
from longform.train.fid_settings import FidSettings

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("accelerate")
torch.set_num_threads(1)

WORDS = [
    "question:",
    "title:",
    "context:",
    "who",
    "sang",
    "danced",
    "anna",
    "bert",
    "carl",
    "dora",
    "|",
    "not",
    "relevant",
]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A T5 of two layers and 24 words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder = tmp_path_factory.mktemp("tiny-t5")
    pieces = {word: row for row, word in enumerate(["<pad>", "</s>", "<unk>", *WORDS])}
    made = Tokenizer(models.WordLevel(pieces, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    fast.save_pretrained(folder)
    torch.manual_seed(3)
    config = transformers.T5Config(
        vocab_size=len(pieces),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        dropout_rate=0.0,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
    )
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


SANG = {"id": "1", "question": "who sang", "answers": ["anna", "dora"]}
SANG["ctxs"] = [{"title": "anna", "text": "anna sang"}, {"title": "bert", "text": "bert danced"}, {"text": "dora sang"}]
DANCED = {"id": "2", "question": "who danced", "answers": [["bert"], ["carl", "carlo"]]}
DANCED["ctxs"] = [{"title": "", "text": "carl danced"}, {"title": "", "text": "bert danced"}]


def rows(folder: Path, *content: Any) -> Path:
    path = folder / "lists.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
    return path


def twice(folder: Path, copies: int = 4) -> Path:
    """The same two questions again and again, so that what is held out has been learnt too."""
    return rows(folder, *({**row, "id": f"{row['id']}-{n}"} for n in range(copies) for row in (SANG, DANCED)))


FAST = FidSettings(
    passages=3, max_length=16, answer_length=8, epochs=30, batch=2, accumulate=1, learning_rate=5e-3, held_out=0.3
)


@pytest.fixture(scope="module")
def trained(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    from longform.train.fid import train_fid

    folder = tmp_path_factory.mktemp("fid")
    losses: list[float] = []
    result = train_fid(
        twice(folder),
        folder / "model",
        base=tiny,
        settings=FAST,
        report=lambda step: losses.append(step.loss) if step.loss is not None else None,
    )
    return result, losses


def examples() -> list[FidExample]:
    made = []
    for row in (SANG, DANCED):
        passages = tuple(FidPassage(one.get("title", ""), one["text"]) for one in row["ctxs"])
        names = tuple((answer,) if isinstance(answer, str) else tuple(answer) for answer in row["answers"])
        made.append(FidExample(row["id"], row["question"], names, passages))
    return made


def test_the_loss_falls_and_two_questions_are_learnt_by_heart(trained: Any) -> None:
    from longform.train.fid_model import FidReader

    result, losses = trained
    assert losses[0] > 1 and losses[-1] < 0.1
    assert result.after.loss < result.before.loss / 5
    assert result.after.f1 == 1.0 and result.before.f1 < 1.0
    reader = FidReader.load(result.folder)
    assert reader.max_length == 16 and reader.answer_length == 8
    for example in examples():
        written = reader.read(example.question, example.passages)
        assert " | ".join(written) == fid_target(example, 3)
    assert reader.read("who sang", []) == []


def test_the_folder_has_a_card_and_no_leftovers(trained: Any) -> None:
    result, _ = trained
    names = {path.name for path in result.folder.iterdir()}
    assert {"README.md", "config.json", "model.safetensors", "tokenizer.json"} <= names and "training" not in names
    card = (result.folder / "README.md").read_text(encoding="utf-8")
    assert "lists.jsonl" in card and "| f1 |" in card and "learning rate" in card
    assert result.counts == {"train": 6, "held_out": 2}


def test_the_decoder_sees_every_passage_and_no_padding(trained: Any) -> None:
    from longform.train.fid import collate
    from longform.train.fid_model import FidReader, fused

    result, _ = trained
    reader = FidReader.load(result.folder)
    sang, danced = examples()
    batch = collate(reader, [sang, danced], 3)
    assert batch["input_ids"].shape[:2] == (2, 3)
    assert int(batch["attention_mask"][1, 2].sum()) == 0  # the second question has two passages
    with torch.inference_mode():
        states, mask = fused(reader.model, batch["input_ids"], batch["attention_mask"])
        assert states[0].shape[:2] == mask.shape == (2, batch["input_ids"].shape[1] * batch["input_ids"].shape[2])
        both = reader.model(encoder_outputs=states, attention_mask=mask, labels=batch["labels"]).logits
        alone = collate(reader, [danced], 3)
        states, mask = fused(reader.model, alone["input_ids"], alone["attention_mask"])
        one = reader.model(encoder_outputs=states, attention_mask=mask, labels=alone["labels"]).logits
        # Padding, of tokens and of whole passages, changes nothing.
        assert torch.allclose(both[1, : one.shape[1]], one[0], atol=1e-4)
        for place in range(2):
            changed = {name: value.clone() for name, value in alone.items()}
            changed["input_ids"][0, place, -3:] = 2
            states, mask = fused(reader.model, changed["input_ids"], changed["attention_mask"])
            other = reader.model(encoder_outputs=states, attention_mask=mask, labels=alone["labels"]).logits
            assert not torch.allclose(one, other, atol=1e-3), f"passage {place} does not matter"


def test_a_lister_cites_every_passage_that_holds_a_name(trained: Any) -> None:
    from longform.train.fid_lister import FidLister
    from longform.train.fid_model import FidReader

    result, _ = trained
    lister = FidLister(FidReader.load(result.folder), passages=3)
    hits = [
        Hit(Passage(str(n), str(n), one.title, one.text, 0, len(one.text)), n, 3.0 - n)
        for n, one in enumerate(examples()[0].passages, 1)
    ]
    answer = lister.answer("who sang", hits)
    assert answer.text == "1. anna [1]\n2. dora [2]"
    assert [hit.passage.text for hit in answer.passages] == ["anna sang", "dora sang"]
    assert (lister.wants, lister.name, answer.model) == (3, "list:model", "list:model")
    # Names that no passage holds are left out, and the list says so.
    others = [Hit(Passage("9", "9", "", "who sang", 0, 8), 1, 1.0)]
    nothing = lister.answer("who sang", others)
    assert not nothing.answered and nothing.items == ()
    if lister.reader.read("who sang", [FidPassage("", "who sang")]):
        assert "stand in no passage were left out" in nothing.warnings[0]
    with pytest.raises(InputError, match="at least 1 passage"):
        FidLister(lister.reader, passages=0)


RUN = """
import os, sys
from pathlib import Path
from longform.train.fid import FidSettings, train_fid
def report(step):
    if step.stage == "training" and step.done == int(sys.argv[4]):
        os.kill(os.getpid(), 9)
settings = FidSettings(passages=3, max_length=16, answer_length=8, epochs=4, batch=2, accumulate=1, learning_rate=5e-3,
                       held_out=0.3, save_steps=3)
train_fid(sys.argv[1], sys.argv[2], base=sys.argv[3], settings=settings, report=report)
"""


@pytest.mark.long
def test_a_killed_run_goes_on_and_comes_to_the_same_weights(tiny: Path, tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    data = twice(tmp_path)

    def run(out: str, die: int) -> int:
        command = [sys.executable, "-c", RUN, str(data), str(tmp_path / out), str(tiny), str(die)]
        return subprocess.run(command, check=False, capture_output=True).returncode

    assert run("whole", -1) == 0
    assert run("cut", 8) == -signal.SIGKILL
    assert (tmp_path / "cut" / "training" / "checkpoint-6").is_dir()
    assert run("cut", -1) == 0
    whole, cut = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "cut"))
    assert whole.keys() == cut.keys() and all((whole[name] == cut[name]).all() for name in whole)


def test_another_run_in_the_same_folder_is_refused(tiny: Path, tmp_path: Path) -> None:
    from longform.train.fid import train_fid

    data = twice(tmp_path, 1)

    class StoppedError(Exception):
        pass

    def stop(step: Any) -> None:
        if step.stage == "training":
            raise StoppedError

    with pytest.raises(StoppedError):
        train_fid(data, tmp_path / "out", base=tiny, settings=FAST, report=stop)
    with pytest.raises(InputError, match=r"unfinished run with other settings \(seed\)"):
        train_fid(data, tmp_path / "out", base=tiny, settings=FidSettings(seed=5, **_kept(FAST)))


def _kept(settings: FidSettings) -> dict[str, Any]:
    from dataclasses import asdict

    return {name: value for name, value in asdict(settings).items() if name != "seed"}


def test_the_command_trains_with_passages_of_an_index(tiny: Path, tmp_path: Path) -> None:
    from longform.cli.app import app
    from longform.retrieve import Index

    texts = ["anna sang", "bert danced", "dora sang", "carl danced"]
    Index.create(tmp_path / "my.index", [Passage(text, text, "", text, 0, len(text)) for text in texts])
    bare = [{name: value for name, value in row.items() if name != "ctxs"} for row in (SANG, DANCED)]
    data = rows(tmp_path, *bare)
    out = tmp_path / "my-fid"
    common = ["train", "fid", "--data", str(data), "--base", str(tiny), "--out", str(out), "--epochs", "1"]
    sizes = ["--passages", "2", "--max-length", "16", "--answer-length", "8"]
    found = CliRunner().invoke(app, [*common, *sizes, "--index", str(tmp_path / "my.index"), "--json"])
    assert found.exit_code == 0, found.output
    content = json.loads(found.stdout.splitlines()[-1])
    assert content["counts"] == {"train": 1, "held_out": 1} and set(content["after"]) == set(content["before"])
    assert "Passages from the index `my.index`" in (out / "README.md").read_text(encoding="utf-8")
    again = CliRunner().invoke(app, [*common, *sizes, "--index", str(tmp_path / "my.index")])
    assert isinstance(again.exception, InputError) or "holds a model already" in again.output


def test_targets_follow_the_passages() -> None:
    sang, danced = examples()
    assert fid_target(sang, 3) == "anna | dora"
    assert fid_target(sang, 1) == "anna"
    assert fid_target(danced, 2) == "carl | bert"
    assert fid_target(FidExample("3", "who", (("zoe",),), sang.passages), 3) == "not relevant"


def test_splits_are_by_seed_and_never_empty() -> None:
    many = [FidExample(str(n), "who", (), ()) for n in range(20)]
    learnt, held = split_fid(many, 0.1, None, 0)
    assert len(learnt) == 18 and len(held) == 2 and not {one.id for one in learnt} & {one.id for one in held}
    assert split_fid(many, 0.1, None, 0) == (learnt, held) != split_fid(many, 0.1, None, 1)
    assert [len(part) for part in split_fid(many[:2], 0.01, None, 0)] == [1, 1]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"answers": ["a"], "ctxs": []}, "row 1 has no question"),
        ({"question": "who", "answers": ["a"]}, "has no passages: add `ctxs` to it, or name an index"),
        ({"question": "who", "answers": ["a"], "ctxs": []}, "has an empty list of passages"),
        ({"question": "who", "answers": ["a"], "ctxs": ["x"]}, "must be a list of objects with `title` and `text`"),
        ({"question": "who", "answers": "a", "ctxs": [{"text": "x"}]}, "answers must be a list of strings"),
        ({"question": "who", "answers": [[]], "ctxs": [{"text": "x"}]}, "answers must be a list of strings"),
    ],
)
def test_broken_rows_are_named(broken: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_fid(rows(tmp_path, broken, SANG))


def test_other_mistakes_are_named(tiny: Path, tmp_path: Path) -> None:
    from longform.train.fid import train_fid
    from longform.train.fid_model import open_fid

    with pytest.raises(InputError, match="the id 1 stands twice"):
        read_fid(rows(tmp_path, SANG, SANG))
    with pytest.raises(InputError, match="has 1 questions: at least 2 are needed"):
        read_fid(rows(tmp_path, SANG))
    with pytest.raises(InputError, match="is no folder: --base takes a T5-family model"):
        train_fid(twice(tmp_path), tmp_path / "out", base=tmp_path / "none")
    with pytest.raises(InputError, match=r"no model folder: it has no config\.json"):
        open_fid(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="is a bert model: Fusion-in-Decoder reads with the T5 family"):
        open_fid(tmp_path)
    (tmp_path / "config.json").write_text((tiny / "config.json").read_text())
    with pytest.raises(InputError, match="cannot be opened as a T5 model by transformers"):
        open_fid(tmp_path)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epochs": 0}, "--epochs must be 1 or more, not 0"),
        ({"max_length": 8}, "--max-length must be 16 or more, not 8"),
        ({"limit": 1}, "--limit must be 2 or more"),
        ({"learning_rate": 0.0}, "--lr must be more than 0"),
        ({"learning_rate": float("inf")}, "--lr must be more than 0 and at most 1, not inf"),
        ({"weight_decay": float("nan")}, "--weight-decay be at least 0 and below 1"),
        ({"warmup": 2.0}, "--warmup must lie between 0 and 1"),
        ({"held_out": 1.0}, "--held-out must lie between 0 and 1, not 1"),
    ],
)
def test_impossible_settings_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FidSettings(**wrong)
