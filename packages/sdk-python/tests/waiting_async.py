"""Ends a stream from elsewhere while a test waits for it."""

from __future__ import annotations

import asyncio
from typing import Any

_tasks: set[asyncio.Task[None]] = set()


async def ended_soon(stream: Any) -> None:
    async def end() -> None:
        await asyncio.sleep(0.5)
        await stream.aclose()

    _tasks.add(asyncio.ensure_future(end()))
