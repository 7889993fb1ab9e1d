"""Lists, which come in pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")
Fetch = Callable[["str | None"], "Page[T]"]


class Page(Generic[T]):
    """One page of a list. Iterating goes through everything from this page on."""

    def __init__(self, data: list[T], has_more: bool, next_cursor: str | None, fetch: Fetch[T]) -> None:
        self.data = data
        self.has_more = has_more
        self.next_cursor = next_cursor
        self._fetch = fetch

    def next_page(self) -> Page[T] | None:
        """The page after this one; None where this is the last."""
        return None if self.next_cursor is None else self._fetch(self.next_cursor)

    def pages(self) -> Iterator[Page[T]]:
        page: Page[T] | None = self
        while page is not None:
            yield page
            page = page.next_page()

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.data


Pages = Page


def listed(fetch: Fetch[T]) -> Page[T]:
    """The first page of a list."""
    return fetch(None)
