"""The client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from .._settings import Settings
from .._sse import SseEvent
from .._types import Call, RequestOptions
from .client import AsyncTransport
from .resources import AsyncResources
from .streams import AsyncStream, raw_stream


class AsyncLodge(AsyncResources):
    """A Lodge, by its API. Close it, or use it in a `with`.

    Args:
        base_url: The Lodge's address, with or without `/v1`. By default LODGE_URL, or http://127.0.0.1:8080.
        api_key: An API key. By default LODGE_API_KEY.
        timeout: Seconds without a byte after which a call fails; None: never.
        max_retries: How often a failed request is repeated, where repeating it is safe.
        retry_delay: Seconds before the first repetition; it grows with each. A Retry-After of the server wins.
        headers: Headers that every request has.
        csrf_token: For a session of a person instead of a key.
        http_client: A client of httpx with settings of its own, such as proxies or certificates. Who made it closes it.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float | None = 60,
        max_retries: int = 3,
        retry_delay: float = 0.5,
        headers: Mapping[str, str] | None = None,
        csrf_token: str | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        settings = Settings.of(base_url, api_key, timeout, max_retries, retry_delay, headers, csrf_token)
        client = AsyncTransport(settings, http_client)
        self._client = client
        super().__init__(client)

    @property
    def base_url(self) -> str:
        return self._client.settings.base_url

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        options: RequestOptions | None = None,
    ) -> Any:
        """Send any request of the API, and get the JSON of its reply as it is."""
        call = _call(method, path, query, body, headers)
        return await self._client.call_raw(call, options)

    def stream(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        options: RequestOptions | None = None,
    ) -> AsyncStream[SseEvent]:
        """Send any request of the API whose reply is a stream, and get its server-sent events as they are."""
        return raw_stream(self._client, _call(method, path, query, body, headers), options)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def __aenter__(self) -> AsyncLodge:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"AsyncLodge({self.base_url!r})"


def _call(
    method: str,
    path: str,
    query: Mapping[str, Any] | None,
    body: Mapping[str, Any] | None,
    headers: Mapping[str, str] | None,
) -> Call:
    below = path.removeprefix("/").removeprefix("v1/")
    return Call(method.upper(), f"/{below}", query=query or {}, headers=headers or {}, body=body)
