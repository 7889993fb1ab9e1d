"""What waits, and differs between async and sync. The sync form is written by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import httpx

T = TypeVar("T")


async def sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


async def in_thread(work: Callable[[], T]) -> T:
    """Does what blocks, such as reading a local file, beside the loop."""
    return await asyncio.to_thread(work)


def interrupt(response: httpx.Response) -> None:
    """Wakes who reads the reply. Closing does it by itself here."""
