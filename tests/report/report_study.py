"""A real study over the examples, for the tests of reports: quick systems, one that is hostile, and conversations."""

from __future__ import annotations

import json
from pathlib import Path

from longform import Index, read
from longform.study.config import read_study
from longform.study.grid import run_study

__all__ = ["HOSTILE", "make_runs"]

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTILE = '<script>document.title = "run"</script> <img src=x onerror="document.title = \'run\'"> & Zanzibar [1] [9].'

STUDY = f"""
index = "examples.index"
train = {{ name = "asqa", file = "{EXAMPLES / "questions.json"}", split = "dev" }}
datasets = [
    {{ name = "asqa", file = "{EXAMPLES / "questions.json"}", label = "ambiguous", limit = 24 }},
    {{ file = "talks.jsonl" }},
]
systems = [
    "question",
    {{ kind = "random-answer", datasets = ["ambiguous"] }},
    "bm25@1",
    "bm25@5",
    {{ kind = "stored", file = "hostile.jsonl", name = "hostile_100", datasets = ["ambiguous"] }},
    {{ kind = "training-answer", k = 7, by = "bm25", choose = "best", datasets = ["ambiguous"] }},
    {{ kind = "human", datasets = ["ambiguous"] }},
]
[scores]
resamples = 200
"""


def make_runs(folder: Path) -> Path:
    """Make the study in a folder, and give the folder of its runs."""
    Index.create(folder / "examples.index", read(str(EXAMPLES / "pages")))
    items = json.loads((EXAMPLES / "questions.json").read_text(encoding="utf-8"))["dev"]
    with (folder / "talks.jsonl").open("w", encoding="utf-8") as talks:
        for identifier, item in list(items.items())[:10]:
            first, *later = item["qa_pairs"]
            row = {
                "id": identifier,
                "question": first["question"],
                "short_answers": [first["short_answers"]],
                "follow_ups": [
                    {
                        "id": f"{identifier}-{turn}",
                        "question": pair["question"],
                        "short_answers": [pair["short_answers"]],
                    }
                    for turn, pair in enumerate(later, 1)
                ],
            }
            talks.write(json.dumps(row) + "\n")
    with (folder / "hostile.jsonl").open("w", encoding="utf-8") as file:
        for identifier in items:
            passage = {"id": "p", "title": "<b>Title</b>", "text": "A script for an image."}
            file.write(json.dumps({"id": identifier, "answer": HOSTILE, "passages": [passage]}) + "\n")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    run_study(read_study(folder / "study.toml"))
    return folder / "runs"
