"""When a request to an endpoint is sent again, and after how long."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

import httpx

from longform.errors import FailureError

__all__ = ["Patience", "RefusedError", "TryAgainError", "refusal", "wait_or_give_up", "wished_wait"]

_SHOWN = 200
# An endpoint that asks for more than this is full for now, and the user should know.
_LONGEST_WISH = 60.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request is sent, and the seconds between: ``first``, doubled each time, up to ``most``.

    Of them a random part up to a half is left away, so that many who were refused together do not come back together.
    """

    tries: int = 4
    first: float = 1.0
    most: float = 20.0

    def wait(self, failures: int) -> float:
        """The seconds to wait after so many failures.

        >>> 2 <= Patience().wait(3) <= 4
        True
        """
        return min(self.first * 2.0 ** (failures - 1), self.most) * random.uniform(0.5, 1)


class TryAgainError(Exception):
    """A failure that may pass: too many requests, an error of the server, a lost connection."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class RefusedError(Exception):
    """A refusal that will not pass: ``said`` is the endpoint's reason, ``param`` the option that it blames."""

    def __init__(self, status: int, said: str, param: str | None) -> None:
        super().__init__(said)
        self.status, self.said, self.param = status, said, param


def wait_or_give_up(patience: Patience, failures: int, error: TryAgainError, what: str) -> float:
    """The seconds to wait before the next try; raises where there is none left or it would come too late."""
    if failures >= patience.tries:
        raise FailureError(f"{what}, tried {failures} times ({error}): check the address, or try again later.")
    wait = patience.wait(failures) if error.wait is None else error.wait
    if wait > _LONGEST_WISH:
        raise FailureError(f"{what} ({error}): it asks to come back in {wait:,.0f} seconds.")
    return wait


def refusal(response: httpx.Response, *, secret: str | None) -> Exception:
    """The error for a response that is none: one that may pass, or one that will not."""
    status = response.status_code
    if status in (408, 429) or status >= 500:
        said = "too many requests" if status == 429 else "an error of the server"
        return TryAgainError(f"{said}, {status}", wished_wait(response.headers.get("Retry-After")))
    if 300 <= status < 400:
        return RefusedError(status, "it has moved: give its new address", None)
    message, param = _reason(response)
    if secret:
        message = message.replace(secret, "…")
    return RefusedError(status, message, param)


def _reason(response: httpx.Response) -> tuple[str, str | None]:
    try:
        found = json.loads(response.content)
    except ValueError:
        return "", None
    error = found.get("error", found) if isinstance(found, dict) else None
    if not isinstance(error, dict):
        return (error[:_SHOWN] if isinstance(error, str) else ""), None
    message = " ".join(str(error.get("message") or error.get("detail") or "").split())
    param = error.get("param")
    return message[:_SHOWN].rstrip("."), param if isinstance(param, str) else None


def wished_wait(header: str | None) -> float | None:
    """The seconds of a Retry-After header: a number, or a date; ``None`` where it says neither.

    >>> wished_wait("3"), wished_wait("soon")
    (3.0, None)
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            date = parsedate_to_datetime(header)
        except ValueError:
            return None
        seconds = (date - datetime.now(timezone.utc if date.tzinfo else None)).total_seconds()
    return max(seconds, 0.0) if seconds == seconds else None
