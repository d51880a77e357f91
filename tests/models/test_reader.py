"""The reader's rules, by hand: every word has a fixed start and end logit, so the right span can be told."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from longform.errors import FailureError, InputError
from longform.models import Reader, ReaderAnswer, heads

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = ["who", "what", "tea", "hot", "milk", "cold", "the", "drink", *(f"w{number}" for number in range(1200))]
IDS = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
LOW = -5.0

Scores = Mapping[str, tuple[float, float]]


def write_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel(IDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    # What a folder may carry, and must not matter.
    tokenizer.enable_truncation(5)
    tokenizer.enable_padding(length=7)
    tokenizer.save(str(folder / "tokenizer.json"))


def table_of(scores: Scores) -> Any:
    """Start and end logit by token number: LOW but for the words named."""
    table = np.full((len(IDS), 2), LOW, dtype=np.float32)
    for word, row in scores.items():
        table[IDS[word]] = row
    return table


class TableSession:
    """In place of an onnxruntime session: looks each token's logits up."""

    def __init__(self, table: Any, inputs: tuple[str, ...], names: tuple[str, ...]) -> None:
        self.table, self.inputs, self.names = table, inputs, names

    def get_inputs(self) -> list[Any]:
        return [SimpleNamespace(name=name, type="tensor(int64)") for name in self.inputs]

    def get_outputs(self) -> list[Any]:
        return [SimpleNamespace(name=name, shape=["batch", "length"]) for name in self.names]

    def run(self, names: list[str], feed: dict[str, Any]) -> list[Any]:
        assert set(feed) == set(self.inputs)
        found = dict(zip(self.names, np.moveaxis(self.table[feed["input_ids"]], -1, 0), strict=True))
        return [found[name] for name in names]


def write_graph(path: Path, table: Any, inputs: tuple[str, ...], names: tuple[str, ...]) -> None:
    """The same as a graph: one Gather for the starts and one for the ends."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    columns = [numpy_helper.from_array(np.ascontiguousarray(table[:, place]), f"table{place}") for place in (0, 1)]
    nodes = [
        helper.make_node("Gather", [f"table{place}", "input_ids"], [name], axis=0) for place, name in enumerate(names)
    ]
    shape = ["batch", "length"]
    graph = helper.make_graph(
        nodes,
        "table",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in names],
        columns,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(path))


@pytest.fixture(params=["numpy", "onnx"])
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a reader of a table of logits, once without and once with onnxruntime."""
    if request.param == "onnx":
        pytest.importorskip("onnx")

    def build(
        scores: Scores,
        *,
        inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
        names: tuple[str, ...] = ("start_logits", "end_logits"),
        config: Mapping[str, Any] | None = None,
        threads: int | None = None,
    ) -> Reader:
        write_tokenizer(tmp_path)
        if config is not None:
            (tmp_path / "config.json").write_text(json.dumps(config))
        if request.param == "onnx":
            write_graph(tmp_path / "model.onnx", table_of(scores), inputs, names)
        else:
            (tmp_path / "model.onnx").write_bytes(b"graph")
            monkeypatch.setattr(heads, "open_session", lambda path: TableSession(table_of(scores), inputs, names))
        return Reader.load(tmp_path, threads)

    return build


def one(reader: Reader, question: str, context: str, **kwargs: Any) -> ReaderAnswer:
    (answer,) = reader.read([(question, context)], **kwargs)
    return answer


def test_the_best_span_and_its_place(make: Any) -> None:
    reader = make({"hot": (6, 1), "drink": (1, 4), "[CLS]": (1, 1)})
    answer = one(reader, "what", "the  hot drink, tea")
    assert answer == ReaderAnswer("hot drink", 10.0, 2.0, 5, 14)
    assert "the  hot drink, tea"[answer.start : answer.end] == answer.text


def test_a_reader_can_be_made_to_answer_when_it_is_less_sure(make: Any) -> None:
    reader = make({"hot": (3, 1), "drink": (1, 3), "[CLS]": (4, 4)})
    assert one(reader, "what", "the hot drink").text == ""
    eager = reader.answering(3.0)
    assert one(eager, "what", "the hot drink") == ReaderAnswer("hot drink", 6.0, 8.0, 4, 13)
    assert eager.fingerprint == reader.fingerprint and one(reader, "what", "the hot drink").text == ""


