"""Chat: one question, one answer."""

from __future__ import annotations

from collections.abc import Callable

from .._types import NOT_GIVEN, RequestOptions
from ..models import ToolStep
from .operations import AsyncChatOperations


class AsyncChat(AsyncChatOperations):
    async def ask(
        self,
        agent_id: str,
        text: str,
        *,
        user: str | None = None,
        conversation: str | None = None,
        member: str | None = None,
        wake: bool | None = None,
        on_step: Callable[[ToolStep], object] | None = None,
        options: RequestOptions | None = None,
    ) -> str:
        """Ask an agent, and get its answer as a text.

        Args:
            agent_id: The agent's id.
            text: The message.
            user: Names a conversation that the agent remembers.
            conversation: Does the same, as a header.
            member: Which member of the agent is asked.
            wake: True: a stopped agent is started first.
            on_step: Called when the agent begins to use one of its tools, and when that has ended.
        """
        wanted: RequestOptions = {**(options or {})}
        if conversation is not None:
            wanted["headers"] = {**wanted.get("headers", {}), "x-conversation-id": conversation}
        # A stream has comments while the agent works, so nothing between takes the silence for a dead connection.
        chunks = self.stream(
            agent_id,
            messages=[{"role": "user", "content": text}],
            model=NOT_GIVEN if member is None else f"{agent_id}/{member}",
            user=NOT_GIVEN if user is None else user,
            wake=NOT_GIVEN if wake is None else wake,
            stream_options=NOT_GIVEN if on_step is None else {"include_steps": True},
            options=wanted,
        )
        texts: list[str] = []
        async for chunk in chunks:
            if chunk.choices:
                texts.append(chunk.choices[0].delta.content or "")
            if chunk.step is not None and on_step is not None:
                on_step(chunk.step)
        return "".join(texts)
