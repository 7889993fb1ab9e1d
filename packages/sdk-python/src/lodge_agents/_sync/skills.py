# `node scripts/docs.ts` writes this file from _async/skills.py.
"""The skills library: archives of skills, and their files."""

from __future__ import annotations

from typing import Any, Literal

from .._transfer import content_of
from .._types import NOT_GIVEN, Call, NotGiven, RequestOptions, segment
from ..models import Skill
from .files import FileContent
from .operations import SkillsOperations

_FETCH_SECONDS = 120


class Skills(SkillsOperations):
    def add_archive(
        self,
        archive: bytes | Any,
        *,
        type: Literal["zip", "tar.gz"] = "zip",
        accept_findings: bool = False,
        options: RequestOptions | None = None,
    ) -> Skill:
        """Add a skill from an archive of its folder.

        Args:
            archive: Bytes, or an open binary file.
            type: The form of the archive.
            accept_findings: True: the skill is taken in spite of findings of severity `high`.
        """
        source = content_of(archive)
        kind = "application/zip" if type == "zip" else "application/gzip"
        length = {} if source.size is None else {"content-length": str(source.size)}
        call = Call(
            "POST",
            "/skills",
            query={"accept_findings": "true"} if accept_findings else {},
            headers={"content-type": kind, **length},
            content=source.open,
            patience=_FETCH_SECONDS,
        )
        return self._client.call(Skill, call, options)

    def read(
        self,
        skill: str,
        path: str,
        *,
        version: int | NotGiven = NOT_GIVEN,
        options: RequestOptions | None = None,
    ) -> FileContent:
        """Read a file of a skill. Its bytes come by the methods of what this gives.

        Args:
            skill: The skill's id or name.
            path: Path in the skill.
            version: By default the latest.
        """
        below = "/".join(segment(part) for part in path.split("/"))
        call = Call("GET", f"/skills/{segment(skill)}/files/{below}", query={"version": version})
        return FileContent(self._client, call, options, self._client.open(call, options))
