"""What stands before every request: who may ask, from where, how much; and the headers of every reply."""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longform.serve.errors import ApiError, error_response
from longform.serve.metrics import Metrics
from longform.serve.settings import LOOPBACK, MEGABYTE, Settings

__all__ = ["COOKIE", "SECURITY_HEADERS", "Guard", "cookie_of"]

logger = logging.getLogger("longform.serve")

COOKIE = "longform"
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_SAFE = ("GET", "HEAD", "OPTIONS")
_METHODS = (*_SAFE, "POST", "PUT", "PATCH", "DELETE")  # a client may make up others, without end
_OPEN = ("/", "/healthz", "/favicon.ico")


def cookie_of(token: str) -> str:
    """What a browser keeps in place of the token: of no use anywhere else."""
    return hashlib.sha256(b"longform cookie " + token.encode()).hexdigest()


class Guard:
    """Wraps the app. Questions, tokens and query strings are in no line of the log."""

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500
        headers = Headers(scope=scope)

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                reply = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    reply[name] = value
                reply.setdefault("Cache-Control", "no-cache" if scope["path"].startswith("/static/") else "no-store")
            await send(message)

        try:
            refused = self._refused(scope, headers)
            if isinstance(refused, ApiError):
                refused = error_response(refused, scope["path"])
            if refused is not None:
                await refused(scope, receive, sending)
            else:
                await self._app(scope, self._limited(scope, receive), sending)
        finally:
            self._told(scope, status, time.perf_counter() - started)

    def _refused(self, scope: Scope, headers: Headers) -> Response | ApiError | None:
        """The reply to a request that goes no further."""
        host = headers.get("host", "")
        if self._settings.token is None and _hostname(host) not in (*LOOPBACK, self._settings.host.lower()):
            # A page elsewhere can give its own name the address of this machine.
            return ApiError("This server answers to the name localhost alone: start it with --token.")
        if scope["method"] not in _SAFE and _is_foreign(headers, host):
            return ApiError("A page of another site may not do this.", 403)
        token = self._settings.token
        if token is not None:
            if scope["path"] == "/" and (entering := self._entering(scope, token)) is not None:
                return entering
            if not _is_open(scope["path"]) and not _is_known(headers, token):
                needed = "This server needs its token: send `Authorization: Bearer TOKEN`, or open /?token=TOKEN once."
                return ApiError(needed, 401, headers={"WWW-Authenticate": "Bearer"})
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._most(scope):
            return _too_large(self._most(scope))
        return None

    def _entering(self, scope: Scope, token: str) -> Response | None:
        """From ``/?token=…`` to ``/`` with a cookie, so that the token stays in no address and no history."""
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        given = dict(query).get("token")
        if given is None:
            return None
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        # Relative, as the page may lie below a path of a larger site.
        reply = RedirectResponse(f"./?{rest}" if rest else "./", 303)
        if _same(given, token):
            secure = scope.get("scheme") == "https"
            reply.set_cookie(COOKIE, cookie_of(token), httponly=True, samesite="strict", secure=secure, path="/")
        return reply

    def _most(self, scope: Scope) -> int:
        """How many bytes the body of a request may have."""
        if scope["path"] == "/v1/indexes":
            return self._settings.upload_bytes + MEGABYTE
        return self._settings.score_bytes if scope["path"] == "/v1/score" else self._settings.body_bytes

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        most, seen = self._most(scope), 0

        async def receiving() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                raise HTTPException(413, str(_too_large(most)))
            return message

        return receiving

    def _told(self, scope: Scope, status: int, seconds: float) -> None:
        # By the route and not by the path: paths are endless, and hold what people have in their collections.
        route = getattr(scope.get("route"), "path", None) or ("/static" if _is_open(scope["path"]) else "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.requests.labels(method, route, str(status)).inc()
        self._metrics.request_seconds.labels(route).observe(seconds)
        logger.info("%s %s %d %.0f ms", method, route, status, 1000 * seconds)


def _is_open(path: str) -> bool:
    return path in _OPEN or path.startswith("/static/")


def _hostname(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _is_foreign(headers: Headers, host: str) -> bool:
    """Whether a browser sends this for a page of another site, which then acts in its visitor's name."""
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return True
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc.lower() != host.lower()


def _is_known(headers: Headers, token: str) -> bool:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and _same(given.strip(), token):
        return True
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return False
    return cookie is not None and _same(cookie.value, cookie_of(token))


def _same(given: str, wanted: str) -> bool:
    """Whether they are the same, in a time that tells nothing about where they differ."""
    hashes = [hashlib.sha256(one.encode("utf-8", "surrogateescape")).digest() for one in (given, wanted)]
    return hmac.compare_digest(*hashes)


def _too_large(most: int) -> ApiError:
    return ApiError(f"The request has more than the {most / MEGABYTE:,.0f} MB that one may have.", 413)
