"""The parts without I/O: events of streams, webhooks, settings, what is sent."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from datetime import datetime, timezone

import pytest

import lodge_agents
from lodge_agents import NOT_GIVEN, Lodge, verify_webhook
from lodge_agents._sse import SseParser
from lodge_agents._types import json_bytes, query_text

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVENT = {"object": "event", "id": "1", "type": "agent.paused", "created_at": "2026-01-31T12:00:00.000Z"}


def test_events_come_whole_however_the_bytes_come() -> None:
    stream = "\ufeffid: 1\r\nevent: x\r\ndata: grü\r\ndata:ße\r\r: no\n\ndata\n\nid: 2\ndata: {}\n\nevent: none\n\n".encode()
    whole = list(SseParser().feed(stream))
    assert [(each.event, each.data, each.id) for each in whole] == [("x", "grü\nße", "1"), ("message", "", None), ("message", "{}", "2")]
    for size in (1, 2, 3, 7):
        parser = SseParser()
        parts = [stream[begin : begin + size] for begin in range(0, len(stream), size)]
        assert [event for part in parts for event in parser.feed(part)] == whole


def test_an_event_is_bounded_and_read_in_linear_time() -> None:
    begun_at = time.monotonic()
    for line in (b"x" * 64, b"data: " + b"x" * 57 + b"\n", b": x\n" * 16):
        parser = SseParser(max_bytes=1_500_000)
        with pytest.raises(lodge_agents.ReplyError):
            for _ in range(30_000):
                list(parser.feed(line))
    assert time.monotonic() - begun_at < 10


def _signed(body: bytes, at: int, secret: str = SECRET) -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signature = base64.b64encode(hmac.new(key, b"msg_1.%d." % at + body, hashlib.sha256).digest()).decode()
    return {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(at), "Webhook-Signature": f"v1,AAAA v1,{signature}"}


def test_webhooks() -> None:
    # The example of the standard is signed well, and is no event of Lodge.
    example = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    with pytest.raises(lodge_agents.ReplyError):
        verify_webhook('{"test": 2432232314}', example, SECRET, tolerance_seconds=1e12)
    now = int(time.time())
    body = json.dumps({**EVENT, "agent_id": None, "data": {}}).encode()
    assert verify_webhook(body, _signed(body, now), SECRET).type == "agent.paused"
    assert Lodge(api_key="k").webhooks.verify(body, _signed(body, now), ["whsec_AAAA", SECRET]).id == "1"
    good = _signed(body, now)
    wrong = [
        (body + b" ", good),
        (body, _signed(body, now - 600)),
        (body, {**good, "Webhook-Id": "msg_2"}),
        (body, {**good, "Webhook-Timestamp": "now"}),
        (body, {**good, "Webhook-Signature": "v1,ü"}),
        (body, {}),
    ]
    for payload, headers in wrong:
        with pytest.raises(lodge_agents.SignatureError):
            verify_webhook(payload, headers, SECRET)
    with pytest.raises(ValueError):
        verify_webhook(body, good, "not a secret")


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LODGE_URL", "https://lodge.example.com/v1/")
    monkeypatch.setenv("LODGE_API_KEY", "lodge_live_secret")
    assert Lodge().base_url == "https://lodge.example.com"
    assert "secret" not in repr(Lodge()) + repr(Lodge()._client.settings)
    for url in ("lodge.example.com", "ftp://x", "https://user:password@lodge.example.com", "https://x?y"):
        with pytest.raises(ValueError):
            Lodge(url)
    with pytest.raises(ValueError):
        Lodge(api_key="key\r\nx: y")


def test_what_is_sent() -> None:
    at = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
    query = {"wait": False, "limit": 5, "cursor": NOT_GIVEN, "since": at, "metadata": {"a&b": "c d"}, "name": None}
    assert query_text(query) == "wait=false&limit=5&since=2026-01-31T12%3A00%3A00%2B00%3A00&metadata%5Ba%26b%5D=c+d"
    body = {"a": None, "b": NOT_GIVEN, "c": [{"d": NOT_GIVEN, "e": at}], "f": ("g",)}
    assert json.loads(json_bytes(body)) == {"a": None, "c": [{"e": "2026-01-31T12:00:00+00:00"}], "f": ["g"]}
