"""Re-ranking: 100 passages of 100 words, the shipped re-ranker against MiniLM-L6 in torch fp32, in one run.

    python bench/rerank.py [--model reranker] [--index wiki.index --question "…"] [--six FOLDER] [--rounds 7]

Torch runs a BERT of the size of MiniLM-L6 (6 layers, 384 dimensions, random weights: the time does not depend on them)
over the same pairs at its full length of 256 tokens, in batches of 32 sorted by length, on all cores. Ours runs as
`longform search --rerank` does; its passages are tokenised before, as torch's are (the first round's time is printed
too). Rounds alternate, and medians are compared: wall time, and CPU time, which other work on the machine disturbs
less. --six also times a six-layer export, such as `python -m longform.train.export_heads --kind reranker` makes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from generate import texts
from longform import Index, Passage
from longform.models import CrossEncoder
from longform.models.runtime import available_cores

COUNT, BATCH, LENGTH = 100, 32, 256


def torch_scorer(model: CrossEncoder, question: str, passages: Sequence[Passage]) -> Callable[[], Any]:
    """MiniLM-L6 as a cross-encoder in torch, fed with the shipped model's tokens."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.set_num_threads(available_cores())
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=30522,
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        num_labels=1,
    )
    body = BertForSequenceClassification(config).eval()
    pairs = [model._tokenizer.encode(question, f"{passage.title} {passage.text}").ids[:LENGTH] for passage in passages]
    pairs.sort(key=len, reverse=True)
    batches = []
    for start in range(0, len(pairs), BATCH):
        rows = pairs[start : start + BATCH]
        ids = torch.zeros(len(rows), len(rows[0]), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = torch.tensor(row)
            mask[place, : len(row)] = 1
        batches.append((ids, mask))
    print(f"{len(pairs)} passages, {sum(map(len, pairs)) / len(pairs):.0f} tokens each with the question")

    def run() -> Any:
        with torch.inference_mode():
            return [body(input_ids=ids, attention_mask=mask).logits for ids, mask in batches]

    return run


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="reranker")
    parser.add_argument("--six", metavar="FOLDER")
    parser.add_argument("--index", help="real passages: the first 100 hits; without it they are made up")
    parser.add_argument("--question", default="Who was the ruler of France in 1830?")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    question: str = arguments.question
    if arguments.index:
        passages = [hit.passage for hit in Index.open(arguments.index).search(question, COUNT, "bm25")]
    else:
        # Made-up words fall into 3 tokens each, real ones into 1.3: 40 are as long for a model as 100 real ones.
        cut = [" ".join(text.split()[:40]) for text in texts(COUNT)]
        passages = [Passage(f"p{place}", "", f"Page {place}", text, 0, len(text)) for place, text in enumerate(cut)]
    shipped = CrossEncoder.load(arguments.model)
    runs: dict[str, Callable[[], Any]] = {"torch fp32, MiniLM-L6": torch_scorer(shipped, question, passages)}
    runs[f"longform, {arguments.model}"] = lambda: shipped.score(question, passages)
    if arguments.six:
        six = CrossEncoder.load(arguments.six)
        runs[f"longform, {arguments.six}"] = lambda: six.score(question, passages)
    wall: dict[str, list[float]] = {name: [] for name in runs}
    cpu: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(arguments.rounds + 1):
        for name, run in runs.items():
            began, used = time.perf_counter(), time.process_time()
            run()
            wall[name].append(time.perf_counter() - began)
            cpu[name].append(time.process_time() - used)
    base = next(iter(runs))
    width = max(map(len, runs))
    print(f"{'':{width}}  {'first':>7} {'median':>7} {'CPU':>7}   times as fast (wall, CPU)")
    # The first round warms up, and is not among those that the medians are taken of.
    medians = {name: (statistics.median(wall[name][1:]), statistics.median(cpu[name][1:])) for name in runs}
    for name, (seconds, used) in medians.items():
        ratio = f"{medians[base][0] / seconds:5.2f}× {medians[base][1] / used:5.2f}×"
        print(f"{name:{width}}  {wall[name][0]:5.2f} s {seconds:5.2f} s {used:5.2f} s   {ratio}")
    print(f"{available_cores()} cores, {arguments.rounds} rounds")


if __name__ == "__main__":
    main()