def test_the_first_token_says_that_there_is_no_answer(make: Any) -> None:
    reader = make({"hot": (3, 3), "[CLS]": (4, 2.5)})
    assert one(reader, "what", "the hot tea") == ReaderAnswer("", 6.0, 6.5, 0, 0)


def test_an_answer_as_good_as_none_is_given(make: Any) -> None:
    assert one(make({"hot": (3, 3), "[CLS]": (3, 3)}), "what", "the hot tea").text == "hot"


def test_the_question_is_not_searched(make: Any) -> None:
    reader = make({"hot": (9, 9), "cold": (2, 2)})
    assert one(reader, "hot who hot", "the cold milk").text == "cold"


def test_an_end_before_the_start_is_no_span(make: Any) -> None:
    reader = make({"hot": (9, LOW), "cold": (LOW, 9)})
    # "hot" alone and "cold" alone have 9 - 5 each; the better start is looked at first.
    assert one(reader, "what", "cold the hot")[:2] == ("hot", 4.0)


def test_thirty_tokens_are_the_longest(make: Any) -> None:
    reader = make({"hot": (9, LOW), "cold": (LOW, 9)})
    for between, score in ((28, 18.0), (29, 4.0)):
        context = " ".join(["hot", *["the"] * between, "cold"])
        answer = one(reader, "what", context)
        assert (answer.text == context, answer.score) == (score == 18.0, score)


def test_fifteen_tokens_are_the_longest_of_alce(make: Any) -> None:
    reader = make({"hot": (9, LOW), "cold": (LOW, 9)})
    for between, whole in ((13, True), (14, False)):
        context = " ".join(["hot", *["the"] * between, "cold"])
        answer = one(reader, "what", context, style="alce")
        assert (answer.text == context) is whole


def test_only_the_twenty_best_starts_and_ends_count(make: Any) -> None:
    crowd = {f"w{number}": (5.0, LOW) for number in range(20)}
    reader = make({"tea": (4.0, 9.0), **crowd})
    # The end "tea" is out of reach for the words that start better.
    apart = ["the"] * 30
    assert one(reader, "what", " ".join([*list(crowd)[:19], *apart, "tea"]))[:2] == ("tea", 13.0)
    # With twenty of them "tea" is the 21st start, and no span to its end is left.
    assert one(reader, "what", " ".join([*crowd, *apart, "tea"])).score == 0.0


def test_the_question_takes_places_among_the_twenty(make: Any) -> None:
    scores = {"who": (5.0, 5.0), "tea": (4.0, 4.0)}
    assert one(make(scores), "who " * 19, "tea").text == "tea"
    # Twenty of the question: no candidate is left, and the null score of -10 does not win over the made-up 0.
    assert one(make(scores), "who " * 20, "tea") == ReaderAnswer("empty", 0.0, -10.0, 0, 0)
    assert one(make({**scores, "[CLS]": (1, 1)}), "who " * 20, "tea") == ReaderAnswer("", 0.0, 2.0, 0, 0)


def test_a_long_text_is_read_in_windows(make: Any) -> None:
    context = " ".join(f"w{number}" for number in range(1000))
    reader = make({"w700": (5, 1), "w702": (1, 5), "w3": (2, 2)})
    assert (reader.max_length, reader.stride) == (384, 128)
    for style in ("asqa", "alce"):
        answer = one(reader, "what", context, style=style)
        assert answer.text == "w700 w701 w702"
        assert context[answer.start : answer.end] == answer.text


