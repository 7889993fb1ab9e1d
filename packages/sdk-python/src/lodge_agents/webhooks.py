"""Verifies what a webhook of Lodge sends, by Standard Webhooks (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from .errors import ReplyError, SignatureError
from .models import LodgeEvent

_MAX_SIGNATURES = 32


def verify_webhook(
    payload: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance_seconds: float = 300,
) -> LodgeEvent:
    """Check that a request came from Lodge, and read the event that it tells of.

    Args:
        payload: The body's bytes as they came, not parsed.
        headers: The request's headers, in any case.
        secret: The webhook's secret, `whsec_...`; several while it is rotated.
        tolerance_seconds: How old or early the request may be by this machine's clock.

    Raises:
        SignatureError: the signature is missing, old or wrong.
        ReplyError: it is signed well, and is no event.
    """
    body = payload.encode() if isinstance(payload, str) else bytes(payload)
    named = {name.lower(): value for name, value in headers.items()}
    message_id, sent_at = named.get("webhook-id", ""), named.get("webhook-timestamp", "")
    given = named.get("webhook-signature", "").split(" ", _MAX_SIGNATURES)[:_MAX_SIGNATURES]
    if not message_id or not sent_at or given == [""]:
        raise SignatureError("The headers of a signed webhook are missing.")
    if not (sent_at.isascii() and sent_at.isdigit() and len(sent_at) < 16):
        raise SignatureError("The webhook's time is no number.")
    if abs(time.time() - int(sent_at)) > tolerance_seconds:
        raise SignatureError("The webhook is too old, or this machine's clock is wrong.")
    signed = f"{message_id}.{sent_at}.".encode() + body
    secrets = [secret] if isinstance(secret, str) else list(secret)
    wanted = [_signature(each, signed) for each in secrets]
    if not any(hmac.compare_digest(each.encode(), want) for each in given for want in wanted):
        raise SignatureError("The webhook's signature is wrong.")
    try:
        return LodgeEvent.model_validate_json(body)
    except ValidationError:
        raise ReplyError("The webhook is signed well, and is no event.") from None


def _signature(secret: str, signed: bytes) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("The secret is no secret of a webhook: whsec_ and base64.") from None
    return b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
