# `node scripts/docs.ts` writes this file from _async/hooks.py.
"""Hooks and webhooks: sending to a hook, and checking what a webhook sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .._types import Call, RequestOptions, segment
from ..models import HookReceipt, LodgeEvent
from ..webhooks import verify_webhook
from .operations import HooksOperations, WebhooksOperations


class Hooks(HooksOperations):
    def send(
        self, token: str, payload: bytes | str | Mapping[str, Any], *, options: RequestOptions | None = None
    ) -> HookReceipt:
        """Send to a hook, as a third party does. The API key is not sent.

        Args:
            token: The last part of the hook's address.
            payload: The body: bytes, a text, or an object that is sent as JSON.
        """
        if isinstance(payload, (bytes, str)):
            body, kind = payload.encode() if isinstance(payload, str) else payload, "application/octet-stream"
        else:
            body, kind = json.dumps(payload).encode(), "application/json"
        call = Call(
            "POST",
            f"/hooks/{segment(token)}",
            headers={"content-type": kind},
            content=lambda: body,
            anonymous=True,
        )
        return self._client.call(HookReceipt, call, options)


class Webhooks(WebhooksOperations):
    def verify(
        self,
        payload: bytes | str,
        headers: Mapping[str, str],
        secret: str | Sequence[str],
        *,
        tolerance_seconds: float = 300,
    ) -> LodgeEvent:
        """Check that a request came from Lodge, and read its event. See `verify_webhook`."""
        return verify_webhook(payload, headers, secret, tolerance_seconds=tolerance_seconds)
