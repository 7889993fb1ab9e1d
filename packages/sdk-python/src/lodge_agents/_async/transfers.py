"""Whole files and folders between this machine and an agent's workspace."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from .._transfer import FolderProgress, Ignore, Progress, below, is_ignored, local_entries, local_target
from .._types import RequestOptions
from ..errors import ConnectionError
from ..models import AgentFile
from .files import AsyncFiles
from .waiting import in_thread


class AsyncTransfers(AsyncFiles):
    async def upload_file(
        self,
        agent_id: str,
        local: str | os.PathLike[str],
        path: str,
        *,
        on_progress: Progress | None = None,
        options: RequestOptions | None = None,
    ) -> AgentFile:
        """Send a local file into the workspace, in pieces."""
        file = await in_thread(lambda: open(local, "rb"))
        try:
            return await self.write(agent_id, path, file, on_progress=on_progress, options=options)
        finally:
            await in_thread(file.close)

    async def download_file(
        self,
        agent_id: str,
        path: str,
        local: str | os.PathLike[str],
        *,
        on_progress: Progress | None = None,
        options: RequestOptions | None = None,
    ) -> int:
        """Fetch a file to this machine, and return its size. It is there whole or not at all; a cut is mended."""
        target = Path(local)
        async with await self.read(agent_id, path, options=options) as content:
            handle, draft = await in_thread(lambda: tempfile.mkstemp(prefix=".lodge-", dir=target.parent))
            try:
                with os.fdopen(handle, "wb") as file:
                    received = 0
                    async for chunk in content.stream():
                        await in_thread(_writer(file.write, chunk))
                        received += len(chunk)
                        if on_progress is not None:
                            on_progress(received, content.size)
                if content.size is not None and received != content.size:
                    raise ConnectionError("The file was cut off before its end.")
                await in_thread(lambda: _publish(draft, target))
            except BaseException:
                os.unlink(draft)
                raise
        return received

    async def upload_folder(
        self,
        agent_id: str,
        local: str | os.PathLike[str],
        path: str = "",
        *,
        ignore: Ignore | None = None,
        on_progress: Callable[[FolderProgress], None] | None = None,
        options: RequestOptions | None = None,
    ) -> FolderProgress:
        """Send a local folder, with all that is in it, into a folder of the workspace. Links are skipped.

        Args:
            agent_id: The agent's id.
            local: The folder on this machine.
            path: The folder in the workspace; the workspace itself by default.
            ignore: Patterns of names or paths, or a function of the path, for what is left out.
            on_progress: Told how far it is, after each piece.
        """
        root = Path(local)
        progress = FolderProgress()
        if path:
            await self.make_folder(agent_id, path, options=options)
        for entry in await in_thread(lambda: list(local_entries(root, ignore))):
            remote = f"{path}/{entry.path}" if path else entry.path
            if entry.kind == "directory":
                await self.make_folder(agent_id, remote, options=options)
            elif entry.kind == "file":
                step = _Step(progress, entry.path, on_progress)
                await self.upload_file(agent_id, root / entry.path, remote, on_progress=step.moved, options=options)
                step.ended()
            else:
                progress.skipped.append(entry.path)
        return progress

    async def download_folder(
        self,
        agent_id: str,
        path: str,
        local: str | os.PathLike[str],
        *,
        ignore: Ignore | None = None,
        on_progress: Callable[[FolderProgress], None] | None = None,
        options: RequestOptions | None = None,
    ) -> FolderProgress:
        """Fetch a folder of the workspace, with all that is in it, into a local folder. Links are skipped, and so is
        whatever has a name that would lead out of the local folder."""
        root = Path(local)
        progress = FolderProgress()
        await in_thread(lambda: root.mkdir(parents=True, exist_ok=True))
        folders = [path]
        while folders:
            async for entry in self.list(agent_id, folders.pop(), options=options):
                name = below(path, entry.path)
                target = local_target(root, name)
                if is_ignored(name, ignore):
                    continue
                if target is None or _leads_away(root, target) or entry.type not in ("file", "directory"):
                    progress.skipped.append(name)
                elif entry.type == "directory":
                    await in_thread(_maker(target))
                    folders.append(entry.path)
                else:
                    step = _Step(progress, name, on_progress)
                    await self.download_file(agent_id, entry.path, target, on_progress=step.moved, options=options)
                    step.ended()
        return progress


class _Step:
    """One file of a folder, on its way."""

    def __init__(
        self, progress: FolderProgress, path: str, told: Callable[[FolderProgress], None] | None
    ) -> None:
        self._progress = progress
        self._before = progress.bytes
        self._told = told
        progress.path = path

    def moved(self, moved: int, _: int | None) -> None:
        self._progress.bytes = self._before + moved
        if self._told is not None:
            self._told(self._progress)

    def ended(self) -> None:
        self._progress.files += 1
        if self._told is not None:
            self._told(self._progress)


def _publish(draft: str, target: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(draft, 0o666 & ~mask)
    os.replace(draft, target)


def _leads_away(root: Path, target: Path) -> bool:
    """Whether a link on this machine leads out of the folder."""
    return not target.parent.resolve().is_relative_to(root.resolve())


def _writer(write: Callable[[bytes], int], chunk: bytes) -> Callable[[], int]:
    return lambda: write(chunk)


def _maker(target: Path) -> Callable[[], None]:
    return lambda: target.mkdir(exist_ok=True)