def test_windows_repeat_128_tokens(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = make({})
    seen: list[list[str]] = []
    run = heads.Head.run

    def spy(self: Any, encodings: Any, *arguments: Any) -> Any:
        seen.extend(
            [token for token in encoding.tokens if token.startswith("w") and token != "who"] for encoding in encodings
        )
        return run(self, encodings, *arguments)

    monkeypatch.setattr(heads.Head, "run", spy)
    one(reader, "who", " ".join(f"w{number}" for number in range(800)))
    # 384 less the question and three special tokens are 380; each window goes on 252 further.
    assert [(window[0], window[-1]) for window in seen] == [("w0", "w379"), ("w252", "w631"), ("w504", "w799")]


def test_the_least_null_score_of_all_windows_counts(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    context = " ".join(f"w{number}" for number in range(500))
    reader = make({"w450": (3, 3), "[CLS]": (8, 8)})
    run = heads.Head.run

    def lower(self: Any, encodings: Any, *arguments: Any) -> Any:
        for row, arrays in run(self, encodings, *arguments):
            if "w499" in encodings[row].tokens:
                arrays[0][0] = -4
            yield row, arrays

    assert one(reader, "who", context).text == ""
    monkeypatch.setattr(heads.Head, "run", lower)
    assert one(reader, "who", context) == ReaderAnswer("w450", 6.0, 4.0, *span(context, "w450"))


def span(context: str, word: str) -> tuple[int, int]:
    start = context.index(word)
    return start, start + len(word)


def test_alce_multiplies_probabilities_within_a_window(make: Any) -> None:
    reader = make({"hot": (2, 0), "tea": (0, 3), "[CLS]": (1, 1)})
    answer = one(reader, "who tea tea", "the hot tea", style="alce")
    starts, ends = np.exp([1, LOW, 2, 0]), np.exp([1, LOW, 0, 3])
    assert (answer.text, answer.start, answer.end) == ("hot tea", 4, 11)
    assert answer.score == pytest.approx(starts[2] * ends[3] / starts.sum() / ends.sum())
    assert answer.null_score == pytest.approx(starts[0] * ends[0] / starts.sum() / ends.sum())


def test_alce_without_an_answer(make: Any) -> None:
    answer = one(make({"hot": (1, 1), "[CLS]": (2, 2)}), "who", "the hot tea", style="alce")
    assert (answer.text, answer.start, answer.end) == ("", 0, 0)
    assert answer.null_score > answer.score > 0


def test_alce_widens_to_words_and_asqa_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    pieces = {**{token: number for number, token in enumerate(SPECIAL)}, "who": 4, "un": 5, "##cold": 6, "##er": 7}
    tokenizer = Tokenizer(models.WordPiece(pieces, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "model.onnx").write_bytes(b"graph")
    table = np.zeros((8, 2), dtype=np.float32)
    table[6] = 9
    session = TableSession(table, ("input_ids",), ("start_logits", "end_logits"))
    monkeypatch.setattr(heads, "open_session", lambda path: session)
    reader = Reader.load(tmp_path)
    assert one(reader, "who", "who uncolder")[:1] + one(reader, "who", "who uncolder")[3:] == ("cold", 6, 10)
    answer = one(reader, "who", "who uncolder", style="alce")
    assert (answer.text, answer.start, answer.end) == ("uncolder", 4, 12)


@pytest.mark.parametrize("style", ["asqa", "alce"])
@pytest.mark.parametrize("context", ["", " ", "\n\t"])
def test_an_empty_context_has_no_answer(make: Any, context: str, style: str) -> None:
    assert one(make({}), "who", context, style=style) == ReaderAnswer("", 0.0, 0.0, 0, 0)


@pytest.mark.parametrize("style", ["asqa", "alce"])
@pytest.mark.parametrize("question", ["", "   ", "who " * 2000, "\ud800 who"])
def test_any_question_can_be_asked(make: Any, question: str, style: str) -> None:
    context = " ".join(f"w{number}" for number in range(600))
    assert one(make({"w500": (5, 5)}), question, context, style=style).text == "w500"


def test_a_broken_character_keeps_the_offsets(make: Any) -> None:
    context = "the \ud800 hot tea"
    answer = one(make({"hot": (5, 5)}), "who", context)
    assert (answer.text, answer.start, answer.end) == ("hot", 6, 9)


def test_order_batches_and_threads_change_nothing(make: Any) -> None:
    scores = {f"w{number}": (number % 7, number % 5) for number in range(1200)}
    contexts = [" ".join(f"w{number * step % 1200}" for number in range(length)) for step, length in MANY]
    pairs = [("who", context) for context in contexts] + [("what", "")]
    reader = make(scores)
    answers = reader.read(pairs)
    assert answers == [one(reader, *pair) for pair in pairs]
    assert answers == reader.read(pairs, batch_tokens=2000) == make(scores, threads=1).read(pairs)


MANY = [(1, 500), (7, 3), (11, 900), (13, 40), (17, 384)]


def test_chunks_join_seamlessly(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = make({"hot": (5, 5), "cold": (5, 5)})
    pairs = [("who", text) for text in ("the hot tea", "", "cold", "the milk is cold", "hot")]
    whole = reader.read(pairs)
    monkeypatch.setattr("longform.models.reader.PAIRS", 2)
    assert reader.read(pairs) == whole


def test_progress_counts_up_to_all(make: Any) -> None:
    seen: list[int] = []
    make({}).read([("who", "tea"), ("who", ""), ("who", "milk")], progress=seen.append)
    assert seen == [2, 3]
    seen.clear()
    make({}).read([("who", "")], progress=seen.append)
    assert seen == [1]
    assert make({}).read([]) == []


@pytest.mark.parametrize("inputs", [("input_ids",), ("input_ids", "attention_mask", "token_type_ids")])
def test_models_with_and_without_types(make: Any, inputs: tuple[str, ...]) -> None:
    assert one(make({"hot": (5, 5)}, inputs=inputs), "who", "hot tea").text == "hot"


def test_types_mark_the_context_unless_the_model_has_one_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[int]] = []

    class Watching(TableSession):
        def run(self, names: list[str], feed: dict[str, Any]) -> list[Any]:
            seen.append(feed["token_type_ids"][0].tolist())
            return super().run(names, feed)

    session = Watching(table_of({}), ("input_ids", "token_type_ids"), ("start_logits", "end_logits"))
    monkeypatch.setattr(heads, "open_session", lambda path: session)
    write_tokenizer(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"graph")
    for types in (2, 1):
        (tmp_path / "config.json").write_text(json.dumps({"type_vocab_size": types}))
        one(Reader.load(tmp_path), "who", "hot tea")
    assert seen == [[0, 0, 0, 1, 1, 1], [0] * 6]


def test_outputs_of_other_names_are_taken_in_order(make: Any) -> None:
    reader = make({"hot": (5, 1), "tea": (1, 5)}, names=("output_s", "output_e"))
    assert one(reader, "who", "the hot tea").text == "hot tea"


def test_a_short_model_has_short_windows(make: Any) -> None:
    reader = make({"w90": (5, 5)}, config={"max_position_embeddings": 30})
    assert (reader.max_length, reader.stride) == (30, 10)
    context = " ".join(f"w{number}" for number in range(100))
    assert one(reader, "who " * 50, context).text == "w90"
    with pytest.raises(InputError, match="takes 8 tokens at a time, where 16 are the least"):
        make({}, config={"max_position_embeddings": 8})


def test_wrong_outputs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tokenizer(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"graph")
    session = TableSession(table_of({}), ("input_ids",), ("logits",))
    monkeypatch.setattr(heads, "open_session", lambda path: session)
    with pytest.raises(InputError, match="is not a reader: it gives logits, not start_logits and end_logits"):
        Reader.load(tmp_path)


def test_wrong_inputs_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tokenizer(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"graph")
    session = TableSession(table_of({}), ("pixel_values",), ("start_logits", "end_logits"))
    monkeypatch.setattr(heads, "open_session", lambda path: session)
    with pytest.raises(InputError, match="no model of kind reader: it takes pixel_values"):
        Reader.load(tmp_path)


def test_numbers_that_are_none_are_not_hidden(make: Any) -> None:
    with pytest.raises(FailureError, match="gave a number that is not finite"):
        one(make({"hot": (float("nan"), 0)}), "who", "hot tea")


def test_unknown_style_and_threads(make: Any) -> None:
    with pytest.raises(InputError, match="There is no reader style 'squad': choose asqa or alce"):
        make({}).read([("who", "tea")], style="squad")
    with pytest.raises(InputError, match="threads must be 1 or more"):
        make({}, threads=0)


def test_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFORM_HOME", str(tmp_path / "home"))
    with pytest.raises(InputError, match=r"There is no reader other: neither shipped \(reader\), nor a folder"):
        Reader.load("other")
    folder = tmp_path / "mine"
    folder.mkdir()
    with pytest.raises(InputError, match=r"no ONNX file and no safetensors weights: put a model\.onnx"):
        Reader.load(folder)
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(InputError, match="only pickled weights, which Longform does not open"):
        Reader.load(folder)
    (folder / "model.safetensors").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"has no ONNX file; `pip install 'longform\[train\]'`"):
        Reader.load(folder)
    (folder / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(InputError, match=r"model\.onnx cannot be opened by onnxruntime"):
        Reader.load(folder)
    monkeypatch.setattr(heads, "open_session", lambda path: TableSession(table_of({}), ("input_ids",), ("a", "b")))
    with pytest.raises(InputError, match=r"has no tokenizer\.json"):
        Reader.load(folder)
    (folder / "config.json").write_text("[]")
    with pytest.raises(InputError, match="should hold a JSON object"):
        Reader.load(folder)
