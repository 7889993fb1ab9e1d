"""The fault table: whatever happens to a connection, nothing is lost, done twice, or waited for without end."""

from __future__ import annotations

import hashlib
import time
from typing import Any

import pytest

import lodge_agents
from proxy import Rule, later, reply
from waiting_async import ended_soon

PLUM = [{"role": "user", "content": "Which fruit?"}]


async def test_a_request_that_is_under_way_is_waited_for(server: Any, proxy: Any) -> None:
    proxy.rules = [Rule(answer=reply(409, "idempotency_in_progress", "retry-after: 0\r\n"))] * 5
    async with server.AsyncLodge(proxy.url, max_retries=1) as lodge:
        agent = await lodge.agents.create(name="Waited for", size="small")
        await lodge.agents.delete(agent.id)
    assert proxy.connections >= 6


async def test_a_cut_before_the_reply(server: Any, proxy: Any) -> None:
    async with server.AsyncLodge(proxy.url) as lodge:
        proxy.rules = [Rule(refuse=True), Rule(cut_down=40)]
        assert (await lodge.service.sizes()).data
        # The server made the agent, and its reply was lost: the repetition gets the same reply.
        proxy.rules = [Rule(cut_down=60)]
        await lodge.aclose()
    async with server.AsyncLodge(proxy.url) as lodge:
        agent = await lodge.agents.create(name="Once only", size="small")
        assert [each.id async for each in lodge.agents.list(name="Once only")] == [agent.id]
        await lodge.agents.delete(agent.id)
    assert proxy.connections >= 5


async def test_a_change_that_may_have_happened_is_not_repeated(server: Any, proxy: Any, agent_id: str) -> None:
    proxy.rules = [Rule(cut_down=20)]
    async with server.AsyncLodge(proxy.url) as lodge:
        with pytest.raises(lodge_agents.ConnectionError):
            await lodge.agents.update(agent_id, description="x")
    assert proxy.connections == 1


async def test_a_write_on_a_condition_whose_reply_was_lost(server: Any, proxy: Any, agent_id: str) -> None:
    name = f"conditional-{time.monotonic_ns()}"
    proxy.rules = [Rule(cut_down=20)]
    async with server.AsyncLodge(proxy.url) as lodge:
        with pytest.raises(lodge_agents.ConnectionError):
            await lodge.files.write(agent_id, name, "x", if_none_match="*")
        assert await lodge.files.read_text(agent_id, name) == "x"
        with pytest.raises(lodge_agents.ConflictError):
            await lodge.files.write(agent_id, name, "y", if_none_match="*")


async def test_a_command_runs_once(server: Any, proxy: Any, agent_id: str) -> None:
    proxy.rules = [Rule(cut_down=20)]
    name = f"once-{time.monotonic_ns()}"
    async with server.AsyncLodge(proxy.url) as lodge:
        with pytest.raises(lodge_agents.ConnectionError) as cut:
            await lodge.exec.run(agent_id, command=f"echo x >> {name}")
        assert cut.value.may_have_been_sent
        assert await lodge.files.read_text(agent_id, name) == "x\n"


async def test_refusals_that_pass(server: Any, proxy: Any) -> None:
    busy = reply(429, "rate_limit_exceeded", "retry-after: 1\r\n")
    proxy.rules = [Rule(answer=busy), Rule(answer=reply(500)), Rule(answer=reply(503))]
    async with server.AsyncLodge(proxy.url) as lodge:
        asked_at = time.monotonic()
        assert (await lodge.service.limits()).object == "limits"
        assert time.monotonic() - asked_at >= 1
    proxy.rules = [Rule(answer=reply(429, "quota_exceeded", "retry-after: 0\r\n"))]
    async with server.AsyncLodge(proxy.url) as lodge:
        assert (await lodge.service.limits()).object == "limits"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply(429, "rate_limit_exceeded", "retry-after: 120\r\n"), lodge_agents.RateLimitError),
        (reply(429, "quota_exceeded", "retry-after: 60\r\n"), lodge_agents.RateLimitError),
        (reply(429, "spend_limit_exceeded", "retry-after: 1\r\nx-should-retry: false\r\n"), lodge_agents.RateLimitError),
        (reply(502, "provisioning_failed"), lodge_agents.ServerError),
        (b"HTTP/1.1 418 X\r\ncontent-length: 3\r\nconnection: close\r\n\r\n\xff{[", lodge_agents.BadRequestError),
        (b"HTTP/1.1 302 X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", lodge_agents.ApiError),
        (b"HTTP/1.1 200 X\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[[", lodge_agents.ReplyError),
        (b"HTTP/1.1 200 X\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}", lodge_agents.ReplyError),
    ],
)
async def test_refusals_that_stay(server: Any, proxy: Any, answer: bytes, kind: Any) -> None:
    proxy.rules = [Rule(answer=answer)]
    async with server.AsyncLodge(proxy.url) as lodge:
        with pytest.raises(kind):
            await lodge.agents.create(name="Never", size="small")
    assert proxy.connections == 1


