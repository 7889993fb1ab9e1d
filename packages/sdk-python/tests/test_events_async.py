"""What comes by itself: webhooks, pairings, an agent's next status."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

import lodge_agents
from proxy import Rule


async def test_a_webhook_from_the_server(server: Any) -> None:
    came = threading.Event()
    requests: list[Any] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # noqa: N802
            requests.append((self.rfile.read(int(self.headers["content-length"])), dict(self.headers)))
            self.send_response(204)
            self.end_headers()
            came.set()

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Receiver) as receiver:
        thread = threading.Thread(target=receiver.serve_forever)
        thread.start()
        async with server.AsyncLodge() as lodge:
            url = f"http://127.0.0.1:{receiver.server_port}/hook"
            webhook = await lodge.webhooks.create(url=url, events=["agent.created"])
            agent = await lodge.agents.create(name="Told", size="small")
            assert came.wait(30)
            event = lodge.webhooks.verify(*requests[0], webhook.secret)
            assert (event.type, event.agent_id) == ("agent.created", agent.id)
            with pytest.raises(lodge_agents.SignatureError):
                lodge.webhooks.verify(*requests[0], "whsec_AAAA")
            await lodge.webhooks.delete(webhook.id)
            await lodge.agents.delete(agent.id)
        receiver.shutdown()
        thread.join()


def state(status: str, attempt: int) -> dict[str, Any]:
    codes = {"qr": f"code {attempt}", "qr_png": None, "pairing_code": None, "expires_at": None, "attempt": attempt}
    return {"object": "pairing", "channel": "whatsapp", "status": status, "reason": None, **codes}


def answer(body: str, kind: str = "application/json") -> bytes:
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    return f"{head}{body}".encode()


def events(*states: dict[str, Any]) -> bytes:
    text = "".join(f"event: pairing\ndata: {json.dumps(each)}\n\n" for each in states)
    return answer(text, "text/event-stream; charset=utf-8")


async def test_a_pairing(server: Any, proxy: Any) -> None:
    first, expired, second, done = state("pending", 1), state("expired", 1), state("pending", 2), state("connected", 2)
    proxy.rules = [
        Rule(answer=answer(json.dumps(first))),
        Rule(answer=events(first, expired, second)),
        Rule(answer=events(second, done)),
    ]
    async with server.AsyncLodge(proxy.url) as lodge:
        async with lodge.channels.pair_whatsapp("a" * 12) as states:
            seen = [(each.status, each.qr) async for each in states]
    assert seen == [("pending", "code 1"), ("expired", "code 1"), ("pending", "code 2"), ("connected", "code 2")]


async def test_a_status_that_does_not_come(server: Any, agent_id: str) -> None:
    async with server.AsyncLodge() as lodge:
        with pytest.raises(TimeoutError):
            await lodge.agents.wait_until(agent_id, "stopped", timeout=1)
        with pytest.raises(lodge_agents.NotFoundError):
            await lodge.agents.wait_until("a" * 12, "running")


async def test_usage_as_a_table(server: Any, agent_id: str) -> None:
    async with server.AsyncLodge() as lodge:
        assert (await lodge.usage.csv(agent_id, bucket_width="all")).startswith("starting_at,")
