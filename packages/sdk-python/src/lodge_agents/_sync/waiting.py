"""What waits, and differs between async and sync."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import TypeVar

import httpx

T = TypeVar("T")


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def in_thread(work: Callable[[], T]) -> T:
    return work()


def interrupt(response: httpx.Response) -> None:
    """Wakes a thread that reads the reply: closing a socket does not, ending its connection does."""
    stream = response.extensions.get("network_stream")
    raw = None if stream is None else stream.get_extra_info("socket")
    if isinstance(raw, socket.socket):
        try:
            raw.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
