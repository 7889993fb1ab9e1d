"""Sends calls, repeats those that may be repeated, and reads replies within bounds."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import httpx
from pydantic import ValidationError

from .._events import Decoder
from .._reply import Reply
from .._settings import MAX_ERROR_BYTES, MAX_REPLY_BYTES, MAX_WAITS, Plan, Settings, failure, is_under_way
from .._types import Call, RequestOptions
from ..errors import ApiError, ConnectionError, LodgeError, ReplyError, api_error
from .pages import AsyncPage, AsyncPages, listed
from .streams import AsyncStream, followed_list, opened_stream
from .waiting import sleep

M = TypeVar("M", bound=Reply)
R = TypeVar("R")
T = TypeVar("T")


class AsyncTransport:
    """One connection pool, with the client's settings."""

    def __init__(self, settings: Settings, http_client: httpx.AsyncClient | None) -> None:
        self.settings = settings
        self._http = http_client or httpx.AsyncClient(follow_redirects=False)
        self._is_own = http_client is None

    @property
    def is_closed(self) -> bool:
        return self._http.is_closed

    async def aclose(self) -> None:
        if self._is_own:
            await self._http.aclose()

    async def call(self, model: type[M], call: Call, options: RequestOptions | None = None) -> M:
        data, request_id = await self._json(call, options)
        return _model(model, data, request_id)

    async def call_raw(self, call: Call, options: RequestOptions | None = None) -> Any:
        """The reply's JSON as it is; None where it has no body."""
        return (await self._json(call, options))[0]

    async def call_object(self, call: Call, options: RequestOptions | None = None) -> dict[str, Any]:
        """The same, of a reply that is an object."""
        data, request_id = await self._json(call, options)
        if not isinstance(data, dict):
            raise ReplyError("The reply is no object.", request_id)
        return data

    async def call_text(self, call: Call, options: RequestOptions | None = None) -> str:
        body, _ = await self._whole(Plan(self.settings, call, options, "text/csv, text/plain"))
        return body.decode("utf-8", "replace")

    def pages(self, model: type[M], call: Call, options: RequestOptions | None = None) -> AsyncPages[M]:
        async def fetch(cursor: str | None) -> AsyncPage[M]:
            query = call.query if cursor is None else {**call.query, "cursor": cursor}
            data, request_id = await self._json(call.having(query=query), options)
            items = data.get("data") if isinstance(data, dict) else None
            if not isinstance(items, list):
                raise ReplyError("The reply is no list.", request_id)
            following = data.get("next_cursor")
            if following is not None and following == cursor:
                raise ReplyError("The list's next page is the same page.", request_id)
            models = [_model(model, item, request_id) for item in items]
            return AsyncPage(models, bool(data.get("has_more")), following, fetch)

        return listed(fetch)

    def stream(self, decoder: Decoder[T], call: Call, options: RequestOptions | None = None) -> AsyncStream[T]:
        return opened_stream(self, decoder, call, options)

    def follow(self, decoder: Decoder[T], call: Call, options: RequestOptions | None = None) -> AsyncStream[T]:
        return followed_list(self, decoder, call, options)

    async def open(
        self, call: Call, options: RequestOptions | None = None, accept: str = "*/*"
    ) -> httpx.Response:
        """A good reply whose body was not read yet. Who opens it closes it."""

        async def itself(response: httpx.Response) -> httpx.Response:
            return response

        return await self._attempts(Plan(self.settings, call, options, accept), itself)

    def socket_address(self, call: Call, options: RequestOptions | None) -> tuple[str, dict[str, str]]:
        """The address and the headers of a WebSocket."""
        plan = Plan(self.settings, call, options, "*/*")
        headers = {name: value for name, value in plan.headers.items() if name not in ("accept", "accept-encoding")}
        return f"ws{plan.url.removeprefix('http')}", headers

    async def _json(self, call: Call, options: RequestOptions | None) -> tuple[Any, str | None]:
        body, request_id = await self._whole(Plan(self.settings, call, options, "application/json"))
        try:
            return (json.loads(body) if body else None), request_id
        except (ValueError, RecursionError):
            raise ReplyError("The reply is not JSON.", request_id) from None

    async def _whole(self, plan: Plan) -> tuple[bytes, str | None]:
        async def whole(response: httpx.Response) -> tuple[bytes, str | None]:
            return await read(response, MAX_REPLY_BYTES), response.headers.get("x-request-id")

        return await self._attempts(plan, whole)

    async def _attempts(self, plan: Plan, reader: Callable[[httpx.Response], Coroutine[Any, Any, R]]) -> R:
        attempt = waits = 0
        unknown: LodgeError | None = None
        while True:
            is_unsent = False
            error: LodgeError
            try:
                if self._http.is_closed:
                    raise ConnectionError("The client is closed.")
                response = await self._http.send(self._request(plan), stream=True)
                if response.status_code < 300:
                    return await reader(response)
                error = api_error(response.status_code, await read(response, MAX_ERROR_BYTES, True), response.headers)
            except httpx.HTTPError as cause:
                error, is_unsent = failure(cause, self.settings, plan.timeout)
                error.__cause__ = cause
            if unknown is not None and isinstance(error, ApiError) and error.status == 412:
                # Its condition may have failed by an earlier attempt of it.
                raise unknown
            if not is_unsent and not (isinstance(error, ApiError) and error.status < 500):
                unknown = error
            delay = plan.delay(error, attempt, is_unsent)
            if delay is None or self._http.is_closed:
                raise error
            await sleep(delay)
            # A wait for the first attempt of this very request is no attempt of its own.
            if is_under_way(error) and waits < MAX_WAITS:
                waits += 1
            else:
                attempt += 1

    def _request(self, plan: Plan) -> httpx.Request:
        return self._http.build_request(
            plan.call.verb, plan.url, headers=plan.headers, content=plan.content(), timeout=plan.http_timeout()
        )


async def read(response: httpx.Response, most: int, is_cut: bool = False) -> bytes:
    """The body of a reply. One that is longer than `most` bytes is an error, or is cut there."""
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in response.aiter_raw():
            chunks.append(chunk)
            size += len(chunk)
            if size > most:
                if is_cut:
                    break
                raise ReplyError("The reply is too large.", response.headers.get("x-request-id"))
    finally:
        await response.aclose()
    return b"".join(chunks)[:most]


def _model(model: type[M], data: Any, request_id: str | None) -> M:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])[:200]
        told = f"The reply is no {model.__name__} as this SDK knows it: {place or 'it'}: {first['msg'][:200]}"
        raise ReplyError(told, request_id) from None


class AsyncResource:
    """The methods of one kind of thing."""

    def __init__(self, client: AsyncTransport) -> None:
        self._client = client
