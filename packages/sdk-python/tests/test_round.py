"""The README's round against a real API, sync and async."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest

import lodge_agents
from lodge_agents import AsyncLodge, Lodge


def test_round(server: Any, tmp_path: Any) -> None:
    with server.Lodge() as lodge:
        agent = lodge.agents.create(name="Round", size="small", metadata={"team": "a & b"}, instructions="Be brief.")
        assert agent.status == "running"
        assert lodge.agents.get(agent.id) == agent
        assert [each.id for each in lodge.agents.list(metadata={"team": "a & b"})] == [agent.id]
        assert lodge.agents.update(agent.id, description=None, name="Renamed").name == "Renamed"
        assert lodge.chat.ask(agent.id, "Which fruit?", conversation="c1") == "plum"
        chunks = list(lodge.chat.stream(agent.id, messages=[{"role": "user", "content": "Which fruit?"}]))
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "plum"
        steps: list[lodge_agents.models.ToolStep] = []
        assert lodge.chat.ask(agent.id, "Use a tool", on_step=steps.append) == "plum"
        assert [(step.tool, step.status, step.title) for step in steps] == [
            ("exec", "started", "run tests"),
            ("exec", "completed", "run tests"),
        ]
        completion = lodge.chat.completions(model=agent.id, messages=[{"role": "user", "content": "x"}], temperature=0)
        assert completion.choices[0].message.content == "plum"
        response = lodge.responses.create(agent.id, input="Which fruit?")
        assert (response.output[0].content or [])[0]["text"] == "plum"
        events = list(lodge.responses.stream(agent.id, input="Which fruit?"))
        assert events[-1].type == "response.completed"
        result = lodge.exec.run(agent.id, command="echo out; echo err >&2; exit 3")
        assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 3)
        live = list(lodge.exec.stream(agent.id, argv=["sh", "-c", "echo out; exit 3"]))
        assert [(event.event, getattr(event, "text", None)) for event in live[:-1]] == [("stdout", "out\n")]
        assert live[-1].event == "exit" and live[-1].exit_code == 3
        assert lodge.agents.pause(agent.id).status == "paused"
        lodge.agents.resume(agent.id, wait=False)
        assert lodge.agents.wait_until(agent.id, "running", timeout=20).status == "running"
        assert lodge.usage.get(bucket_width="all").bucket_width == "all"
        assert lodge.service.open_api()["openapi"].startswith("3.1")
        assert lodge.request("GET", "/v1/sizes")["object"] == "list"
        assert lodge.agents.delete(agent.id).deleted


async def test_async_round(server: Any) -> None:
    async with server.AsyncLodge() as lodge:
        made = [await lodge.agents.create(name=f"Many {number}", size="small") for number in range(3)]
        first = await lodge.agents.list(name="Many", limit=2)
        assert len(first.data) == 2 and first.has_more
        assert [agent.id async for agent in lodge.agents.list(name="Many", limit=1, order="asc")] == [
            agent.id for agent in made
        ]
        pages = [len(page.data) async for page in lodge.agents.list(name="Many", limit=2).pages()]
        assert pages == [2, 1]
        agent = made[0]
        statuses: list[str] = []
        assert await lodge.chat.ask(agent.id, "Use a tool", on_step=lambda step: statuses.append(step.status)) == "plum"
        assert statuses == ["started", "completed"]
        live = [event async for event in lodge.exec.stream(agent.id, command="printf a; exit 0")]
        assert [event.event for event in live] == ["stdout", "exit"]
        for each in made:
            await lodge.agents.delete(each.id)

async def test_a_cancelled_task_ends_what_it_began(server: Any, agent_id: str) -> None:
    async with server.AsyncLodge() as lodge:
        said: list[str] = []

        async def follow() -> None:
            async for event in lodge.exec.stream(agent_id, command="echo begun; exec sleep 4712"):
                said.append(event.event)

        task = asyncio.ensure_future(follow())
        while not said:
            await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for _ in range(50):
            left = await lodge.exec.run(agent_id, command="pgrep -xf 'sleep 4712' | wc -l")
            if left.stdout.strip() == "0":
                return
        raise AssertionError("the command still runs")


def test_errors_are_typed(server: Any, lodge: Lodge) -> None:
    with pytest.raises(lodge_agents.NotFoundError) as missing:
        lodge.agents.get("a" * 12)
    assert missing.value.code == "agent_not_found" and missing.value.request_id
    assert missing.value.request_id in str(missing.value)
    with pytest.raises(lodge_agents.BadRequestError) as wrong:
        lodge.agents.create(name="x", size="huge")  # type: ignore[arg-type]
    assert wrong.value.field == "size", wrong.value
    with Lodge(server.url, "lodge_live_wrong") as stranger, pytest.raises(lodge_agents.AuthenticationError):
        stranger.agents.list()
    for odd in ("", "..", "."):
        with pytest.raises(ValueError):
            lodge.agents.get(odd)
    assert lodge_agents.is_api_error(missing.value, "agent_not_found")


def test_what_is_newer_is_kept(lodge: Lodge) -> None:
    record = {"object": "event", "id": "1", "type": "moon.full", "created_at": "2026-01-31T12:00:00Z"}
    event = lodge_agents.models.LodgeEvent.model_validate({**record, "agent_id": None, "data": {}, "moon": {"is": "new"}})
    assert event.type == "moon.full" and event.moon == {"is": "new"}  # type: ignore[attr-defined]
    file = {"object": "file", "path": "a", "name": "a", "size": 1, "mode": "0644", "etag": "x", "target": None}
    newer = lodge_agents.models.AgentFile.model_validate({**file, "type": "fifo", "modified_at": "2026-01-31T12:00:00Z"})
    assert newer.type == "fifo"


def test_each_operation_has_its_method(server: Any) -> None:
    methods = json.loads(os.environ["LODGE_TEST_METHODS"])
    assert len(methods) > 100
    for client in (Lodge(server.url, "k"), AsyncLodge(server.url, "k")):
        for method in methods:
            resource, name = method.split(".")
            assert callable(getattr(getattr(client, resource, None), name, None)), method


def test_the_installed_package_is_tested() -> None:
    assert lodge_agents.__file__.startswith(os.environ["LODGE_TEST_PACKAGE"])
