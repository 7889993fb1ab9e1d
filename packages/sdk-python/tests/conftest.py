"""One Lodge for all tests: a process that LODGE_TEST_SERVER names, which prints its address and key."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from lodge_agents import AsyncLodge, Lodge


class Server:
    def __init__(self) -> None:
        command = shlex.split(os.environ["LODGE_TEST_SERVER"])
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        first = self._line()
        self.url: str = first["url"]
        self.key: str = first["key"]

    def _line(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the server ended"
        return json.loads(line)

    def tell(self, word: str) -> None:
        """`stop` or `start`; comes back when it is done."""
        assert self._process.stdin
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        self._line()

    def lodge(self, **settings: Any) -> Lodge:
        return Lodge(settings.pop("base_url", self.url), self.key, **{"retry_delay": 0.1, **settings})

    def async_lodge(self, **settings: Any) -> AsyncLodge:
        return AsyncLodge(settings.pop("base_url", self.url), self.key, **{"retry_delay": 0.1, **settings})

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(30)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture(scope="session")
def lodge(server: Server) -> Iterator[Lodge]:
    with server.lodge() as client:
        yield client


@pytest.fixture(scope="session")
def agent_id(lodge: Lodge) -> str:
    """An agent that runs."""
    return lodge.agents.create(name="Shared", size="small").id


@pytest.fixture
def run() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Runs a coroutine, within a bound."""
    return lambda work: asyncio.run(asyncio.wait_for(work, 60))
