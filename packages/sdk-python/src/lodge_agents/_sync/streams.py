# `node scripts/docs.ts` writes this file from _async/streams.py.
"""Streams of the API as iterators: those that end by themselves, and those that are followed across cuts."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from contextlib import closing
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import httpx

from .._events import Decoder
from .._settings import backoff, failure
from .._sse import SseEvent, SseParser
from .._types import Call, RequestOptions, given
from ..errors import ApiError, ConnectionError, LodgeError, ReplyError, TimeoutError
from .waiting import interrupt, sleep

if TYPE_CHECKING:
    from .client import Transport

T = TypeVar("T")

EVENT_STREAM = "text/event-stream"
FOLLOW_PATIENCE_SECONDS = 600.0
"""How long a follower tries to reach a server that it had reached before."""
_FIRST_DELAY_SECONDS = 0.25
_MAX_DELAY_SECONDS = 10.0


class Slot:
    """The reply that a stream reads now, so that closing the stream ends the reading."""

    def __init__(self) -> None:
        self.response: httpx.Response | None = None
        self.is_closed = False
        self.was_opened = False
        """Whether the server began a reply."""


class Stream(Generic[T]):
    """What a stream says, one by one. Close it, or use it in a `with`, to leave it before its end."""

    def __init__(self, source: Generator[T, None, None], slot: Slot) -> None:
        self._source = source
        self._slot = slot

    def __iter__(self) -> Stream[T]:
        return self

    def __next__(self) -> T:
        return self._source.__next__()

    def close(self) -> None:
        """Ends the stream, also while another task or thread waits for it."""
        self._slot.is_closed = True
        if self._slot.response is not None:
            interrupt(self._slot.response)
        try:
            self._source.close()
        except (RuntimeError, ValueError):
            # Somebody waits in it right now, and finds it closed.
            if self._slot.response is not None:
                self._slot.response.close()

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def opened_stream(
    transport: Transport, decoder: Decoder[T], call: Call, options: RequestOptions | None
) -> Stream[T]:
    slot = Slot()
    return Stream(_streamed(transport, decoder, call, options, slot), slot)


def raw_stream(transport: Transport, call: Call, options: RequestOptions | None) -> Stream[SseEvent]:
    """The events as they are, up to whatever end."""
    slot = Slot()
    return Stream(_events(transport, call, options, slot), slot)


def _streamed(
    transport: Transport, decoder: Decoder[T], call: Call, options: RequestOptions | None, slot: Slot
) -> Generator[T, None, None]:
    with closing(_events(transport, call, options, slot)) as events:
        for event in events:
            step = decoder(event)
            if step.item is not None:
                yield step.item
            if step.is_end:
                return
    if not slot.is_closed:
        raise ConnectionError("The stream was cut off before its end.")


def _events(
    transport: Transport, call: Call, options: RequestOptions | None, slot: Slot
) -> Generator[SseEvent, None, None]:
    """The events of one reply. An end without a word is an end here; a broken connection is an error."""
    response = transport.open(call, options, accept=EVENT_STREAM)
    slot.response = response
    slot.was_opened = True
    try:
        if slot.is_closed:
            return
        if not response.headers.get("content-type", "").startswith(EVENT_STREAM):
            raise ReplyError("The reply is no stream of events.", response.headers.get("x-request-id"))
        parser = SseParser()
        for chunk in response.iter_raw():
            for event in parser.feed(chunk):
                yield event
    except httpx.HTTPError as error:
        if not slot.is_closed:
            raise failure(error, transport.settings, transport.settings.timeout)[0] from error
    finally:
        slot.response = None
        response.close()


def followed(
    transport: Transport, decoder: Decoder[T], call: Call, options: RequestOptions | None
) -> Stream[T]:
    slot = Slot()
    return Stream(_followed(transport, decoder, call, options, slot), slot)


def followed_list(
    transport: Transport, decoder: Decoder[T], call: Call, options: RequestOptions | None
) -> Stream[T]:
    """Follows a list that grows. Its newest entries are read as a page first: so the follower has a place in the list from
    the beginning, and a cut before the first new entry loses none."""
    slot = Slot()
    return Stream(_from_newest(transport, decoder, call, options, slot), slot)


def _from_newest(
    transport: Transport, decoder: Decoder[T], call: Call, options: RequestOptions | None, slot: Slot
) -> Generator[T, None, None]:
    asked = given({**call.query, **call.headers})
    follow = call.having(query={**call.query, "follow": True})
    if "last-event-id" not in asked and ("since" not in asked or "limit" in asked):
        newest = transport.call_raw(call, options)
        last_id = "0"
        for entry in reversed(newest["data"]):
            step = decoder(SseEvent("message", json.dumps(entry), entry["id"]))
            last_id = entry["id"]
            if step.item is not None:
                yield step.item
        follow = follow.having(
            query={name: value for name, value in follow.query.items() if name not in ("limit", "since")},
            headers={**call.headers, "last-event-id": last_id},
        )
    with closing(_followed(transport, decoder, follow, options, slot)) as items:
        for item in items:
            yield item


def _followed(
    transport: Transport, decoder: Decoder[T], follow: Call, options: RequestOptions | None, slot: Slot
) -> Generator[T, None, None]:
    retry = _Patience(transport, slot)
    while not slot.is_closed:
        try:
            with closing(_events(transport, follow, retry.options(options), slot)) as events:
                for event in events:
                    step = decoder(event)
                    retry.reached()
                    if not _is_later(step.id, follow.headers.get("last-event-id")):
                        continue
                    if step.id is not None:
                        follow = follow.having(headers={**follow.headers, "last-event-id": step.id})
                    if step.item is not None:
                        yield step.item
                    if step.is_end:
                        return
            retry.reached_end()
        except LodgeError as error:
            retry.failed(error)
        if not slot.is_closed:
            sleep(retry.delay())


def _is_later(entry_id: str | None, last_id: Any) -> bool:
    """Ids are numbers that rise, as texts."""
    if entry_id is None or not isinstance(last_id, str):
        return True
    return (len(entry_id), entry_id) > (len(last_id), last_id)


class _Patience:
    """How long a follower goes on. A server that was never reached is tried as often as any other request is."""

    def __init__(self, transport: Transport, slot: Slot) -> None:
        self._transport = transport
        self._slot = slot
        self._failures = 0
        self._since = time.monotonic()

    def options(self, options: RequestOptions | None) -> RequestOptions | None:
        """One attempt is one request from the second on: the follower itself waits between them."""
        return {**(options or {}), "max_retries": 0} if self._slot.was_opened else options

    def reached(self) -> None:
        self._failures = 0

    def reached_end(self) -> None:
        """The server ended the stream, as it does when it stops."""
        self._count()

    def failed(self, error: LodgeError) -> None:
        is_passing = isinstance(error, (ConnectionError, TimeoutError)) or (
            isinstance(error, ApiError) and (error.status >= 500 or error.status == 429) and error.should_retry is not False
        )
        if not self._slot.was_opened or not is_passing or self._transport.is_closed:
            raise error
        self._count()
        if time.monotonic() - self._since > FOLLOW_PATIENCE_SECONDS:
            raise error

    def _count(self) -> None:
        if self._failures == 0:
            self._since = time.monotonic()
        self._failures += 1

    def delay(self) -> float:
        return backoff(max(0, self._failures - 1), _FIRST_DELAY_SECONDS, _MAX_DELAY_SECONDS)
