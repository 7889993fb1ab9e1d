"""A TCP proxy before the server, in a thread of its own, that treats connections badly: each new one takes the next rule."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass
class Rule:
    """How one connection is treated. Without anything, it is passed on."""

    answer: bytes | None = None
    """The answer to the first request, which the server never sees."""
    cut_down: int | None = None
    """Bytes of answers after which the connection is cut."""
    cut_up: int | None = None
    """Bytes of requests after which it is cut."""
    stall: bool = False
    """True: nothing is ever answered."""
    refuse: bool = False
    """True: it is cut at once."""


def reply(status: int, code: str = "internal_error", headers: str = "") -> bytes:
    body = f'{{"error":{{"type":"x","code":"{code}","message":"No."}}}}'
    return f"HTTP/1.1 {status} X\r\n{headers}connection: close\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()


class Proxy:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname or "", parts.port or 0)
        self.rules: list[Rule] = []
        self.always: Rule | None = None
        """The rule of connections that have none of their own."""
        self.connections = 0
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        self._loop.run_forever()
        server.close()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    def cut(self) -> None:
        """Cuts every connection that is there."""
        self._loop.call_soon_threadsafe(lambda: [writer.transport.abort() for writer in self._open])

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._open.add(writer)
        rule = self.rules.pop(0) if self.rules else self.always or Rule()
        try:
            if rule.refuse:
                return
            if rule.answer is not None:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                size = head.partition("content-length: ")[2].partition("\r\n")[0]
                await reader.readexactly(int(size or 0))
                writer.write(rule.answer)
                await writer.drain()
            elif rule.stall:
                await asyncio.sleep(60)
            else:
                await self._pass(rule, reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._open.discard(writer)
            writer.transport.abort() if rule.answer is None else writer.close()

    async def _pass(self, rule: Rule, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(*self._target)
        ways = [
            asyncio.ensure_future(_copy(reader, far_writer, rule.cut_up)),
            asyncio.ensure_future(_copy(far_reader, writer, rule.cut_down)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            far_writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None) -> None:
    left = most
    while chunk := await reader.read(65536 if left is None else min(left, 65536)):
        writer.write(chunk)
        await writer.drain()
        if left is not None:
            left -= len(chunk)
            if left == 0:
                # The bytes that were passed on arrive before the cut.
                await asyncio.sleep(0.05)
                return


def later(seconds: float, work: Callable[[], object]) -> threading.Thread:
    """Does something beside the test."""

    def wait_and_work() -> None:
        threading.Event().wait(seconds)
        work()

    thread = threading.Thread(target=wait_and_work)
    thread.start()
    return thread
