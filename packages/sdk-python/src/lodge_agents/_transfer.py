"""What files and folders share: paths, contents to send, progress. Local names from a server are checked here."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from ._types import segment
from .errors import LodgeError

Progress = Callable[[int, Union[int, None]], None]
"""Told the bytes so far, and how many there are where that is known."""

Ignore = Union[Sequence[str], Callable[[str], bool]]
"""Patterns of names or paths (`*.pyc`, `build/*`), or a function of the path with `/` between its parts."""


def file_path(agent_id: str, path: str) -> str:
    """The path of a file in the API; a slash at either end is dropped. Raises ValueError for one that leads out of the
    workspace."""
    inside = path.removeprefix("/").removesuffix("/")
    below = "/".join(segment(part) for part in inside.split("/")) if inside else ""
    return f"/agents/{segment(agent_id)}/files{'/' + below if below else ''}"


MAX_WHOLE_BYTES = 64 * 1024 * 1024
"""A file up to this size is one request."""
PART_BYTES = 16 * 1024 * 1024
"""A larger one is sent in parts of this size."""


@dataclass(frozen=True)
class Content:
    open: Callable[[], Any]
    """Gives what to send, from its beginning."""
    size: int | None
    """None: it can be read only once, and its size is not known."""


def octets(size: int) -> dict[str, str]:
    """Headers of so many bytes."""
    return {"content-type": "application/octet-stream", "content-length": str(size)}


def content_of(given: Any) -> Content:
    if isinstance(given, str):
        given = given.encode()
    if isinstance(given, (bytes, bytearray, memoryview)):
        data = bytes(given)
        return Content(lambda: data, len(data))
    if hasattr(given, "read") and hasattr(given, "seekable") and given.seekable():
        begin = given.tell()
        end = given.seek(0, os.SEEK_END)

        def again() -> Any:
            given.seek(begin)
            return given

        return Content(again, end - begin)
    return Content(lambda: given, None)


@dataclass
class FolderProgress:
    """How far the transfer of a folder is."""

    path: str = ""
    """The file under way, within the folder."""
    files: int = 0
    """Files that are done."""
    bytes: int = 0
    """Bytes so far, of all files."""
    skipped: list[str] = field(default_factory=list)
    """What is neither a file nor a folder, such as links, and what this machine cannot name."""


def is_ignored(path: str, ignore: Ignore | None) -> bool:
    if ignore is None:
        return False
    if callable(ignore):
        return ignore(path)
    name = path.rsplit("/", 1)[-1]
    return any(fnmatch.fnmatchcase(path, each) or fnmatch.fnmatchcase(name, each) for each in ignore)


@dataclass(frozen=True)
class LocalEntry:
    path: str
    """Within the folder, with `/` between its parts."""
    kind: str
    """`file`, `directory` or `other`; a link is `other`."""


def local_entries(root: Path, ignore: Ignore | None) -> Iterator[LocalEntry]:
    """Everything below a folder, each folder before what is in it."""
    folders = [""]
    while folders:
        folder = folders.pop()
        with os.scandir(root / folder) as entries:
            for entry in sorted(entries, key=lambda each: each.name):
                path = f"{folder}/{entry.name}" if folder else entry.name
                if is_ignored(path, ignore):
                    continue
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder:
                    folders.append(path)
                kind = "directory" if is_folder else "file" if entry.is_file(follow_symlinks=False) else "other"
                yield LocalEntry(path, kind)


def local_target(root: Path, path: str) -> Path | None:
    """Where a path of a server lies in a local folder; None where its name could lead out of it, or means something else
    to this machine."""
    parts = path.split("/")
    for part in parts:
        is_odd = part in ("", ".", "..") or "\0" in part or "\\" in part
        if is_odd or (os.name == "nt" and (":" in part or part != part.rstrip(". "))):
            return None
    return root.joinpath(*parts)


def below(folder: str, path: str) -> str:
    """A server's path within one of its folders. Raises where the server names one outside of it."""
    if folder == "":
        return path
    if not path.startswith(f"{folder}/"):
        raise LodgeError("The server named a file outside of the folder that was asked for.")
    return path[len(folder) + 1 :]
