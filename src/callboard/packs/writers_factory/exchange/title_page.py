"""The title page: who wrote the book and how to reach them, its date, language and cover.

All of it is the writer's to say. What nobody has said is left out of a book and named as missing;
nothing is made up.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from callboard.core.codec import Coded
from callboard.core.errors import InvalidInput
from callboard.packs.writers_factory.bible.project import ProjectRecord
from callboard.packs.writers_factory.bible.values import clean_text
from callboard.packs.writers_factory.exchange.cover import read_cover
from callboard.packs.writers_factory.workspace import Workspace

KIND: Final = "title_page"
RECORD: Final = "title_page"
_DATE: Final = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")
_MOST_CHARS: Final = 200
_MOST_LINES: Final = 8


@dataclass(frozen=True, slots=True)
class TitlePage(Coded):
    """What stands on the first page, as far as the writer has said it.

    `surname` heads the pages where it is not the author's last word; `cover` is an image of the
    project, without one the cover is set in type; `cover_text` says what it shows.
    """

    title: str = ""
    author: str = ""
    surname: str = ""
    contact: tuple[str, ...] = ()
    language: str = ""
    date: str = ""
    cover: str = ""
    cover_text: str = ""

    @property
    def running_name(self) -> str:
        """The name that heads every page of a manuscript; empty while the author is unknown."""
        words = self.author.split()
        return self.surname or (words[-1] if words else "")

    @property
    def cover_description(self) -> str:
        """What the cover shows, for whoever does not see it."""
        by = f" by {self.author}" if self.author else ""
        return self.cover_text or f"Cover of {self.title}{by}"

    def missing(self) -> tuple[str, ...]:
        """Return what nobody has said yet, and how to say it."""
        wanted = {"author": self.author, "contact": self.contact, "language": self.language}
        way = "callboard factory title-page"
        return tuple(
            f"{name} is not known and left out; say it with `{way} --{name} TEXT`"
            for name, told in wanted.items()
            if not told
        )


def read_title_page(workspace: Workspace) -> TitlePage:
    """Return what is known of the title page; the title is the book's own."""
    stored = workspace.records.get(KIND, RECORD) or {}
    told = TitlePage.from_json({**stored, "title": ProjectRecord(workspace).read().title})
    return told


async def change_title_page(workspace: Workspace, given: Mapping[str, Any]) -> TitlePage:
    """Change some of it; what is not named stays, and an empty text takes something back."""
    changes = {name: _checked(workspace, name, value) for name, value in given.items()}

    def work(body: dict[str, Any] | None) -> dict[str, Any]:
        known = TitlePage.from_json(body or {})
        return replace(known, **changes, title="").to_json()

    await workspace.records.change(KIND, RECORD, work)
    return read_title_page(workspace)


def _checked(workspace: Workspace, name: str, value: Any) -> Any:
    if name == "contact":
        lines = [_one_line(each) for each in value]
        if len(lines) > _MOST_LINES:
            raise InvalidInput(
                f"{len(lines)} lines of contact are too many", fix=f"Use at most {_MOST_LINES}."
            )
        return tuple(line for line in lines if line)
    told = _one_line(str(value))
    if name == "language" and told and not _LANGUAGE.fullmatch(told):
        raise InvalidInput(f"{told!r} is no code of a language", fix="Use one like en or pt-BR.")
    if name == "date" and told and not _DATE.fullmatch(told):
        raise InvalidInput(f"{told!r} is no date", fix="Write 2026, 2026-11 or 2026-11-18.")
    if name == "cover" and told:
        told = workspace.files.resolve(told)
        read_cover(workspace.files, told)
    return told


def _one_line(text: str) -> str:
    return " ".join(clean_text(text).split())[:_MOST_CHARS]
