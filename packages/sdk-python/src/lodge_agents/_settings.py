"""The client's settings, and how a call becomes a request by them. No I/O."""

from __future__ import annotations

import os
import platform
import random
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from ._types import Call, RequestOptions, given, json_bytes, query_text
from ._version import VERSION
from .errors import ApiError, ConnectionError, LodgeError, TimeoutError

DEFAULT_URL = "http://127.0.0.1:8080"
MAX_WAIT_SECONDS = 60.0
MAX_WAITS = 15
"""Waits for the first attempt of a request: half a minute. A server that was killed holds its requests for 15 s."""
MAX_ERROR_BYTES = 64 * 1024
MAX_REPLY_BYTES = 64 * 1024 * 1024
_CONNECT_SECONDS = 10.0
_MAX_DELAY_SECONDS = 2.0
_REPEATED = frozenset((408, 429, 500, 502, 503, 504))
# Waiting does not make these pass, or the first attempt may have had its effect.
_FINAL_CODES = frozenset(("spend_limit_exceeded", "loop_detected", "provisioning_failed"))
# Somebody must make room in a quota first, so only a short wait is worth it.
_MAX_QUOTA_SECONDS = 5.0


@dataclass(frozen=True)
class Settings:
    base_url: str
    api_key: str | None
    timeout: float | None
    max_retries: int
    retry_delay: float
    headers: Mapping[str, str]
    csrf_token: str | None

    @staticmethod
    def of(
        base_url: str | None,
        api_key: str | None,
        timeout: float | None,
        max_retries: int,
        retry_delay: float,
        headers: Mapping[str, str] | None,
        csrf_token: str | None,
    ) -> Settings:
        url = (base_url or os.environ.get("LODGE_URL") or DEFAULT_URL).rstrip("/")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
            raise ValueError("base_url must be a URL such as https://lodge.example.com.")
        if "@" in parts.netloc:
            raise ValueError("base_url must have no user and no password in it.")
        key = api_key if api_key is not None else os.environ.get("LODGE_API_KEY")
        if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
            raise ValueError("api_key has characters that no key has.")
        root = url.removesuffix("/v1")
        return Settings(root, key or None, timeout, max_retries, retry_delay, headers or {}, csrf_token)

    def __repr__(self) -> str:
        return f"Settings(base_url={self.base_url!r})"


class Plan:
    """One call with the client's settings: what is sent, and what follows a failure."""

    def __init__(self, settings: Settings, call: Call, options: RequestOptions | None, accept: str) -> None:
        wanted: RequestOptions = options or {}
        self._settings = settings
        self.call = call
        query = query_text({**call.query, **wanted.get("query", {})})
        self.url = f"{settings.base_url}/v1{call.path}{'?' + query if query else ''}"
        self.headers = _headers(settings, call, wanted, accept)
        self.is_safe = call.repeatable and (
            call.verb in ("GET", "HEAD", "PUT", "DELETE") or "idempotency-key" in self.headers
        )
        self.body: bytes | None = None
        if call.body is not None:
            self.headers["content-type"] = "application/json"
            self.body = json_bytes({**call.body, **wanted.get("body", {})})
        self.max_retries = wanted.get("max_retries", settings.max_retries)
        self.timeout = _timeout(settings, call, wanted)

    def content(self) -> Any:
        return self.body if self.call.content is None else self.call.content()

    def http_timeout(self) -> httpx.Timeout:
        seconds = self.timeout
        connect = _CONNECT_SECONDS if seconds is None else min(seconds, _CONNECT_SECONDS)
        return httpx.Timeout(seconds, connect=connect)

    def delay(self, error: LodgeError, attempt: int, is_unsent: bool = False) -> float | None:
        """Seconds until the next attempt; None where there is none."""
        if attempt >= self.max_retries:
            return None
        if isinstance(error, ApiError):
            return self._after_reply(error, attempt)
        if isinstance(error, (ConnectionError, TimeoutError)):
            may_repeat = self.is_safe or (is_unsent and self.call.repeatable)
            return self._backoff(attempt) if may_repeat else None
        return None

    def _after_reply(self, error: ApiError, attempt: int) -> float | None:
        asked = error.retry_after_seconds
        if error.should_retry is False or error.code in _FINAL_CODES or (asked or 0) > MAX_WAIT_SECONDS:
            return None
        if error.code == "quota_exceeded" and (asked is None or asked > _MAX_QUOTA_SECONDS):
            return None
        is_asked = error.status in (429, 503) and asked is not None and self.call.repeatable
        if not (is_asked or (self.is_safe and (error.status in _REPEATED or is_under_way(error)))):
            return None
        usual = self._backoff(attempt)
        # A little more than asked for, so that those who were refused together do not come together.
        return usual if asked is None else asked + usual / 4

    def _backoff(self, attempt: int) -> float:
        return backoff(attempt, self._settings.retry_delay, _MAX_DELAY_SECONDS)


def is_under_way(error: LodgeError) -> bool:
    """Whether the first attempt of this very request is under way."""
    return isinstance(error, ApiError) and error.code == "idempotency_in_progress"


def is_passing(error: LodgeError) -> bool:
    """Whether the server is away, or in trouble: what was under way can go on when it is back."""
    if isinstance(error, ApiError):
        return error.status >= 500 or error.status in (408, 429)
    return isinstance(error, (ConnectionError, TimeoutError))


def backoff(attempt: int, first: float, most: float) -> float:
    """Seconds before the next attempt: twice as long each time, and half of it by chance."""
    longest = min(first * 2.0 ** min(attempt, 20), most)
    return random.uniform(longest / 2, longest)


def failure(error: httpx.HTTPError, settings: Settings, timeout: float | None) -> tuple[LodgeError, bool]:
    """The SDK's error for one of HTTP's, and whether the request was surely not sent."""
    place = settings.base_url
    if isinstance(error, (httpx.ConnectTimeout, httpx.PoolTimeout)):
        return TimeoutError(f"There was no connection to {place} in time."), True
    if isinstance(error, httpx.ConnectError):
        told = f"{place} cannot be reached: {error or type(error).__name__}"
        return ConnectionError(told, may_have_been_sent=False), True
    if isinstance(error, httpx.TimeoutException):
        return TimeoutError(f"No byte came from {place} for {timeout:g} s."), False
    return ConnectionError(f"The connection to {place} was cut: {error or type(error).__name__}"), False


def _headers(settings: Settings, call: Call, options: RequestOptions, accept: str) -> dict[str, str]:
    headers = {"accept": accept, "accept-encoding": "identity", "user-agent": _USER_AGENT}
    headers.update({name.lower(): value for name, value in settings.headers.items()})
    if settings.api_key is not None and not call.anonymous:
        headers["x-api-key"] = settings.api_key
    if settings.csrf_token is not None and call.verb not in ("GET", "HEAD"):
        headers["x-csrf-token"] = settings.csrf_token
    headers.update({name.lower(): str(value) for name, value in given(call.headers).items()})
    key = options.get("idempotency_key")
    if key is not None or call.keyed:
        headers["idempotency-key"] = key or str(uuid.uuid4())
    headers.update({name.lower(): value for name, value in options.get("headers", {}).items()})
    return headers


def _timeout(settings: Settings, call: Call, options: RequestOptions) -> float | None:
    if "timeout" in options:
        return options["timeout"]
    if settings.timeout is None or call.patience is None:
        return settings.timeout
    return max(settings.timeout, call.patience)



_USER_AGENT = f"lodge-agents/{VERSION} python/{platform.python_version()}"
