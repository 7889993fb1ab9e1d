"""Uploads in parts, step by step. `files.write` and `files.upload_file` do this by themselves for what is large."""

from __future__ import annotations

from .._transfer import octets
from .._types import NOT_GIVEN, Call, NotGiven, RequestOptions, segment
from ..models import Upload
from .operations import AsyncUploadsOperations


class AsyncUploads(AsyncUploadsOperations):
    async def append(
        self,
        agent_id: str,
        upload_id: str,
        offset: int,
        part: bytes,
        *,
        wake: bool | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> Upload:
        """Append a part of up to 64 MiB. One that begins elsewhere is a `ConflictError`: ask `get` where the upload ends.

        Args:
            agent_id: The agent's id.
            upload_id: An id that you choose: 16 to 64 letters, digits, `_` and `-`.
            offset: Where the part begins: the bytes that have come before it.
            part: Its bytes.
            wake: True: a stopped agent is started first.
        """
        call = Call(
            "PATCH",
            f"/agents/{segment(agent_id)}/uploads/{segment(upload_id)}",
            query={"wake": wake},
            headers={"upload-offset": str(offset), **octets(len(part))},
            content=lambda: part,
            patience=120,
        )
        return await self._client.call(Upload, call, options)
