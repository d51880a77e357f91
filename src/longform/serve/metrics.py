"""What a server tells about itself, for Prometheus; of all its processes together where there are several."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from longform.serve.workers import Workers

__all__ = ["SHARED_FOLDER", "Metrics"]

# Names the folder through which the processes of a server add up their numbers; prometheus_client reads it.
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Counters of requests, answers and jobs; every app has its own registry, so that tests can make many."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._registry = CollectorRegistry()
        mine = self._registry
        self.requests = Counter(
            "longform_requests", "Requests by route and status.", ["method", "route", "status"], registry=mine
        )
        self.request_seconds = Histogram(
            "longform_request_seconds", "How long requests took.", ["route"], buckets=_SECONDS, registry=mine
        )
        self.stage_seconds = Histogram(
            "longform_stage_seconds", "How long the stages of answers took.", ["stage"], buckets=_SECONDS, registry=mine
        )
        self.answers = Counter("longform_answers", "Answers by model and outcome.", ["model", "outcome"], registry=mine)
        self.refused = Counter("longform_refused", "Requests that found every place taken.", registry=mine)
        self.taken = Gauge(
            "longform_work_taken", "Requests that run or wait.", multiprocess_mode="livesum", registry=mine
        )

    def page(self) -> bytes:
        """The numbers in Prometheus' text format."""
        self.taken.set(self._workers.taken)
        if not os.environ.get(SHARED_FOLDER):
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
