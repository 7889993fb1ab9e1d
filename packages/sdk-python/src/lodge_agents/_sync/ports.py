# `node scripts/docs.ts` writes this file from _async/ports.py.
"""TCP ports of an agent, and connections to them."""

from __future__ import annotations

from collections.abc import Iterator

from .._types import NOT_GIVEN, Call, NotGiven, RequestOptions, segment
from .operations import PortsOperations
from .sockets import Socket, open_socket

_MAX_SENT_BYTES = 256 * 1024
_END = '{"type":"end"}'


class Tunnel:
    """A TCP connection. Iterate over it for what the agent sends; `write` to it; `close` it, or use it in a `with`."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket

    @property
    def reason(self) -> str:
        """Why the service closed the connection, where it says so."""
        return self._socket.reason

    def write(self, data: bytes) -> None:
        """Send bytes, and return when more can be sent."""
        for at in range(0, len(data), _MAX_SENT_BYTES):
            self._socket.send(data[at : at + _MAX_SENT_BYTES])

    def end(self) -> None:
        """Say that no more is sent; what the agent still sends is read on."""
        self._socket.send(_END)

    def __iter__(self) -> Iterator[bytes]:
        while True:
            message = self._socket.receive()
            if message is None or message == _END:
                return
            if isinstance(message, bytes):
                yield message

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Tunnel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Ports(PortsOperations):
    def tunnel(
        self,
        agent_id: str,
        port: int,
        *,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Tunnel:
        """Open a connection to any TCP port of an agent's machine, published or not.

        The server in the machine must listen on 0.0.0.0. It needs `pip install lodge-agents[terminal]`.

        Args:
            agent_id: The agent's id.
            port: The TCP port.
            wake: True: a stopped agent is started first.
        """
        call = Call("GET", f"/agents/{segment(agent_id)}/ports/{segment(port)}/tunnel", query={"wake": wake})
        return Tunnel(open_socket(self._client, call, options, what="tunnel", subprotocols=["lodge.tunnel"]))
