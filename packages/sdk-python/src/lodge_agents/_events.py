"""What the API's streams say, event by event."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, Union

from ._reply import Reply
from ._sse import SseEvent
from .errors import ReplyError, event_error
from .models import ChatCompletionChunk, LodgeEvent, LogEntry, Pairing

T = TypeVar("T")


class ExecOutput(Reply):
    """What a command wrote."""

    event: Literal["stdout", "stderr"]
    text: str


class ExecExit(Reply):
    """How a command ended."""

    event: Literal["exit"] = "exit"
    exit_code: int | None
    """None where a signal ended it."""
    signal: str | None
    timed_out: bool
    truncated: bool
    """There was more output than was given."""
    duration_ms: int


ExecEvent = Union[ExecOutput, ExecExit]


class ResponseEvent(Reply):
    """An event of OpenAI's responses; its further fields are attributes, by its type."""

    type: str
    sequence_number: int = 0


@dataclass(frozen=True)
class Step(Generic[T]):
    """What one event comes to."""

    item: T | None = None
    is_end: bool = False
    """True: the stream is whole."""
    id: str | None = None
    """Where a follower is by now."""


Decoder = Callable[[SseEvent], Step[T]]


def chat_chunk(event: SseEvent) -> Step[ChatCompletionChunk]:
    if event.data == "[DONE]":
        return Step(is_end=True)
    return Step(ChatCompletionChunk.model_validate(_object(event)))


def response_event(event: SseEvent) -> Step[ResponseEvent]:
    data = _object(event)
    if event.event == "error":
        raise event_error(data, None)
    is_end = event.event in ("response.completed", "response.failed", "response.incomplete")
    return Step(ResponseEvent.model_validate(data), is_end=is_end)


def exec_event(event: SseEvent) -> Step[ExecEvent]:
    data = _object(event)
    if event.event in ("stdout", "stderr"):
        return Step(ExecOutput.model_validate({**data, "event": event.event}))
    if event.event == "exit":
        return Step(ExecExit.model_validate({**data, "event": "exit"}), is_end=True)
    return Step()


def lodge_event(event: SseEvent) -> Step[LodgeEvent]:
    return Step(LodgeEvent.model_validate(_object(event)), id=event.id)


def log_entry(event: SseEvent) -> Step[LogEntry]:
    return Step(LogEntry.model_validate(_object(event)), id=event.id)


def pairing(event: SseEvent) -> Step[Pairing]:
    state = Pairing.model_validate(_object(event))
    return Step(state, is_end=state.status in ("connected", "failed"))


def _object(event: SseEvent) -> dict[str, Any]:
    try:
        data = json.loads(event.data)
    except (ValueError, RecursionError):
        raise ReplyError("An event of the stream is not JSON.") from None
    if not isinstance(data, dict):
        raise ReplyError("An event of the stream is not an object.")
    error = data.get("error")
    # A response that failed has an error of its own, which is no envelope.
    if isinstance(error, dict) and "code" in error and "message" in error and "type" in error:
        raise event_error(error, None)
    return data
