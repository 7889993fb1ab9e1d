"""Channels: the pairing of WhatsApp as an iterator."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from .._events import pairing
from .._types import NOT_GIVEN, Call, RequestOptions, segment
from ..models import Pairing
from .operations import AsyncChannelsOperations
from .streams import AsyncStream, Slot, followed


class AsyncChannels(AsyncChannelsOperations):
    def pair_whatsapp(
        self, agent_id: str, *, phone_number: str | None = None, options: RequestOptions | None = None
    ) -> AsyncStream[Pairing]:
        """Pair WhatsApp with an agent.

        An iterator of how the pairing is: show the `qr` of each state, or its `pairing_code`. It ends with
        `connected` or `failed`; after `expired` another code comes.

        Args:
            agent_id: The agent's id.
            phone_number: With its country: a code to type in on the phone is asked for instead of one to scan.
        """
        slot = Slot()
        return AsyncStream(self._pairing(agent_id, phone_number, options, slot), slot)

    async def _pairing(
        self, agent_id: str, phone_number: str | None, options: RequestOptions | None, slot: Slot
    ) -> AsyncGenerator[Pairing, None]:
        path = f"/agents/{segment(agent_id)}/channels/whatsapp/pair"
        body = {"phone_number": NOT_GIVEN if phone_number is None else phone_number}
        state = await self._client.call(Pairing, Call("POST", path, body=body, keyed=True), options)
        yield state
        if state.status in _ENDS:
            return
        async with followed(self._client, pairing, Call("GET", path), options) as changes:
            async for change in changes:
                if change != state:
                    yield change
                state = change
                if state.status in _ENDS:
                    return


_ENDS = ("connected", "failed")
