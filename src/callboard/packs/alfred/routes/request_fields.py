"""What callers of the kitchen say in a query: whose kitchen it is about."""

from typing import Annotated

from fastapi import Query

UserId = Annotated[
    str | None, Query(max_length=100, description="Who; if not said, whom the settings name.")
]
