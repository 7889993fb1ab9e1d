# `node scripts/docs.ts` writes this file from _async/terminal.py.
"""A terminal on an agent's machine, over a WebSocket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

from .._types import NOT_GIVEN, Call, NotGiven, RequestOptions, segment
from .client import Resource
from .sockets import Socket, open_socket


class Terminal:
    """A shell. Iterate over it for what it shows; `write` to it; `close` it, or use it in a `with`."""

    def __init__(self, socket: Socket) -> None:
        self._socket = socket
        self.exit_code: int | None = None
        """How the shell ended, once it did; None where a signal ended it."""
        self.signal: str | None = None

    @property
    def reason(self) -> str:
        """Why the service closed the terminal, where it says so."""
        return self._socket.reason

    def write(self, data: bytes | str) -> None:
        """Type something."""
        self._socket.send(data.encode() if isinstance(data, str) else data)

    def resize(self, cols: int, rows: int) -> None:
        self._socket.send(json.dumps({"type": "resize", "cols": cols, "rows": rows}))

    def __iter__(self) -> Iterator[bytes]:
        while True:
            message = self._socket.receive()
            if message is None:
                return
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

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Terminals(Resource):
    def open(
        self,
        agent_id: str,
        *,
        cols: int = 80,
        rows: int = 24,
        user: Literal["agent", "root"] | NotGiven = NOT_GIVEN,
        term: str | NotGiven = NOT_GIVEN,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Terminal:
        """Open a terminal on an agent's machine. It needs `pip install lodge-agents[terminal]`.

        Args:
            agent_id: The agent's id.
            cols: Columns at the beginning.
            rows: Rows at the beginning.
            user: Whom the shell runs as: the agent's own user, or `root` of its machine.
            term: Kind of terminal, for TERM.
            wake: True: a stopped agent is started first.
        """
        query = {"cols": cols, "rows": rows, "user": user, "term": term, "wake": wake}
        call = Call("GET", f"/agents/{segment(agent_id)}/terminal", query=query)
        return Terminal(open_socket(self._client, call, options, what="terminal"))
