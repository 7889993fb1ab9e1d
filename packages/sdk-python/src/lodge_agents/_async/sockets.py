"""WebSockets of the API. They need `pip install lodge-agents[terminal]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._types import Call, RequestOptions
from ..errors import ConnectionError, LodgeError, api_error
from .client import AsyncTransport

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

_MAX_MESSAGE_BYTES = 1024 * 1024
_OPEN_SECONDS = 120


class AsyncSocket:
    """An open WebSocket."""

    def __init__(self, connection: ClientConnection, manager: Any, what: str) -> None:
        self._connection = connection
        self._manager = manager
        self._what = what

    @property
    def reason(self) -> str:
        """Why the service closed it, where it says so."""
        return self._connection.close_reason or ""

    async def send(self, message: bytes | str) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            await self._connection.send(message)
        except ConnectionClosed:
            raise ConnectionError(f"The {self._what} is closed.") from None

    async def receive(self) -> bytes | str | None:
        """Return the next message; None once the service closed it as a whole."""
        from websockets.exceptions import ConnectionClosed, ConnectionClosedOK

        try:
            message: bytes | str = await self._connection.recv()
            return message
        except ConnectionClosedOK:
            return None
        except ConnectionClosed as error:
            raise ConnectionError(f"The {self._what} was cut off: {self.reason or error}"[:500]) from None

    async def aclose(self) -> None:
        await self._manager.__aexit__(None, None, None)


async def open_socket(
    client: AsyncTransport,
    call: Call,
    options: RequestOptions | None,
    *,
    what: str,
    subprotocols: Sequence[str] | None = None,
) -> AsyncSocket:
    """Open a WebSocket; `what` is its name in errors."""
    try:
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidStatus, WebSocketException
    except ImportError:
        raise LodgeError(f"A {what} needs the package websockets: pip install 'lodge-agents[terminal]'") from None
    url, headers = client.socket_address(call, options)
    settings: dict[str, Any] = {
        "compression": None,
        "max_size": _MAX_MESSAGE_BYTES,
        "open_timeout": _OPEN_SECONDS,
        "subprotocols": subprotocols,
    }
    try:
        # Newer versions of websockets connect as a context manager only.
        manager: Any = connect(url, additional_headers=headers, **settings)
        return AsyncSocket(await manager.__aenter__(), manager, what)
    except InvalidStatus as error:
        reply = error.response
        raise api_error(reply.status_code, bytes(reply.body or b""), reply.headers) from None
    except (OSError, WebSocketException) as error:
        raise ConnectionError(f"{client.settings.base_url} cannot be reached: {error}") from error
