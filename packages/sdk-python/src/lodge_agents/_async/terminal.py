"""A terminal on an agent's machine, over a WebSocket."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Literal

from .._types import NOT_GIVEN, Call, NotGiven, RequestOptions, segment
from ..errors import ConnectionError, LodgeError, api_error
from .client import AsyncResource

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

_MAX_MESSAGE_BYTES = 1024 * 1024
_OPEN_SECONDS = 120


class AsyncTerminal:
    """A shell. Iterate over it for what it shows; `write` to it; `close` it, or use it in a `with`."""

    def __init__(self, socket: ClientConnection, manager: Any) -> None:
        self._socket = socket
        self._manager = manager
        self.exit_code: int | None = None
        """How the shell ended, once it did; None where a signal ended it."""
        self.signal: str | None = None
        self.reason: str = ""
        """Why the service closed the terminal, where it says so."""

    async def write(self, data: bytes | str) -> None:
        """Type something."""
        await self._send(data.encode() if isinstance(data, str) else data)

    async def resize(self, cols: int, rows: int) -> None:
        await self._send(json.dumps({"type": "resize", "cols": cols, "rows": rows}))

    async def _send(self, message: bytes | str) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            await self._socket.send(message)
        except ConnectionClosed:
            raise ConnectionError("The terminal is closed.") from None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        from websockets.exceptions import ConnectionClosed, ConnectionClosedOK

        while True:
            try:
                message = await self._socket.recv()
            except ConnectionClosedOK:
                self.reason = self._socket.close_reason or ""
                return
            except ConnectionClosed as error:
                self.reason = self._socket.close_reason or ""
                raise ConnectionError(f"The terminal was cut off: {self.reason or error}"[:500]) from None
            if isinstance(message, bytes):
                yield message
            else:
                self._told(message)

    def _told(self, message: str) -> None:
        try:
            event = json.loads(message)
        except (ValueError, RecursionError):
            return
        if isinstance(event, dict) and event.get("type") == "exit":
            code, signal = event.get("exit_code"), event.get("signal")
            self.exit_code = code if isinstance(code, int) else None
            self.signal = signal if isinstance(signal, str) else None

    async def aclose(self) -> None:
        await self._manager.__aexit__(None, None, None)

    async def __aenter__(self) -> AsyncTerminal:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class AsyncTerminals(AsyncResource):
    async def open(
        self,
        agent_id: str,
        *,
        cols: int = 80,
        rows: int = 24,
        user: Literal["agent", "root"] | NotGiven = NOT_GIVEN,
        term: str | NotGiven = NOT_GIVEN,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> AsyncTerminal:
        """Open a terminal on an agent's machine. It needs `pip install lodge-agents[terminal]`.

        Args:
            agent_id: The agent's id.
            cols: Columns at the beginning.
            rows: Rows at the beginning.
            user: Whom the shell runs as: the agent's own user, or `root` of its machine.
            term: Kind of terminal, for TERM.
            wake: True: a stopped agent is started first.
        """
        try:
            from websockets.asyncio.client import connect
            from websockets.exceptions import InvalidStatus, WebSocketException
        except ImportError:
            raise LodgeError("A terminal needs the package websockets: pip install 'lodge-agents[terminal]'") from None
        query = {"cols": cols, "rows": rows, "user": user, "term": term, "wake": wake}
        call = Call("GET", f"/agents/{segment(agent_id)}/terminal", query=query)
        url, headers = self._client.socket_address(call, options)
        settings: dict[str, Any] = {"compression": None, "max_size": _MAX_MESSAGE_BYTES, "open_timeout": _OPEN_SECONDS}
        try:
            # Newer versions of websockets connect as a context manager only.
            manager: Any = connect(url, additional_headers=headers, **settings)
            return AsyncTerminal(await manager.__aenter__(), manager)
        except InvalidStatus as error:
            reply = error.response
            raise api_error(reply.status_code, bytes(reply.body or b""), reply.headers) from None
        except (OSError, WebSocketException) as error:
            raise ConnectionError(f"{self._client.settings.base_url} cannot be reached: {error}") from error
