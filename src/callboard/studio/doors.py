"""Doors of a pack as its `pack.yaml` names them: commands, routes, a page, hooks. Loads nothing."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

NAME: Final = r"^[a-z][a-z0-9_-]{0,63}$"
_Reference = Annotated[str, Field(pattern=r"^[\w/]+\.py:\w+$")]
"""Code of the pack: `folder/file.py:name`."""


class _DoorEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CommandEntry(_DoorEntry):
    """A command of the pack: where its Typer app is, and one line of help."""

    app: _Reference
    help: str = Field(min_length=1, max_length=120)
    # Whether it works in a project; one that makes its own, or needs none, asks for no trust.
    needs_project: bool = True


class RoutesEntry(_DoorEntry):
    """Routes of the pack: an APIRouter, or several, and the paths below `/api` they answer."""

    router: _Reference
    paths: tuple[Annotated[str, Field(pattern=r"^/[a-z0-9/_-]+$")], ...] = Field(min_length=1)
    # Bytes a body may have, by path below `/api`; a `*` stands for one segment.
    bodies: dict[Annotated[str, Field(pattern=r"^/[a-z0-9/_*-]+$")], int] = Field(
        default_factory=dict[str, int]
    )


class OperationsEntry(_DoorEntry):
    """What can be done with the pack: the family its receipts name, and where it is declared.

    `find` finds what an operation works on, by its type.
    """

    family: str = Field(pattern=NAME)
    find: _Reference
    modules: tuple[Annotated[str, Field(pattern=r"^[\w/]+\.py$")], ...] = Field(min_length=1)


class PageEntry(_DoorEntry):
    """A page in the browser: where it hangs, and the function that builds it."""

    path: str = Field(pattern=r"^/[a-z0-9-]+$")
    title: str
    show: _Reference
    favicon: str | None = None


class TraceEntries(_DoorEntry):
    """What shows that a project made for another pack has something of this one."""

    # In the project's `.callboard/`.
    files: tuple[str, ...] = ()
    # Kinds of records.
    records: tuple[str, ...] = ()


class HookEntries(_DoorEntry):
    """What the doors of the runtime ask a pack to do; each is called only if it is there.

    `chat` talks at the terminal as the project's pack does, `chat_with` with an agent by name.
    `serving` is an asynchronous context around the life of a server.
    """

    chat: _Reference | None = None
    chat_with: _Reference | None = None
    serving: _Reference | None = None