async def test_a_silent_server(server: Any, proxy: Any) -> None:
    proxy.always = Rule(stall=True)
    async with server.AsyncLodge(proxy.url, timeout=0.2, max_retries=1) as lodge:
        asked_at = time.monotonic()
        with pytest.raises(TimeoutError):
            await lodge.service.sizes()
        with pytest.raises(lodge_agents.TimeoutError):
            await lodge.agents.get("a" * 12, options={"timeout": 0.1, "max_retries": 0})
        assert time.monotonic() - asked_at < 20
    assert proxy.connections <= 3


async def test_half_a_stream(server: Any, proxy: Any, agent_id: str) -> None:
    async with server.AsyncLodge(proxy.url) as lodge:
        whole = [chunk async for chunk in lodge.chat.stream(agent_id, messages=PLUM)]
        assert whole[0].choices[0].delta.content == "plum"
    proxy.rules = [Rule(cut_down=2000)]
    async with server.AsyncLodge(proxy.url) as lodge:
        said = []
        with pytest.raises(lodge_agents.ConnectionError):
            async for event in lodge.exec.stream(agent_id, command="echo begun; sleep 0.3; seq 1 20000; sleep 20"):
                said.append(event)
        assert said[0].event == "stdout"


async def test_a_command_ends_with_its_stream(server: Any, agent_id: str) -> None:
    async with server.AsyncLodge() as lodge:
        async with lodge.exec.stream(agent_id, command="echo begun; exec sleep 4711") as events:
            async for event in events:
                assert event.text == "begun\n"
                break
        for _ in range(50):
            left = await lodge.exec.run(agent_id, command="pgrep -xf 'sleep 4711' | wc -l")
            if left.stdout.strip() == "0":
                return
        raise AssertionError("the command still runs")


async def test_followers_across_cuts(server: Any, proxy: Any) -> None:
    async with server.AsyncLodge() as direct:
        agent = await direct.agents.create(name="Followed", size="small")
        proxy.always = Rule(cut_down=1500)
        work = later(0.3, lambda: server.change(agent.id, 15))
        seen = []
        async with server.AsyncLodge(proxy.url) as lodge:
            async with lodge.events.follow(agent_id=agent.id) as events:
                async for event in events:
                    seen.append(event.id)
                    if event.type == "agent.deleted":
                        break
        work.join()
        assert seen == [event.id async for event in direct.events.list(agent_id=agent.id, direction="asc")]
        assert len(seen) > 16 and proxy.connections > 3


async def test_a_follower_from_the_last_id(server: Any, agent_id: str) -> None:
    async with server.AsyncLodge() as lodge:
        await lodge.agents.pause(agent_id)
        await lodge.agents.resume(agent_id)
        whole = [entry.id async for entry in lodge.agents.logs(agent_id, direction="asc")]
        async with lodge.agents.follow_logs(agent_id, last_event_id=whole[0]) as logs:
            again = []
            async for entry in logs:
                again.append(entry.id)
                if entry.id == whole[-1]:
                    break
        assert again == whole[1:]


async def test_a_closed_stream_wakes_who_waits(server: Any, agent_id: str) -> None:
    async with server.AsyncLodge() as lodge:
        seen = []
        asked_at = time.monotonic()
        stream = lodge.exec.stream(agent_id, command="echo begun; sleep 60")
        async for event in stream:
            seen.append(event)
            await ended_soon(stream)
        assert len(seen) == 1 and time.monotonic() - asked_at < 30


