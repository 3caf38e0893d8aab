"""Alfred in an open studio: what the doors ask for, in one place."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from callboard.choreography.turn.domain import Row, Who
from callboard.choreography.turn.requests import (
    MOST_ROWS,
    ReadRequest,
    ReadResult,
    UndoResult,
    WriteKey,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.choreography.turn.shapes import Gesture, TurnOutcome
from callboard.choreography.turn.talk import Talk
from callboard.core.clock import iso
from callboard.core.errors import InvalidInput, NotFound
from callboard.core.vocabulary import SessionState
from callboard.packs.alfred.ground import PACK, kitchen_of
from callboard.packs.alfred.settings import SettingsRead, is_timezone, read_settings
from callboard.store.records import Records
from callboard.studio.studio import Studio
from callboard.tools import off_loop

if TYPE_CHECKING:
    from callboard.packs.alfred.kitchen.cooking import CookSession, CookSessions
    from callboard.packs.alfred.kitchen.domain import Kitchen
    from callboard.packs.alfred.kitchen.glance import Glance
    from callboard.packs.alfred.kitchen.profile import Onboarding
    from callboard.packs.alfred.kitchen.recipes.recipe import ImportReport

FORMATS: Final = ("markdown", "jsonld")
# What is done by hand and not in a conversation is undone by hand, too.
BY_HAND: Final = "by-hand"
_WITH: Final = "Alfred and "


class Alfred:
    """The kitchen of one open project."""

    pack: Final = PACK

    def __init__(self, studio: Studio) -> None:
        """Take the studio; the kitchen is opened when first entered."""
        self.studio = studio

    @cached_property
    def settings(self) -> SettingsRead:
        """The settings in force, and what was wrong in the project's own file."""
        return read_settings(self.studio.project.folder)

    @property
    def is_used(self) -> bool:
        """Whether this project is a kitchen: made for the pack, or already cooked in."""
        if self.studio.settings.pack == PACK:
            return True
        from callboard.packs.alfred.kitchen.opening import FILE_NAME

        return (self.studio.project.folder / FILE_NAME).exists()

    @property
    def kitchen(self) -> "Kitchen":
        """The kitchen itself."""
        return kitchen_of(self.studio)

    @cached_property
    def talk(self) -> Talk:
        """The way to talk about the kitchen."""
        return Talk(self.studio, self.kitchen, PACK)

    def who(self, user_id: str | None = None, session_id: str = "") -> Who:
        """Return whose data it is; somebody who does not cook here raises."""
        from callboard.packs.alfred.kitchen.opening import person

        name = user_id or self.settings.values.people.default
        found = self.kitchen.base.read_now(lambda c: person(c, name))
        return Who(name, session_id, str(found["timezone"]))

    def people(self) -> Sequence[Mapping[str, Any]]:
        """Return who cooks here."""
        from callboard.packs.alfred.kitchen.opening import people

        return self.kitchen.base.read_now(people)

    async def add_person(self, user_id: str, name: str, timezone: str = "UTC") -> bool:
        """Give somebody a place in the household; say whether they are new."""
        from callboard.packs.alfred.kitchen.opening import add_person

        plain = user_id.strip()
        if not plain or len(plain) > 100:
            raise InvalidInput(
                f"{user_id[:40]!r} cannot be somebody's id", fix="Give 1 to 100 characters."
            )
        if not is_timezone(timezone):
            raise InvalidInput(
                f"{timezone[:40]!r} is no time zone", fix="Give one such as Europe/Berlin, or UTC."
            )
        now = iso(self.studio.clock.now_ms())
        return await self.kitchen.base.write(
            lambda c: add_person(c, plain, name or plain, now, timezone)
        )

    async def seed(self, who: Who) -> dict[str, int]:
        """Fill an empty kitchen with something to try things on; return how much there is."""
        from callboard.packs.alfred.kitchen.fixtures import seed

        today = await self.kitchen.today(who)
        kitchen = self.kitchen
        return await asyncio.to_thread(seed, kitchen.base, who.user_id, today, kitchen.new_id)

    async def send(
        self,
        message: str,
        *,
        session_id: str,
        user_id: str | None = None,
        mode: str | None = None,
        client_message_id: str | None = None,
        gesture: Gesture | None = None,
    ) -> TurnOutcome:
        """Say something to Alfred and return what came of it, after timers that are up."""
        outcome = await self.talk.send(
            message,
            session_id=session_id,
            who=self.who(user_id, session_id),
            mode=mode,
            client_message_id=client_message_id,
            gesture=gesture,
        )
        rung = await self.ring(session_id)
        if not rung:
            return outcome
        return outcome.model_copy(update={"message": "\n".join([*rung, outcome.message])})

    async def session_of(self, user_id: str | None = None) -> str:
        """Return where somebody talks: the newest session that is theirs, or nobody's yet."""
        name, sessions = self.who(user_id).user_id, self.studio.sessions
        own = f"{_WITH}{name}"
        for session in sessions.list(SessionState.ACTIVE):
            owner = self.talk.owner(session.id)
            # One that was begun for somebody else is theirs, before they have said a word.
            is_free = session.name == own or not session.name.startswith(_WITH)
            if owner == name or (owner is None and is_free):
                return session.id
        return (await sessions.create(own)).id

    async def new_session(self, user_id: str | None = None) -> str:
        """Begin a conversation of somebody's own, whatever others there are."""
        name = self.who(user_id).user_id
        return (await self.studio.sessions.create(f"{_WITH}{name}")).id

    async def read(self, who: Who, request: ReadRequest) -> ReadResult:
        """Return rows, without a conversation."""
        return await self.kitchen.read(who, request)

    async def preview(self, who: Who, request: WriteRequest) -> WritePreview:
        """Say what a change would touch."""
        return await self.kitchen.preview(who, request)

    async def write(
        self,
        who: Who,
        request: WriteRequest,
        confirmed: WritePreview | None = None,
        request_id: str | None = None,
    ) -> WriteResult:
        """Change rows, without a conversation; the same request id is the same change."""
        own = by_hand(who)
        step_id = request_id or self.studio.ids.make("call")
        key = WriteKey(session_id=own.session_id, step_id=step_id)
        return await self.kitchen.write(own, request, key, confirmed)

    async def undo(self, who: Who) -> UndoResult:
        """Take back the last change that was made without a conversation."""
        return await self.kitchen.undo(by_hand(who))

    async def profile(self, who: Who) -> Row:
        """Return what is known about somebody."""
        return await self.kitchen.profile_row(who)

    async def set_profile(
        self, who: Who, values: Mapping[str, Any], confirmed: WritePreview | None = None
    ) -> WriteResult:
        """Change what is known about somebody; to drop an allergy or a diet needs their word."""
        request = WriteRequest.model_validate(
            {"op": "upsert", "table": "user_profile", "records": [dict(values)]}
        )
        return await self.write(who, request, confirmed)

    async def onboarding(self, who: Who) -> "Onboarding":
        """Return how far somebody is with the questions that are asked once."""
        from callboard.packs.alfred.kitchen.profile import Onboarding

        return Onboarding.of((await self.profile(who)).get("onboarding_state") or ())

    async def answer_onboarding(
        self, who: Who, question_id: str, answer: str, confirmed: WritePreview | None = None
    ) -> "Onboarding":
        """Take an answer to one of them; the profile follows at once."""
        after = (await self.onboarding(who)).answer(question_id, answer)
        await self.write(who, after.request(), confirmed)
        return after

    async def skip_onboarding(self, who: Who) -> "Onboarding":
        """Ask somebody nothing more."""
        after = (await self.onboarding(who)).skip_rest()
        await self.write(who, after.request())
        return after

    async def glance(self, who: Who) -> "Glance":
        """Return somebody's kitchen at one look: the list, the stock, the week to come."""
        from callboard.packs.alfred.kitchen.glance import SHOWN_DAYS, glance_at

        week = {
            "field": "plan_date",
            "op": "between",
            "value": ["@today", f"@today+{SHOWN_DAYS - 1}d"],
        }
        still = {"field": "status", "op": "in", "value": ["needed", "in_cart"]}
        return glance_at(
            await self._rows(who, table="shopping_items", filters=[still], include=["ingredient"]),
            await self._rows(who, table="inventory_items", include=["ingredient"]),
            await self._rows(who, table="meal_plans", filters=[week], include=["recipe"]),
            str((await self.profile(who)).get("list_organization") or "by_category"),
            (await self.kitchen.today(who)).day,
        )

    def cooking(self, session_id: str) -> "CookSession | None":
        """Return what is on the stove in a conversation, if anything."""
        return self._stove.get(session_id)

    async def ring(self, session_id: str) -> list[str]:
        """Return what is told about timers that are up; each is told once, by whoever asks."""
        return await self._stove.ring(session_id, self.studio.clock.now_ms())

    @cached_property
    def _stove(self) -> "CookSessions":
        from callboard.packs.alfred.kitchen.cooking import CookSessions

        return CookSessions(Records(self.studio.database, PACK, self.studio.clock))

    async def read_recipes(
        self, source: Path | bytes | str, kind: str | None = None
    ) -> "ImportReport":
        """Read recipes from a file or pasted text; nothing is written."""
        return await off_loop(_read_recipes, source, kind)

    async def import_recipes(
        self, who: Who, source: Path | bytes | str, kind: str | None = None
    ) -> tuple["ImportReport", list[WriteResult]]:
        """Read recipes and write them, each by itself; one that is there already is told."""
        from callboard.packs.alfred.kitchen.recipes.writing import to_write

        report = await self.read_recipes(source, kind)
        written = [await self.write(who, to_write(recipe)) for recipe in report.recipes]
        return report, written

    async def export_recipes(
        self, who: Who, names: Sequence[str] = (), as_format: str = "markdown"
    ) -> dict[str, str]:
        """Return recipes as texts of a format, by name; without names, all of them."""
        from callboard.packs.alfred.kitchen.recipes.writing import (
            from_row,
            write_jsonld,
            write_markdown,
        )

        if as_format not in FORMATS:
            raise InvalidInput(f"{as_format!r} is no format", fix=f"Formats: {', '.join(FORMATS)}.")
        write = write_markdown if as_format == "markdown" else write_jsonld
        rows = await self._recipes(who, names)
        return await off_loop(lambda: {str(row["name"]): write(from_row(row)) for row in rows})

    async def export_calendar(self, who: Who, start: str, end: str) -> str:
        """Return planned meals as an iCalendar file."""
        from datetime import UTC, datetime

        from callboard.packs.alfred.kitchen.recipes.writing import CalendarTimes, write_calendar

        between = {"field": "plan_date", "op": "between", "value": [start, end]}
        rows = await self._rows(who, table="meal_plans", filters=[between], include=["recipe"])
        meals = [{**row, "recipe_name": _inner(row, "recipe", "name")} for row in rows]
        now = datetime.fromtimestamp(self.studio.clock.now_ms() / 1000, tz=UTC)
        return await off_loop(write_calendar, meals, now, CalendarTimes(zone=who.timezone))

    async def export_shopping(self, who: Who) -> str:
        """Return the shopping list as text, grouped as its owner likes it."""
        from callboard.packs.alfred.kitchen.recipes.writing import write_shopping

        still = {"field": "status", "op": "in", "value": ["needed", "in_cart"]}
        rows = await self._rows(
            who, table="shopping_items", filters=[still], include=["ingredient"]
        )
        profile = await self.profile(who)
        items = [{**row, "aisle": _inner(row, "ingredient", "aisle")} for row in rows]
        order = str(profile.get("list_organization") or "by_category")
        return await off_loop(write_shopping, items, order)

    def close(self) -> None:
        """Have nothing to let go of: the kitchen is closed with its studio."""

    async def _recipes(self, who: Who, names: Sequence[str]) -> Sequence[Row]:
        include = ["ingredients", "steps", "tags"]
        if not names:
            return await self._rows(who, table="recipes", include=include)
        found: list[Row] = []
        for name in names:
            same = {"field": "name", "op": "eq", "value": name}
            rows = await self._rows(who, table="recipes", filters=[same], include=include)
            if not rows:
                raise NotFound(f"You have no recipe called {name!r}", fix="Look at your recipes.")
            found += rows
        return found

    async def _rows(self, who: Who, **query: Any) -> Sequence[Row]:
        """Return every row a query finds, page by page."""
        rows: list[Row] = []
        is_more = True
        while is_more:
            page = {**query, "limit": MOST_ROWS, "offset": len(rows)}
            found = await self.kitchen.read(who, ReadRequest.model_validate(page))
            rows += found.rows
            is_more = found.truncated
        return rows


def _read_recipes(source: Path | bytes | str, kind: str | None) -> "ImportReport":
    # Loaded in the thread as well: the first who reads one waits, nobody else.
    from callboard.packs.alfred.kitchen.recipes.reading import import_file

    return import_file(source, kind)


def by_hand(who: Who) -> Who:
    """Return somebody outside of any conversation."""
    return Who(who.user_id, f"{BY_HAND}-{who.user_id}", who.timezone)


def _inner(row: Row, relation: str, column: str) -> Any:
    """Return what a row's related row says."""
    related: Any = row.get(relation)
    return cast("Row", related).get(column) if isinstance(related, Mapping) else None


def alfred_of(studio: Studio) -> Alfred:
    """Return the kitchen of an open project, opened when it is first needed."""
    return studio.keep(Alfred, Alfred)


def is_used(studio: Studio) -> bool:
    """Say whether a project is a kitchen."""
    return alfred_of(studio).is_used
