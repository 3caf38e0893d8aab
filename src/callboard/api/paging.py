"""Pages of lists: the body stays an array, where it continues stands in the headers."""

from collections.abc import Sequence
from typing import Annotated, Final, TypeVar

from fastapi import Depends, Query, Request, Response

T = TypeVar("T")

MAX_LIMIT: Final = 500


class Page:
    """The part of a list that a caller asked for."""

    def __init__(self, request: Request, response: Response, limit: int, offset: int) -> None:
        """Take the request it is for; the headers are set when the list is cut."""
        self.limit = limit
        self.offset = offset
        self._request = request
        self._response = response

    def cut(self, entries: Sequence[T]) -> list[T]:
        """Return the page and tell in the headers how many there are and where the next begins."""
        end = self.offset + self.limit
        self._response.headers["X-Total-Count"] = str(len(entries))
        if end < len(entries):
            following = self._request.url.include_query_params(limit=self.limit, offset=end)
            self._response.headers["Link"] = f'<{following}>; rel="next"'
        return list(entries[self.offset : end])


async def page_of(
    request: Request,
    response: Response,
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Entries per page.")] = 100,
    offset: Annotated[int, Query(ge=0, le=1_000_000_000, description="Entries to skip.")] = 0,
) -> Page:
    """Return the part of a list that the query asks for."""
    return Page(request, response, limit, offset)


Paged = Annotated[Page, Depends(page_of)]
