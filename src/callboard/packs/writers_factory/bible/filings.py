"""Filings: what a conversation put on record, and what stood there before, so it can be taken back.

It writes into no template and no memory; who takes a filing back does.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.packs.writers_factory.action import Cause
from callboard.packs.writers_factory.bible.bible import Bible
from callboard.packs.writers_factory.bible.values import as_list
from callboard.packs.writers_factory.workspace import Workspace

_KIND: Final = "filings"
_BOOK: Final = "book"
_MOST: Final = 50


@dataclass(frozen=True, slots=True)
class FiledTemplate(Coded):
    """Fields of a template before and after they were filed, and where those before came from."""

    template: str
    before: Mapping[str, Json]
    after: Mapping[str, Json]
    sources: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class FiledDecision(Coded):
    """A decision that was filed, and the one it replaced."""

    category: str
    key: str
    value: str
    before: str | None = None
    before_source: str = ""


@dataclass(frozen=True, slots=True)
class Filing(Coded):
    """One thing a turn put on record; its id names that action of the turn and no other."""

    id: str
    run_id: str
    session_id: str
    at: int
    template: FiledTemplate | None = None
    decision: FiledDecision | None = None
    is_taken_back: bool = False

    @property
    def told(self) -> str:
        """What was filed, in words."""
        if self.template is not None:
            fields = self.template.after.items()
            listed = (f"{name.replace('_', ' ')}: {_words(value)}" for name, value in fields)
            return f"{self.template.template.replace('_', ' ')}, {'; '.join(listed)}"
        if self.decision is not None:
            return f"{self.decision.category}, {self.decision.value}"
        return "nothing"


class Filings:
    """The newest filings of a book, oldest first."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project."""
        self._workspace = workspace

    def all(self) -> tuple[Filing, ...]:
        """Return the filings that can still be looked at, oldest first."""
        body = self._workspace.records.get(_KIND, _BOOK) or {}
        return tuple(Filing.from_json(each) for each in body.get("held", ()))

    def last(self, session_id: str | None = None) -> Filing | None:
        """Return the newest filing that stands, in one session or in all."""
        return next(
            (
                each
                for each in reversed(self.all())
                if not each.is_taken_back and session_id in (None, each.session_id)
            ),
            None,
        )

    def find(self, filing_id: str) -> Filing | None:
        """Return a filing by its id."""
        return next((each for each in self.all() if each.id == filing_id), None)

    async def begin(
        self,
        cause: Cause,
        template: FiledTemplate | None = None,
        decision: FiledDecision | None = None,
    ) -> None:
        """Keep what is about to be filed; what stands already or is tried again changes nothing."""
        if _is_there(template, decision):
            return
        now = self._workspace.studio.clock.now_ms()
        new = Filing(cause.once, cause.run_id, cause.session_id, now, template, decision)

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            held = list((body or {}).get("held", ()))
            if all(each["id"] != new.id for each in held):
                held.append(new.to_json())
            return {"held": held[-_MOST:]}

        await self._workspace.records.change(_KIND, _BOOK, work)

    async def end(self, filing: Filing) -> None:
        """Mark a filing as taken back."""
        marked = replace(filing, is_taken_back=True).to_json()

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            held = (body or {}).get("held", ())
            return {"held": [marked if each["id"] == filing.id else each for each in held]}

        await self._workspace.records.change(_KIND, _BOOK, work)


def filed_fields(bible: Bible, name: str, after: Mapping[str, Json]) -> FiledTemplate:
    """Return what fields of a template are now, beside what they are to be."""
    template = bible.template(name)
    before: dict[str, Json] = {
        each: template.fields[each] for each in after if each in template.fields
    }
    sources = {each: template.sources[each] for each in before if each in template.sources}
    return FiledTemplate(template.name.value, before, dict(after), sources)


def _is_there(template: FiledTemplate | None, decision: FiledDecision | None) -> bool:
    """Say whether what is to be filed stands there already."""
    is_written = template is None or dict(template.before) == dict(template.after)
    return is_written and (decision is None or decision.before == decision.value)


def _words(value: Json) -> str:
    return "; ".join(as_list(value)) if isinstance(value, list) else str(value)
