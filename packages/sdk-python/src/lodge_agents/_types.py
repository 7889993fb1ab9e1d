"""Small types that all modules share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from typing_extensions import TypedDict

T = TypeVar("T")


class NotGiven:
    """The default of what may be left out, where None is a value of its own."""

    _only: NotGiven | None = None

    def __new__(cls) -> NotGiven:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = NotGiven()


class RequestOptions(TypedDict, total=False):
    """What one call does otherwise than its client."""

    timeout: float | None
    """Seconds without a byte after which the call fails; None: never."""
    max_retries: int
    """How often a failed request is repeated, where repeating it is safe."""
    idempotency_key: str
    """Names a change, so that it happens once however often it is asked for. Made by itself where it is left out."""
    headers: Mapping[str, str]
    query: Mapping[str, Any]
    """Parameters that this SDK does not know yet."""
    body: Mapping[str, Any]
    """Fields that this SDK does not know yet."""


@dataclass(frozen=True)
class Call:
    """One request, before the client's settings are added."""

    verb: str
    path: str
    """Below /v1, with its slash."""
    query: Mapping[str, Any] = field(default_factory=dict, repr=False)
    headers: Mapping[str, Any] = field(default_factory=dict, repr=False)
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    """Sent as JSON."""
    content: Callable[[], Any] | None = None
    """Makes the bytes to send, anew for each attempt."""
    keyed: bool = False
    """Whether the operation takes an Idempotency-Key."""
    repeatable: bool = True
    """False: the content can be read only once."""
    patience: float | None = None
    """Seconds that the reply may take to begin, where that is longer than the client's timeout."""
    anonymous: bool = False
    """True: sent without the API key."""

    def having(self, **changes: Any) -> Call:
        return replace(self, **changes)


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that are there."""
    return {name: value for name, value in values.items() if not isinstance(value, NotGiven)}


def segment(value: object) -> str:
    """One part of a path, encoded. Raises ValueError for one that would name another path."""
    text = str(value)
    if text in ("", ".", ".."):
        raise ValueError(f"An id or name is expected here, not {text!r}.")
    return quote(text, safe="")


def silence(seconds: int | NotGiven, margin: float) -> float:
    """How long a reply may be silent that waits on the server for so many seconds; a minute where none are given."""
    return (60 if isinstance(seconds, NotGiven) else seconds) + margin


def query_text(query: Mapping[str, Any]) -> str:
    return urlencode(list(_pairs(given(query))))


def _pairs(query: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in query.items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            yield from ((f"{name}[{key}]", _word(each)) for key, each in value.items())
        else:
            yield name, _word(value)


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _time(value) if isinstance(value, datetime) else str(value)


def _time(value: datetime) -> str:
    # A time without a zone is the machine's own.
    return value.astimezone().isoformat() if value.tzinfo is None else value.isoformat()


def json_bytes(body: Mapping[str, Any]) -> bytes:
    return json.dumps(_plain(body), ensure_ascii=False, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    """The value in JSON's types: what is not given is left out at every depth."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items() if not isinstance(each, NotGiven)}
    if isinstance(value, datetime):
        return _time(value)
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(each) for each in value]
    return value