async def test_files_across_cuts(server: Any, proxy: Any, agent_id: str, tmp_path: Any) -> None:
    data = bytes(range(256)) * 12_000
    sent = []
    async with server.AsyncLodge(proxy.url) as lodge:
        proxy.rules = [Rule(cut_up=1_000_000), Rule(cut_up=2_000_000)]
        file = await lodge.files.write(agent_id, "big.bin", data, on_progress=lambda done, _: sent.append(done))
        assert file.size == len(data) and sent[-1] == len(data)
        await lodge.aclose()
    async with server.AsyncLodge(proxy.url) as lodge:
        proxy.rules = [Rule(cut_down=1_000_000), Rule(cut_down=700_000), Rule(cut_down=100)]
        assert await lodge.files.read_bytes(agent_id, "big.bin") == data
    async with server.AsyncLodge(proxy.url) as lodge:
        proxy.rules = [Rule(cut_down=1_500_000)]
        assert await lodge.files.download_file(agent_id, "big.bin", tmp_path / "big.bin") == len(data)
        assert (tmp_path / "big.bin").read_bytes() == data
        assert [path.name for path in tmp_path.iterdir()] == ["big.bin"]
    async with server.AsyncLodge(proxy.url) as lodge:
        # An iterator can be read only once, and is sent in parts.
        proxy.rules = [Rule(cut_up=3_000_000), Rule(), Rule(cut_up=1_000_000), Rule(cut_up=20_000_000)]
        assert (await lodge.files.write(agent_id, "once.bin", iter([data] * 14))).size == len(data) * 14
        wanted = hashlib.sha256(data * 14).hexdigest()
        result = await lodge.exec.run(agent_id, command="sha256sum < once.bin; ls -A | grep -c upload")
        assert result.stdout.split()[0] == wanted
        assert (await lodge.files.write(agent_id, "small.bin", iter([data, b"x"]))).size == len(data) + 1


async def test_a_file_that_changes_while_it_is_read(server: Any, proxy: Any, agent_id: str) -> None:
    async with server.AsyncLodge() as direct, server.AsyncLodge(proxy.url) as lodge:
        await direct.files.write(agent_id, "moving.bin", b"a" * 3_000_000)
        proxy.rules = [Rule(cut_down=1_000_000)]
        content = await lodge.files.read(agent_id, "moving.bin")
        await direct.files.write(agent_id, "moving.bin", b"b" * 3_000_000)
        with pytest.raises(lodge_agents.ConflictError):
            await content.bytes()


async def test_a_server_that_is_killed(server: Any, proxy: Any) -> None:
    """In the middle of a follower, a command, a chat, a download and an upload."""
    begun: list[Any] = []

    def restart(sent: int, _: int | None) -> None:
        if sent < 20_000_000 or begun:
            return
        proxy.cut()
        server.tell("kill")
        begun.append(later(0.5, lambda: server.tell("start")))

    async with server.AsyncLodge(proxy.url, retry_delay=0.5, max_retries=6) as lodge:
        agent = await lodge.agents.create(name="Restarted", size="small")
        data = bytes(range(256)) * 40_000
        await lodge.files.write(agent.id, "there.bin", data)
        command = lodge.exec.stream(agent.id, command="echo begun; sleep 60")
        assert (await command.__anext__()).event == "stdout"
        chat = lodge.chat.stream(agent.id, messages=[{"role": "user", "content": "Speak on."}])
        assert (await chat.__anext__()).choices[0].delta.content == "word "
        pieces = (await lodge.files.read(agent.id, "there.bin")).stream()
        received = [await pieces.__anext__()]
        async with lodge.events.follow(agent_id=agent.id) as events:
            seen = [await events.__anext__()]
            uploaded = await lodge.files.write(agent.id, "new.bin", iter([data] * 4), on_progress=restart)
            assert uploaded.size == len(data) * 4 and begun
            with pytest.raises(lodge_agents.ConnectionError):
                async for _ in command:
                    pass
            with pytest.raises(lodge_agents.ConnectionError):
                async for _ in chat:
                    pass
            async for piece in pieces:
                received.append(piece)
            assert b"".join(received) == data
            server.change(agent.id, 3)
            async for event in events:
                seen.append(event)
                if event.type == "agent.deleted":
                    break
        wanted = [event.id async for event in lodge.events.list(agent_id=agent.id, direction="asc")]
        assert [event.id for event in seen] == wanted
