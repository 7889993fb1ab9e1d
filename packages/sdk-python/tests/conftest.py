"""One Lodge for all tests: a process that LODGE_TEST_SERVER names, which prints its address and key."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from lodge_agents import AsyncLodge, Lodge
from proxy import Proxy


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
        """`kill` or `start`; comes back when it is done."""
        assert self._process.stdin
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        self._line()

    def Lodge(self, base_url: str | None = None, **settings: Any) -> Lodge:  # noqa: N802
        return Lodge(base_url or self.url, self.key, **{"retry_delay": 0.1, **settings})

    def AsyncLodge(self, base_url: str | None = None, **settings: Any) -> AsyncLodge:  # noqa: N802
        return AsyncLodge(base_url or self.url, self.key, **{"retry_delay": 0.1, **settings})

    def change(self, agent_id: str, times: int) -> None:
        """Changes an agent so often, then deletes it: an event each."""
        with self.Lodge() as lodge:
            for number in range(times):
                lodge.agents.update(agent_id, description=f"change {number}")
            lodge.agents.delete(agent_id)

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout
        self._process.stdout.close()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture(scope="session")
def lodge(server: Server) -> Iterator[Lodge]:
    with server.Lodge() as client:
        yield client


@pytest.fixture(scope="session")
def agent_id(lodge: Lodge) -> str:
    """An agent that runs."""
    return lodge.agents.create(name="Shared", size="small").id


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    made = Proxy(server.url)
    yield made
    made.close()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a test that is a coroutine, within a bound."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**given), 90))
    return True
