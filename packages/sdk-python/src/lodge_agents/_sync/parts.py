# `node scripts/docs.ts` writes this file from _async/parts.py.
"""Sends bytes: of a whole file, or part by part, so that a cut or a restart of the server costs no more than a part."""

from __future__ import annotations

import uuid
from collections.abc import Generator, Iterator, Callable
from contextlib import closing
from typing import Any

from .._settings import backoff, is_passing
from .._transfer import PART_BYTES, Progress, octets
from .._types import Call, NotGiven, RequestOptions, segment
from ..errors import ApiError, ConflictError, LodgeError
from ..models import AgentFile, Upload
from .client import Transport
from .waiting import in_thread, sleep

_CHUNK_BYTES = 256 * 1024
_MAX_FAILURES = 12
"""Failures without a byte between them after which an upload is given up."""
_FIRST_DELAY_SECONDS = 0.25
_MAX_DELAY_SECONDS = 5.0
_PART_SECONDS = 120


class PartUpload:
    """One upload in parts, under an id of its own."""

    def __init__(
        self,
        client: Transport,
        agent_id: str,
        wake: bool | NotGiven,
        on_progress: Progress | None,
        options: RequestOptions | None,
    ) -> None:
        self._client = client
        self._path = f"/agents/{segment(agent_id)}/uploads/{uuid.uuid4().hex}"
        self._query = {"wake": wake}
        self._on_progress = on_progress
        self._options = options
        self._size: int | None = None
        self._offset = 0

    def begin(self, source: Any, size: int | None) -> bytes | None:
        """Sends the parts. Gives back what there is instead where that is less than one part."""
        self._size = size
        try:
            with closing(_parts(source)) as parts:
                for part in parts:
                    if self._offset == 0 and len(part) < PART_BYTES:
                        return part
                    self._send(part)
        except Exception:
            self._give_up()
            raise
        return b"" if self._offset == 0 else None

    def finish(self, path: str, conditions: dict[str, Any]) -> AgentFile:
        body = {"path": path.removeprefix("/"), "size": self._offset}
        call = Call("POST", self._path, query=self._query, headers=conditions, body=body, keyed=True, patience=_PART_SECONDS)
        try:
            return self._client.call(AgentFile, call, self._options)
        except ApiError:
            self._give_up()
            raise

    def _send(self, part: bytes) -> None:
        begin = self._offset
        failures = 0
        while self._offset < begin + len(part):
            before = self._offset
            try:
                self._offset = self._append(part[self._offset - begin :])
            except LodgeError as error:
                if not _may_go_on(error) or failures >= _MAX_FAILURES:
                    raise
                sleep(backoff(failures, _FIRST_DELAY_SECONDS, _MAX_DELAY_SECONDS))
                self._offset = self._known_offset()
            if not begin <= self._offset <= begin + len(part):
                raise LodgeError("The server lost a part of the upload.")
            failures = 0 if self._offset > before else failures + 1

    def _append(self, rest: bytes) -> int:
        def progress(moved: int, _: int | None) -> None:
            if self._on_progress is not None:
                self._on_progress(self._offset + moved, self._size)

        call = Call(
            "PATCH",
            self._path,
            query=self._query,
            headers={"upload-offset": str(self._offset), **octets(len(rest))},
            content=lambda: sent(lambda: rest, len(rest), progress),
            patience=_PART_SECONDS,
        )
        return (self._client.call(Upload, call, self._options)).offset

    def _known_offset(self) -> int:
        """Where the upload ends on the server; where it ended before, if the server cannot be asked yet."""
        try:
            return (self._client.call(Upload, Call("GET", self._path, query=self._query), self._options)).offset
        except LodgeError as error:
            if not _may_go_on(error):
                raise
            return self._offset

    def _give_up(self) -> None:
        """Frees what the server keeps of it. What stays is removed by the server itself, after a day."""
        try:
            self._client.call_raw(Call("DELETE", self._path), {"max_retries": 0, "timeout": 5})
        except LodgeError:
            pass


def _may_go_on(error: LodgeError) -> bool:
    """A part that was taken up whose reply was lost is a conflict when it comes again."""
    return is_passing(error) or (isinstance(error, ConflictError) and error.code == "file_conflict")


def sent(open_: Callable[[], Any], size: int | None, on_progress: Progress | None) -> Iterator[bytes]:
    """The bytes of a request, told as they go out."""
    done = 0
    for chunk in _chunks(open_()):
        yield chunk
        done += len(chunk)
        if on_progress is not None:
            on_progress(done, size)


def _parts(source: Any) -> Generator[bytes, None, None]:
    rest = bytearray()
    for chunk in _chunks(source):
        rest += chunk
        while len(rest) >= PART_BYTES:
            yield bytes(rest[:PART_BYTES])
            del rest[:PART_BYTES]
    if rest:
        yield bytes(rest)


def _chunks(source: Any) -> Iterator[bytes]:
    if hasattr(source, "read"):
        while chunk := in_thread(lambda: source.read(_CHUNK_BYTES)):
            yield chunk
    elif isinstance(source, bytes):
        for begin in range(0, len(source), _CHUNK_BYTES):
            yield source[begin : begin + _CHUNK_BYTES]
    elif hasattr(source, "__iter__"):
        for chunk in source:
            yield chunk
    else:
        for chunk in source:
            yield chunk
