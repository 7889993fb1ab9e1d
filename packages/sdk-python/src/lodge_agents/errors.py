"""Errors of the SDK. All of them are a `LodgeError`."""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._codes import ERROR_CODES

if TYPE_CHECKING:
    from .models import Agent


class LodgeError(Exception):
    """Whatever went wrong."""


class ConnectionError(LodgeError, builtins.ConnectionError):  # noqa: A001
    """The server could not be reached, or the connection was cut before the reply was whole."""

    def __init__(self, message: str, *, may_have_been_sent: bool = True) -> None:
        super().__init__(message)
        self.may_have_been_sent = may_have_been_sent
        """False: the server cannot have got the request."""


class TimeoutError(LodgeError, builtins.TimeoutError):  # noqa: A001
    """No byte came in time, or what was waited for did not happen in time."""


class ReplyError(LodgeError):
    """The reply is not as the API's document says."""

    def __init__(self, message: str, request_id: str | None = None) -> None:
        super().__init__(message)
        self.request_id = request_id


class SignatureError(LodgeError):
    """A webhook's signature is missing, old or wrong."""


class StateError(LodgeError):
    """The agent came into another state than the one that was waited for."""

    def __init__(self, message: str, agent: Agent) -> None:
        super().__init__(message)
        self.agent = agent


class ApiError(LodgeError):
    """The API refused, with a stable `code`."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        type: str,
        request_id: str | None = None,
        field: str | None = None,
        details: Mapping[str, Any] | None = None,
        retry_after_seconds: float | None = None,
        should_retry: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        """Stable; see the reference of errors."""
        self.type = type
        self.request_id = request_id
        """Names the request, for the operator of the service."""
        self.field = field
        """The field or parameter that is wrong, where the reply names one."""
        self.details: Mapping[str, Any] = details or {}
        self.retry_after_seconds = retry_after_seconds
        self.should_retry = should_retry

    def __str__(self) -> str:
        told = f"{self.message} ({self.code}, status {self.status}"
        return f"{told}, request {self.request_id})" if self.request_id else f"{told})"


class BadRequestError(ApiError):
    """400, 413, 415, 416 and 422: the request is wrong."""


class AuthenticationError(ApiError):
    """401: no key, or one that does not hold."""


class PermissionError(ApiError):  # noqa: A001
    """403: the key lacks a scope."""


class NotFoundError(ApiError):
    """404."""


class ConflictError(ApiError):
    """409 and 412: the state of what is there forbids it."""


class RateLimitError(ApiError):
    """429: too much, or a limit is reached."""


class ServerError(ApiError):
    """5xx."""


def is_api_error(error: object, code: str | None = None) -> bool:
    """Whether the API refused, with this code where one is given."""
    return isinstance(error, ApiError) and (code is None or error.code == code)


_BY_STATUS: Mapping[int, builtins.type[ApiError]] = {
    401: AuthenticationError,
    403: PermissionError,
    404: NotFoundError,
    409: ConflictError,
    412: ConflictError,
    429: RateLimitError,
}
_MAX_MESSAGE = 2_000
# The API's refusals begin with the name of the field.
_FIELD = re.compile(r"[a-z][\w.\[\]-]{0,200}(?= )")
_SECONDS = re.compile(r"[0-9]{1,9}")


def api_error(status: int, body: bytes, headers: Mapping[str, str]) -> ApiError:
    """The error of a reply, whatever its body is."""
    error = _envelope(body)
    code = str(error.get("code") or f"http_{status}")[:100]
    message = str(error.get("message") or f"The server answered {status}.")[:_MAX_MESSAGE]
    details = {name: value for name, value in error.items() if name not in ("code", "message", "type")}
    if "x-agent-id" in headers:
        details["agent_id"] = headers["x-agent-id"]
    retry_after = headers.get("retry-after", "")
    should_retry = headers.get("x-should-retry")
    return _class_of(status)(
        message,
        status=status,
        code=code,
        type=str(error.get("type") or "api_error")[:100],
        request_id=headers.get("x-request-id"),
        field=_field_of(error, code, message),
        details=details,
        retry_after_seconds=float(retry_after) if _SECONDS.fullmatch(retry_after) else None,
        should_retry=None if should_retry is None else should_retry == "true",
    )


def event_error(error: Mapping[str, Any], request_id: str | None) -> ApiError:
    """The error that an event of a stream tells of."""
    code = str(error.get("code") or "unknown")[:100]
    status, type_ = ERROR_CODES.get(code, (500, "server_error"))
    message = str(error.get("message") or "The stream failed.")[:_MAX_MESSAGE]
    return _class_of(status)(message, status=status, code=code, type=type_, request_id=request_id)


def _envelope(body: bytes) -> Mapping[str, Any]:
    try:
        error = json.loads(body)["error"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}
    return error if isinstance(error, dict) else {}


def _class_of(status: int) -> builtins.type[ApiError]:
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    return BadRequestError if 400 <= status < 500 else ServerError if status >= 500 else ApiError


def _field_of(error: Mapping[str, Any], code: str, message: str) -> str | None:
    named = error.get("field") or error.get("param")
    if isinstance(named, str):
        return named[:200]
    found = _FIELD.match(message) if code == "invalid_request" else None
    return found.group() if found else None
