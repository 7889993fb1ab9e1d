"""Snapshots: machines of agents as they were, and the files of their workspaces."""

from __future__ import annotations

from .._types import NOT_GIVEN, Call, NotGiven, RequestOptions, segment
from ..models import SnapshotFile
from .files import AsyncFileContent
from .operations import AsyncSnapshotsOperations
from .pages import AsyncPages

_OPEN_SECONDS = 150


class AsyncSnapshots(AsyncSnapshotsOperations):
    def files(
        self,
        snapshot: str,
        path: str = "",
        *,
        limit: int | NotGiven = NOT_GIVEN,
        cursor: str | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> AsyncPages[SnapshotFile]:
        """List what is in a folder of a snapshot, by name.

        Args:
            snapshot: The snapshot's id.
            path: The folder, in the workspace; the workspace itself by default.
            limit: Entries per page.
            cursor: `next_cursor` of the page before.
        """
        query = {"list": "1", "limit": limit, "cursor": cursor}
        call = Call("GET", _path(snapshot, path), query=query, patience=_OPEN_SECONDS)
        return self._client.pages(SnapshotFile, call, options)

    async def read(
        self, snapshot: str, path: str, *, options: RequestOptions | None = None
    ) -> AsyncFileContent:
        """Read a file of a snapshot. Its bytes come by the methods of what this gives.

        Args:
            snapshot: The snapshot's id.
            path: Path in the workspace.
        """
        call = Call("GET", _path(snapshot, path), patience=_OPEN_SECONDS)
        return AsyncFileContent(self._client, call, options, await self._client.open(call, options))


def _path(snapshot: str, path: str) -> str:
    names = [segment(name) for name in path.split("/") if name != ""]
    return "/".join([f"/snapshots/{segment(snapshot)}/files", *names])
