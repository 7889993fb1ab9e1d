"""Ends a stream from another thread while a test waits for it."""

from __future__ import annotations

from typing import Any

from proxy import later


def ended_soon(stream: Any) -> None:
    later(0.5, stream.close)
