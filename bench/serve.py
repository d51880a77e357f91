"""The server against the same work in this process: requests per second and latency at 1, 8 and 32 clients; memory.

    python bench/serve.py                     # 10 s for each row, then 2,000 requests for the memory
    python bench/serve.py --seconds 60 --workers 2 --json

Every client sends its next request when it has the answer to the last; one that is sent away (429) waits as long as
``Retry-After`` says, at most a second, and tries again. All of them are on the same machine as the server, and take
their share of its cores. The questions are those of ``examples/``; every one is asked in its turn.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil

from longform import Index, read
from longform.answer.opening import open_pipeline

ROOT = Path(__file__).parent.parent
CLIENTS = (1, 8, 32)


def questions() -> list[str]:
    """The questions of the example collection."""
    lines = (ROOT / "examples" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines if line.strip()]


def row(name: str, seconds: list[float], passed: float, **more: Any) -> dict[str, Any]:
    """Throughput and latency."""
    p50, p99 = (1000 * np.percentile(seconds, share) for share in (50, 99)) if seconds else (0.0, 0.0)
    return {
        "what": name,
        "answered": len(seconds),
        "per_second": len(seconds) / passed,
        "p50_ms": p50,
        "p99_ms": p99,
        **more,
    }


def in_process(index: Index, asked: list[str], seconds: float) -> list[dict[str, Any]]:
    """The same work without a server: one question after another."""
    pipeline = open_pipeline(index, passages=10)
    work = {
        "search": lambda question: index.search(question, 10),
        "ask": lambda question: pipeline.answer(question),
    }
    rows = []
    for name, do in work.items():
        do(asked[0])
        taken, started = [], time.perf_counter()
        while time.perf_counter() - started < seconds:
            before = time.perf_counter()
            do(asked[len(taken) % len(asked)])
            taken.append(time.perf_counter() - before)
        rows.append(row(f"{name}, in process", taken, time.perf_counter() - started))
    return rows


class Connection:
    """A connection that is kept: as little of a client as can be, since it runs on the server's cores."""

    def __init__(self, host: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.host, self.reader, self.writer = host, reader, writer

    @classmethod
    async def open(cls, address: str) -> Connection:
        """A connection to ``http://HOST:PORT``."""
        host = address.removeprefix("http://")
        name, _, port = host.partition(":")
        return cls(host, *await asyncio.open_connection(name, int(port)))

    async def post(self, path: str, value: dict[str, Any]) -> tuple[int, dict[str, str]]:
        """Send a JSON value; the status and the headers of the reply, which is read and dropped."""
        body = json.dumps(value).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
        self.writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        first, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
        headers = {name.lower(): text.strip() for name, _, text in (line.partition(":") for line in lines)}
        await self.reader.readexactly(int(headers["content-length"]))
        return int(first.split()[1]), headers

    def close(self) -> None:
        """Let go of it."""
        self.writer.close()


async def load(
    address: str, path: str, asked: list[str], clients: int, seconds: float, most: int = 0
) -> dict[str, Any]:
    """Clients that ask until the time is over, or until ``most`` requests were answered."""
    taken: list[float] = []
    away = failed = begun = 0
    started = time.perf_counter()

    def going() -> bool:
        return len(taken) < most if most else time.perf_counter() - started < seconds

    async def one() -> None:
        nonlocal away, failed, begun
        connection = await Connection.open(address)
        while going():
            begun += 1
            before = time.perf_counter()
            status, headers = await connection.post(path, {"question": asked[begun % len(asked)]})
            if status == 200:
                taken.append(time.perf_counter() - before)
            elif status == 429:
                away += 1
                await asyncio.sleep(min(1.0, float(headers["retry-after"])))
            else:
                failed += 1
        connection.close()

    await asyncio.gather(*(one() for _ in range(clients)))
    passed = time.perf_counter() - started
    name = f"{path.rsplit('/', 1)[-1]}, {clients} client{'s' if clients > 1 else ''}"
    return row(name, taken, passed, sent_away=away, failed=failed)


def memory(process: psutil.Process) -> float:
    """Megabytes of a process and its children, shared pages counted once."""
    every = [process, *process.children(recursive=True)]
    return sum(getattr(one.memory_full_info(), "pss", one.memory_info().rss) for one in every) / 1e6


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each row")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--queue", type=int, default=16)
    parser.add_argument("--requests", type=int, default=2000, help="for the memory")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    asked = questions()
    with tempfile.TemporaryDirectory() as folder:
        index = Index.create(Path(folder) / "examples.index", read(str(ROOT / "examples" / "pages")))
        rows = in_process(index, asked, options.seconds)
        command = [sys.executable, "-c", "from longform.cli import main; main()", "serve", str(index.folder)]
        command += ["--port", "0", "--home", f"{folder}/home", "--workers", str(options.workers)]
        command += ["--queue", str(options.queue)]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            found = re.search(r"http://\S+", server.stdout.readline())
            assert found is not None, "the server did not start"
            address = found.group()
            until_ready(address)
            for path in ("/v1/search", "/v1/ask"):
                rows += [asyncio.run(load(address, path, asked, count, options.seconds)) for count in CLIENTS]
            process = psutil.Process(server.pid)
            grown = [memory(process)]
            for _ in range(4):
                asyncio.run(load(address, "/v1/search", asked, 8, 0, options.requests // 8))
                asyncio.run(load(address, "/v1/ask", asked, 8, 0, options.requests // 8))
                grown.append(memory(process))
        finally:
            server.terminate()
            server.wait(90)
    report(rows, grown, options)


def until_ready(address: str) -> None:
    """Wait until the server answers."""
    for _ in range(600):
        try:
            if httpx.get(f"{address}/healthz", trust_env=False).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.1)
    raise SystemExit("the server did not answer within a minute")


def report(rows: list[dict[str, Any]], grown: list[float], options: argparse.Namespace) -> None:
    """Print what was measured."""
    if options.json:
        print(json.dumps({"rows": rows, "memory_mb": grown, "workers": options.workers, "queue": options.queue}))
        return
    print(f"{'':24} {'answered':>9} {'per s':>8} {'p50 ms':>9} {'p99 ms':>9} {'429':>6} {'failed':>7}")
    for one in rows:
        away, failed = one.get("sent_away", ""), one.get("failed", "")
        print(
            f"{one['what']:24} {one['answered']:9,} {one['per_second']:8.1f} {one['p50_ms']:9.1f} "
            f"{one['p99_ms']:9.1f} {away!s:>6} {failed!s:>7}"
        )
    steps = ", ".join(f"{value:.0f}" for value in grown)
    print(f"\nMemory of the server in MB, after each quarter of {options.requests:,} requests: {steps}")


if __name__ == "__main__":
    main()
