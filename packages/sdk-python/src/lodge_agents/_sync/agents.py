# `node scripts/docs.ts` writes this file from _async/agents.py.
"""Agents: what takes more than one request."""

from __future__ import annotations

import time
from typing import Literal

from .._types import RequestOptions
from ..errors import ConnectionError, StateError, TimeoutError
from ..models import Agent
from .operations import AgentsOperations
from .waiting import sleep

_LONGEST_LOOK_SECONDS = 50


class Agents(AgentsOperations):
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
