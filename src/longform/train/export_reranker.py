"""Write a trained cross-encoder as one ONNX file that :class:`longform.models.CrossEncoder` runs."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longform.models.heads import head_format
from longform.train.export import CALIBRATION, _finished, _graph, _imports, _tokenizer_json, write_model
from longform.train.export_heads import _feed
from longform.train.quiet import quiet_libraries

if TYPE_CHECKING:
    from longform.train.reranker import RerankerSettings

__all__ = ["export_reranker"]

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def export_reranker(
    model: Any, base: Path, out: Path, settings: RerankerSettings, *, name: str, int8: bool = True
) -> Path:
    """Write a sentence-transformers cross-encoder to ``out``; ``base`` is the folder that holds its tokenizer."""
    torch, transformers = _imports()

    class Pairs(torch.nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.body = model[0].model
            self.head = model[1] if len(model) > 1 else None

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            found = self.body(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
            if self.head is None:
                return found.logits
            return self.head.score(found.last_hidden_state, attention_mask, token_type_ids)

    with quiet_libraries(transformers):
        tokens = _tokenizer_json(base, transformers)
        body = model[0].model
        # Scaled-dot-product attention hides the pattern that the optimiser fuses.
        body.set_attn_implementation("eager")
        pairs = Pairs().eval()
        graph = _graph(pairs, torch, INPUTS, ("logits",))
        if int8:
            from longform.train.quantise import quantise

            texts = list(zip(CALIBRATION, CALIBRATION[1:] + CALIBRATION[:1], strict=True))
            graph = quantise(graph, [_feed(tokens, settings.max_length, pair, INPUTS) for pair in texts])
        data = _finished(graph, 1)
        body.set_attn_implementation("sdpa")
    config = {
        "format": head_format("reranker"),
        "name": name,
        "max_length": settings.max_length,
        "question_tokens": settings.question_tokens,
        "title_tokens": settings.title_tokens,
        "pad_token_id": int(body.config.pad_token_id or 0),
        "type_vocab_size": int(body.config.type_vocab_size),
        "layers": int(body.config.num_hidden_layers),
        "precision": "int8" if int8 else "fp32",
        "made_with": {part: version(part).partition("+")[0] for part in ("torch", "transformers", "onnxruntime")},
    }
    write_model(out, tokens, config, data)
    return out
