"""Lists, which come in pages. The sync form is written by hand: there a list is its first page at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Fetch = Callable[["str | None"], Coroutine[Any, Any, "AsyncPage[T]"]]


class AsyncPage(Generic[T]):
    """One page of a list."""

    def __init__(self, data: list[T], has_more: bool, next_cursor: str | None, fetch: Fetch[T]) -> None:
        self.data = data
        self.has_more = has_more
        self.next_cursor = next_cursor
        self._fetch = fetch

    async def next_page(self) -> AsyncPage[T] | None:
        """The page after this one; None where this is the last."""
        return None if self.next_cursor is None else await self._fetch(self.next_cursor)

    async def __aiter__(self) -> AsyncIterator[T]:
        """Everything from this page on."""
        page: AsyncPage[T] | None = self
        while page is not None:
            for item in page.data:
                yield item
            page = await page.next_page()


class AsyncPages(Generic[T]):
    """A list. `await` gives its first page; `async for` goes through everything, page by page."""

    def __init__(self, fetch: Fetch[T]) -> None:
        self._fetch = fetch

    def __await__(self) -> Generator[Any, None, AsyncPage[T]]:
        return self._fetch(None).__await__()

    async def __aiter__(self) -> AsyncIterator[T]:
        async for item in await self:
            yield item

    async def pages(self) -> AsyncIterator[AsyncPage[T]]:
        page: AsyncPage[T] | None = await self
        while page is not None:
            yield page
            page = await page.next_page()


def listed(fetch: Fetch[T]) -> AsyncPages[T]:
    return AsyncPages(fetch)
