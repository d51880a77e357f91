"""The work of requests: in threads, of which only so many run, behind a queue in which only so many wait."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Lock
from typing import Generic, TypeVar

from longform.serve.errors import ApiError, BusyError, StoppedError, TimeLimitError

__all__ = ["Check", "Work", "Workers"]

Part = TypeVar("Part")
Check = Callable[[], None]
# Nobody is sent away for longer.
MOST_SECONDS = 60


class _End:
    """The end of the parts, and what ended them."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class Work(Generic[Part]):
    """One request's work, and the parts of its result as they come.

    It stops between two parts when nobody wants it any more, and when its time is over.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.future: Future[None]
        self.begun: float | None = None
        self._deadline = time.monotonic() + seconds
        self._loop = asyncio.get_running_loop()
        self._parts: asyncio.Queue[Part | _End] = asyncio.Queue()
        self._unwanted = Event()

    def check(self) -> None:
        """Called by the thread wherever it can stop: raises where it should."""
        if self._unwanted.is_set():
            raise StoppedError
        if time.monotonic() > self._deadline:
            raise TimeLimitError(self.seconds)

    def stop(self) -> None:
        """Nobody waits for the result any more."""
        self._unwanted.set()
        self.future.cancel()

    async def parts(self) -> AsyncIterator[Part]:
        """The parts; what the thread raised is raised here, and so is the end of the time."""
        try:
            while True:
                left = self._deadline - time.monotonic()
                try:
                    part = await asyncio.wait_for(self._parts.get(), max(left, 0))
                except asyncio.TimeoutError:
                    raise TimeLimitError(self.seconds) from None
                if isinstance(part, _End):
                    if part.error is not None:
                        raise part.error
                    return
                yield part
        finally:
            self.stop()

    def run(self, job: Callable[[Check], Iterator[Part]]) -> None:
        """In the thread: do the work, hand out its parts."""
        error: BaseException | None = None
        self.begun = time.monotonic()
        try:
            self.check()
            parts = job(self.check)
            try:
                for part in parts:
                    self._put(part)
                    self.check()
            finally:
                close = getattr(parts, "close", None)
                if close is not None:
                    close()
        except BaseException as raised:
            error = raised
        self._put(_End(error))

    def _put(self, part: Part | _End) -> None:
        try:
            self._loop.call_soon_threadsafe(self._parts.put_nowait, part)
        except RuntimeError:  # The loop has ended, and with it everyone who could listen.
            self._unwanted.set()


class Workers:
    """The threads of a process. ``running`` requests are worked on, ``queue`` wait, and all others are refused."""

    def __init__(self, running: int, queue: int, seconds: float) -> None:
        self.running, self.queue, self.seconds = running, queue, seconds
        self.refused = 0
        self._pool = ThreadPoolExecutor(running, thread_name_prefix="answering")
        self._lock = Lock()
        self._taken = 0
        self._mean = 1.0
        self._closed = False

    @property
    def taken(self) -> int:
        """How many requests run or wait."""
        return self._taken

    def start(self, job: Callable[[Check], Iterator[Part]]) -> Work[Part]:
        """Let a thread do the work; where no place is free, :class:`BusyError` says when to come again."""
        with self._lock:
            if self._closed:
                raise ApiError("The server is ending.", 503, "failure", {"Retry-After": "5"})
            if self._taken >= self.running + self.queue:
                self.refused += 1
                raise BusyError(self._wait())
            self._taken += 1
        work: Work[Part] = Work(self.seconds)
        try:
            work.future = self._pool.submit(work.run, job)
        except RuntimeError:
            self._give_back(None)
            raise ApiError("The server is ending.", 503, "failure", {"Retry-After": "5"}) from None
        work.future.add_done_callback(lambda _: self._give_back(work.begun))
        return work

    def close(self) -> None:
        """Finish what runs and what waits; take nothing more."""
        with self._lock:
            self._closed = True
        self._pool.shutdown()

    def _wait(self) -> int:
        """In how many seconds half of those that wait will have had their turn."""
        return max(1, min(MOST_SECONDS, math.ceil(self._mean * max(1, self.queue) / (2 * self.running))))

    def _give_back(self, begun: float | None) -> None:
        with self._lock:
            self._taken -= 1
            if begun is not None:
                self._mean += 0.1 * (time.monotonic() - begun - self._mean)
