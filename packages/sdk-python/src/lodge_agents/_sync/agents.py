# `node scripts/docs.ts` writes this file from _async/agents.py.
"""Agents: what takes more than one request."""

from __future__ import annotations

import time
from typing import Any, Literal

from .._transfer import Progress, content_of
from .._types import NOT_GIVEN, Call, NotGiven, RequestOptions, segment
from ..errors import ConnectionError, StateError, TimeoutError
from ..models import Agent, ImportedAgent
from .files import FileContent
from .operations import AgentsOperations
from .parts import sent
from .waiting import sleep

_LONGEST_LOOK_SECONDS = 50
_PORTABLE_SECONDS = 25 * 60
"""All folders of the agent are read before the first byte of an export comes, and before an import is answered."""


class Agents(AgentsOperations):
    def export_file(
        self,
        agent_id: str,
        *,
        snapshot: str | NotGiven = NOT_GIVEN,
        passphrase: str | NotGiven = NOT_GIVEN,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> FileContent:
        """Export an agent as one file. Its bytes come by the methods of what this gives; `stream` keeps none of them.

        Args:
            agent_id: The agent's id.
            snapshot: A snapshot of the agent, by its id or by `before_last_turn`; the agent as it is by default.
            passphrase: Seals the file: nobody opens it without.
            wake: True: a stopped agent is started first.
        """
        body = {"snapshot": snapshot, "passphrase": passphrase}
        path = f"/agents/{segment(agent_id)}/export"
        call = Call("POST", path, query={"wake": wake}, body=body, patience=_PORTABLE_SECONDS)
        return FileContent(self._client, call, options, self._client.open(call, options))

    def import_file(
        self,
        file: bytes | Any,
        *,
        name: str | NotGiven = NOT_GIVEN,
        passphrase: str | NotGiven = NOT_GIVEN,
        wait: bool | NotGiven = NOT_GIVEN,
        on_progress: Progress | None = None,
        options: RequestOptions | None = None,
    ) -> ImportedAgent:
        """Make an agent of the file of an export.

        Args:
            file: Bytes, an open binary file, or an iterator of bytes.
            name: By default the exported agent's name.
            passphrase: Opens a sealed file.
            wait: False: do not wait until the agent runs.
            on_progress: Told the bytes sent so far, and how many there are where that is known.
        """
        source = content_of(file)
        length = {} if source.size is None else {"content-length": str(source.size)}
        call = Call(
            "POST",
            "/agents/import",
            query={"name": name, "wait": wait},
            headers={"content-type": "application/octet-stream", "x-passphrase": passphrase, **length},
            content=lambda: sent(source.open, source.size, on_progress),
            keyed=True,
            repeatable=source.size is not None,
            patience=_PORTABLE_SECONDS,
        )
        return self._client.call(ImportedAgent, call, options)

    def wait_until(
        self,
        agent_id: str,
        status: Literal["running", "paused", "stopped"],
        *,
        timeout: float = 300,
        options: RequestOptions | None = None,
    ) -> Agent:
        """Wait until an agent is in a status.

        The service tells at once when it is. A server that restarts meanwhile is waited for.

        Raises:
            StateError: the agent is in `error` instead.
            TimeoutError: it is not there in time.
        """
        ends_at = time.monotonic() + timeout
        while True:
            asked_at = time.monotonic()
            look = max(1, min(_LONGEST_LOOK_SECONDS, int(ends_at - asked_at)))
            try:
                agent = self.get(agent_id, wait_for=status, timeout=look, options=options)
            except ConnectionError:
                if time.monotonic() >= ends_at:
                    raise
                sleep(1)
                continue
            if agent.status == status:
                return agent
            if agent.status == "error":
                reason = agent.status_reason.message if agent.status_reason else "no reason is known"
                raise StateError(f"The agent is in error instead of {status}: {reason}", agent)
            if time.monotonic() >= ends_at:
                raise TimeoutError(f"The agent is {agent.status}, and not {status} within {timeout:g} s.")
            # An answer before its time is of a server that stops.
            if time.monotonic() - asked_at < look - 1:
                sleep(1)
