"""Models whose shape is OpenAI's. The API's document says little of them, so they are written by hand."""

from __future__ import annotations

from typing import Any

from ._reply import Reply


class ChatAnswer(Reply):
    role: str = "assistant"
    content: str | None = None


class ChatChoice(Reply):
    index: int = 0
    message: ChatAnswer
    finish_reason: str | None = None


class ChatDelta(Reply):
    role: str | None = None
    content: str | None = None


class ChatChunkChoice(Reply):
    index: int = 0
    delta: ChatDelta
    finish_reason: str | None = None


class ResponseOutput(Reply):
    type: str
    id: str | None = None
    role: str | None = None
    status: str | None = None
    content: list[dict[str, Any]] | None = None
    """Of a message: its parts, where `{"type": "output_text", "text": ...}` is what was said."""
