# `node scripts/docs.ts` writes this file from _async/usage.py.
"""Usage: the report as a table, too."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from .._types import NOT_GIVEN, Call, NotGiven, RequestOptions, segment
from .operations import UsageOperations


class Usage(UsageOperations):
    def csv(
        self,
        agent_id: str | None = None,
        *,
        starting_at: datetime | str | NotGiven = NOT_GIVEN,
        ending_at: datetime | str | NotGiven = NOT_GIVEN,
        bucket_width: Literal["1m", "1h", "1d", "all"] | NotGiven = NOT_GIVEN,
        group_by: Literal["agent", "model", "provider"] | NotGiven = NOT_GIVEN,
        time_zone: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> str:
        """Tell how much all agents used, or one, as CSV with a line of names first. The arguments are those of `get`."""
        path = "/usage" if agent_id is None else f"/agents/{segment(agent_id)}/usage"
        query = {
            "format": "csv",
            "starting_at": starting_at,
            "ending_at": ending_at,
            "bucket_width": bucket_width,
            "group_by": group_by,
            "time_zone": time_zone,
        }
        return self._client.call_text(Call("GET", path, query=query), options)
