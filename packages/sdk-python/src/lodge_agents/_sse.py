"""Reads server-sent events, in linear time and with a bound on each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .errors import ReplyError

MAX_EVENT_BYTES = 32 * 1024 * 1024
_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True)
class SseEvent:
    """One server-sent event."""

    event: str
    data: str
    id: str | None


class SseParser:
    """Takes the bytes of a stream as they come, and gives the events that are whole."""

    def __init__(self, max_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._rest = bytearray()
        self._seen = 0
        self._size = 0
        self._is_first = True
        self._reset()

    def _reset(self) -> None:
        self._event = ""
        self._data: list[str] = []
        self._id: str | None = None
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[SseEvent]:
        self._rest += chunk
        begin = 0
        for found in _LINE_END.finditer(self._rest, self._seen):
            # A carriage return at the very end may be half of a line's end.
            if found.group() == b"\r" and found.end() == len(self._rest):
                break
            line = bytes(self._rest[begin : found.start()])
            begin = found.end()
            event = self._line(line)
            if event is not None:
                yield event
        del self._rest[:begin]
        if self._size + len(self._rest) > self._max_bytes:
            raise ReplyError("The server sent an event that is too large.")
        self._seen = max(0, len(self._rest) - 1)

    def _line(self, line: bytes) -> SseEvent | None:
        self._size += len(line) + 1
        if self._size > self._max_bytes:
            raise ReplyError("The server sent an event that is too large.")
        if self._is_first:
            self._is_first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line == b"":
            return self._whole()
        if line.startswith(b":"):
            return None
        name, _, value = line.decode("utf-8", "replace").partition(":")
        self._field(name, value.removeprefix(" "))
        return None

    def _field(self, name: str, value: str) -> None:
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value

    def _whole(self) -> SseEvent | None:
        event = SseEvent(self._event or "message", "\n".join(self._data), self._id) if self._data else None
        self._reset()
        return event
