"""The base of all models of replies."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Reply(BaseModel):
    """What the API answers. Fields that are newer than this SDK are kept, as attributes."""

    model_config = ConfigDict(extra="allow", populate_by_name=True, protected_namespaces=(), frozen=False)
