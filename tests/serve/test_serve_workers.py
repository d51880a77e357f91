"""The bounded queue, the time limit, and clients that go."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from serve_helpers import PATIENCE, until

from longform.serve.errors import BusyError, TimeLimitError
from longform.serve.workers import Check, Workers


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """In a thread of its own: the browser tests leave a loop that runs in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def counting(check: Check) -> Iterator[int]:
    yield from range(3)


def test_parts_come_in_order() -> None:
    async def main() -> list[int]:
        workers = Workers(1, 0, 10)
        return [part async for part in workers.start(counting).parts()]

    assert run(main()) == [0, 1, 2]


def test_what_the_thread_raises_is_raised() -> None:
    def broken(check: Check) -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    async def main() -> None:
        [_ async for _ in Workers(1, 0, 10).start(broken).parts()]

    with pytest.raises(ValueError, match="broken"):
        run(main())


def test_only_so_many_run_and_wait() -> None:
    go_on = threading.Event()
    most = running = 0
    lock = threading.Lock()

    def held(check: Check) -> Iterator[int]:
        nonlocal most, running
        with lock:
            running += 1
            most = max(most, running)
        go_on.wait(PATIENCE)
        with lock:
            running -= 1
        yield 1

    async def main() -> None:
        workers = Workers(2, 3, PATIENCE)
        taken = [workers.start(held) for _ in range(5)]
        assert workers.taken == 5
        with pytest.raises(BusyError) as refused:
            workers.start(held)
        assert refused.value.status == 429 and int(refused.value.headers["Retry-After"]) >= 1
        assert workers.refused == 1
        # One that waits and is left gives its place back without ever having run.
        taken[-1].stop()
        assert workers.taken == 4
        workers.start(held).stop()
        await asyncio.to_thread(until, lambda: running == 2)
        go_on.set()
        for work in taken[:-1]:
            assert [part async for part in work.parts()] == [1]
        await asyncio.to_thread(workers.close)
        assert workers.taken == 0
        with pytest.raises(Exception, match="The server is ending"):
            workers.start(held)

    run(main())
    assert most == 2


def stopping(seconds: float, leave: Callable[[object], None]) -> tuple[int, bool]:
    """How many parts were made of endless work, and whether its own clearing up was done."""
    made, cleared = 0, threading.Event()

    def endless(check: Check) -> Iterator[int]:
        nonlocal made
        try:
            while True:
                made += 1
                threading.Event().wait(0.01)
                yield made
        finally:
            cleared.set()

    async def main() -> None:
        workers = Workers(1, 0, seconds)
        work = workers.start(endless)
        try:
            async for part in work.parts():
                leave(part)
        finally:
            await asyncio.to_thread(workers.close)

    with suppress(TimeLimitError, KeyError):
        run(main())
    return made, cleared.is_set()


def test_work_that_nobody_waits_for_stops_between_parts() -> None:
    def leave(part: object) -> None:
        raise KeyError

    made, cleared = stopping(PATIENCE, leave)  # without an end of its own
    assert made >= 1 and cleared


def test_work_stops_when_its_time_is_over() -> None:
    made, cleared = stopping(1.5, lambda part: None)
    assert made >= 1 and cleared


def test_the_time_is_over_even_where_the_thread_does_not_look() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def blind(check: Check) -> Iterator[int]:
        begun.set()
        go_on.wait(PATIENCE)
        yield 1

    async def main() -> None:
        workers = Workers(1, 1, 1.5)
        works = [workers.start(blind), workers.start(blind)]
        assert await asyncio.to_thread(begun.wait, 1.5)
        for work in works:
            with pytest.raises(TimeLimitError, match=r"more than the 1\.5 s"):
                [_ async for _ in work.parts()]
        # Its thread still runs, so its place is not free; the one that never ran is.
        assert workers.taken == 1
        go_on.set()
        await asyncio.to_thread(workers.close)

    run(main())
