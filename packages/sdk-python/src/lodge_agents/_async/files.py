"""Files of an agent's workspace."""

from __future__ import annotations

import builtins
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx

from .._settings import backoff, failure, is_passing
from .._transfer import MAX_WHOLE_BYTES, Progress, content_of, file_path, octets
from .._types import NOT_GIVEN, Call, NotGiven, RequestOptions, given
from ..errors import ConnectionError, LodgeError, ReplyError
from ..models import AgentFile, FileDeleted
from .client import AsyncResource, AsyncTransport
from .pages import AsyncPages
from .parts import AsyncPartUpload, sent
from .waiting import sleep

_TRANSFER_SECONDS = 120
_MAX_CUTS = 12
"""Cuts without a byte between them after which a file is given up."""
_FIRST_DELAY_SECONDS = 0.25
_MAX_DELAY_SECONDS = 5.0


class AsyncFileContent:
    """A file whose bytes are read by one of `stream`, `bytes`, `text` and `json`, once. A cut is mended: the reading goes on
    where it was, of the same version of the file."""

    def __init__(
        self, transport: AsyncTransport, call: Call, options: RequestOptions | None, response: httpx.Response
    ) -> None:
        length = response.headers.get("content-length", "")
        self.size: int | None = int(length) if length.isascii() and length.isdigit() else None
        """Bytes that come."""
        self.etag: str | None = response.headers.get("etag")
        self.type: str = response.headers.get("content-type", "application/octet-stream")
        self._transport = transport
        self._call = call
        self._options = options
        self._response = response

    async def stream(self) -> AsyncIterator[builtins.bytes]:
        received = failures = 0
        is_cut = False
        try:
            while True:
                error: LodgeError = ConnectionError("The file was cut off before its end.")
                try:
                    if is_cut:
                        await self._reopen(received)
                    async for chunk in self._response.aiter_raw():
                        received += len(chunk)
                        failures = 0
                        yield chunk
                    if self.size is None or received == self.size:
                        return
                except httpx.HTTPError as cause:
                    error, _ = failure(cause, self._transport.settings, self._transport.settings.timeout)
                except LodgeError as cause:
                    if not is_passing(cause):
                        raise
                    error = cause
                await self._response.aclose()
                if self.etag is None or failures >= _MAX_CUTS:
                    raise error
                is_cut = True
                await sleep(backoff(failures, _FIRST_DELAY_SECONDS, _MAX_DELAY_SECONDS))
                failures += 1
        finally:
            await self._response.aclose()

    async def _reopen(self, received: int) -> None:
        if received == 0 and "range" not in self._call.headers:
            headers = {"if-match": self.etag}
        else:
            first, last = self._range()
            headers = {"if-match": self.etag, "range": f"bytes={first + received}-{last}"}
        call = self._call.having(headers={**self._call.headers, **headers})
        response = await self._transport.open(call, self._options)
        if received > 0 and response.status_code != 206:
            await response.aclose()
            raise ReplyError("The server does not continue a file that was cut off.")
        self._response = response

    def _range(self) -> tuple[int, str]:
        """The range that was asked for: its first byte, and its last one where it has one."""
        text = str(given(self._call.headers).get("range", "bytes=0-"))
        first, _, last = text.removeprefix("bytes=").partition("-")
        return int(first or 0), last

    async def bytes(self) -> builtins.bytes:
        return b"".join([chunk async for chunk in self.stream()])

    async def text(self, encoding: str = "utf-8") -> str:
        return (await self.bytes()).decode(encoding)

    async def json(self) -> Any:
        return json.loads(await self.bytes())

    async def aclose(self) -> None:
        await self._response.aclose()

    async def __aenter__(self) -> AsyncFileContent:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class AsyncFiles(AsyncResource):
    def list(
        self,
        agent_id: str,
        path: str = "",
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> AsyncPages[AgentFile]:
        """List what is in a folder, by name.

        Args:
            agent_id: The agent's id.
            path: The folder, within the workspace; the workspace itself by default.
            limit: Entries per page.
            cursor: `next_cursor` of the page before.
            wake: True: a stopped agent is started first.
        """
        query = {"list": "1", "limit": limit, "cursor": cursor, "wake": wake}
        return self._client.pages(AgentFile, Call("GET", file_path(agent_id, path), query=query), options)

    async def walk(
        self, agent_id: str, path: str = "", *, options: RequestOptions | None = None
    ) -> AsyncIterator[AgentFile]:
        """Everything below a folder, each folder before what is in it. Links are not followed."""
        folders = [path]
        while folders:
            async for entry in self.list(agent_id, folders.pop(), options=options):
                yield entry
                if entry.type == "directory":
                    folders.append(entry.path)

    async def read(
        self,
        agent_id: str,
        path: str,
        *,
        range: str | NotGiven = NOT_GIVEN,
        if_match: str | NotGiven = NOT_GIVEN,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> AsyncFileContent:
        """Read a file. Its size and ETag are there at once; its bytes come by the methods of what this gives.

        Args:
            agent_id: The agent's id.
            path: Path in the workspace.
            range: One range of bytes, such as `bytes=0-99`.
            if_match: ETags of which one must be there, or `*`; else 412.
            wake: True: a stopped agent is started first.
        """
        call = Call(
            "GET",
            file_path(agent_id, path),
            query={"wake": wake},
            headers={"range": range, "if-match": if_match},
            patience=_TRANSFER_SECONDS,
        )
        return AsyncFileContent(self._client, call, options, await self._client.open(call, options))

    async def read_bytes(self, agent_id: str, path: str, *, options: RequestOptions | None = None) -> bytes:
        return await (await self.read(agent_id, path, options=options)).bytes()

    async def read_text(self, agent_id: str, path: str, *, options: RequestOptions | None = None) -> str:
        return await (await self.read(agent_id, path, options=options)).text()

    async def write(
        self,
        agent_id: str,
        path: str,
        content: bytes | str | Any,
        *,
        if_match: str | NotGiven = NOT_GIVEN,
        if_none_match: str | NotGiven = NOT_GIVEN,
        wake: bool | NotGiven = NOT_GIVEN,
        on_progress: Progress | None = None,
        options: RequestOptions | None = None,
    ) -> AgentFile:
        """Write a file of up to 64 GiB: whole or not at all. Folders on the way are made.

        Args:
            agent_id: The agent's id.
            path: Path in the workspace.
            content: Bytes, a text (written as UTF-8), an open binary file, or an iterator of bytes.
            if_match: ETags of which one must be there, or `*` for anything; else 412.
            if_none_match: `*`: nothing may be there; else 412.
            wake: True: a stopped agent is started first.
            on_progress: Told the bytes sent so far, and how many there are where that is known.
        """
        source = content_of(content)
        conditions: dict[str, Any] = {"if-match": if_match, "if-none-match": if_none_match}
        if source.size is None or source.size > MAX_WHOLE_BYTES:
            upload = AsyncPartUpload(self._client, agent_id, wake, on_progress, options)
            begun = await upload.begin(source.open(), source.size)
            if begun is None:
                return await upload.finish(path, conditions)
            # All of it is one part.
            source = content_of(begun)
        call = Call(
            "PUT",
            file_path(agent_id, path),
            query={"wake": wake},
            headers={**conditions, **octets(source.size or 0)},
            content=lambda: sent(source.open, source.size, on_progress),
            patience=_TRANSFER_SECONDS,
        )
        return await self._client.call(AgentFile, call, options)

    async def make_folder(
        self,
        agent_id: str,
        path: str,
        *,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> AgentFile:
        """Make a folder, with its parents. Nothing changes where it is there."""
        call = Call("PUT", file_path(agent_id, path), query={"directory": "1", "wake": wake})
        return await self._client.call(AgentFile, call, options)

    async def delete(
        self,
        agent_id: str,
        path: str,
        *,
        recursive: bool | NotGiven = NOT_GIVEN,
        if_match: str | NotGiven = NOT_GIVEN,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> FileDeleted:
        """Delete a file, or with `recursive` a folder with all that is in it."""
        call = Call(
            "DELETE",
            file_path(agent_id, path),
            query={"recursive": recursive, "wake": wake},
            headers={"if-match": if_match},
        )
        return await self._client.call(FileDeleted, call, options)
