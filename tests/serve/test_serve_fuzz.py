"""Requests made up from the server's own description: whatever comes, the server does not fail."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from serve_helpers import PATIENCE, Server

schemathesis = pytest.importorskip("schemathesis")


def fuzz(operation: Any, address: str, seen: Counter[str]) -> None:
    """Five requests of one kind."""

    @settings(
        max_examples=5, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(data=st.data())
    def five(data: Any) -> None:
        case = data.draw(operation.as_strategy())
        response = case.call(base_url=address, timeout=PATIENCE)
        seen[operation.label] += 1
        # The time is over where the machine is slow, and what is being indexed is not ready: neither is a failure.
        waits = response.status_code == 503 and response.json()["error"]["type"] in ("time", "input")
        assert response.status_code < 500 or waits, f"{case.as_curl_command()}: {response.text}"

    five()


@pytest.mark.slow
def test_nothing_makes_the_server_fail(start: Callable[..., Server], long_form: bool) -> None:
    """Five seconds, and each kind of request at least once; five minutes with --long."""
    server = start("--time-limit", 20)
    schema = schemathesis.openapi.from_dict(server.client.get("/openapi.json").json())
    operations = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) > 12
    seen: Counter[str] = Counter()
    deadline = time.monotonic() + (300 if long_form else 5)
    while time.monotonic() < deadline or len(seen) < len(operations):
        for operation in operations:
            fuzz(operation, server.address, seen)
    assert server.process.poll() is None
    assert server.client.get("/healthz").status_code == 200
    code, errors = server.end()
    assert (code, errors) == (0, "")
