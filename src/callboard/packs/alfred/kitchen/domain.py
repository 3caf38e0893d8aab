"""Kitchen: recipes, stock, shopping, plans, tasks and people as a domain to talk about.

What only a conversation needs is imported where it is used: data is read and written without it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from callboard.choreography.turn.domain import (
    AskedMessage,
    ComputeFunction,
    Objection,
    Routed,
    Row,
    WantedContent,
    Who,
)
from callboard.choreography.turn.domain_parts import (
    Detail,
    OnboardingQuestion,
    ProfileView,
    TableWords,
)
from callboard.choreography.turn.requests import (
    MOST_ROWS,
    ReadRequest,
    ReadResult,
    WriteRequest,
    WriteResult,
)
from callboard.core.clock import Clock
from callboard.knowledge.entities.matching import name_key
from callboard.library.relational.base import Base
from callboard.library.relational.dates import Today
from callboard.library.relational.domain import Data, DescribedDomain
from callboard.library.relational.fields import LONGEST_LIST
from callboard.library.relational.rules import WriteLimits
from callboard.packs.alfred.kitchen import opening
from callboard.packs.alfred.kitchen.compute.functions import kitchen_functions
from callboard.packs.alfred.kitchen.onboarding import questions
from callboard.packs.alfred.kitchen.presenting import present_content, present_rows
from callboard.packs.alfred.kitchen.profile import load_profile, profile_view
from callboard.packs.alfred.kitchen.rules.kitchen_rules import KitchenRules
from callboard.packs.alfred.kitchen.schema import kitchen_tables
from callboard.packs.alfred.kitchen.telling import (
    label_of,
    slot_of,
    table_words,
    tags_of,
    tell_write,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection, Executable

    from callboard.choreography.stage import Stage
    from callboard.packs.alfred.kitchen.cooking import CookSessions
    from callboard.packs.alfred.kitchen.glance import Glance
    from callboard.packs.alfred.kitchen.router.situation import Likely

_FOUND: Final = 5
_LIKELY: Final = 20


class Kitchen(DescribedDomain):
    """The domain of a household's kitchen."""

    def __init__(
        self,
        base: Base,
        clock: Clock,
        new_id: Callable[[], str],
        limits: WriteLimits | None = None,
        cooks: "CookSessions | None" = None,
    ) -> None:
        """Take the open database, brought up to date, and where it is kept what is on the stove."""
        self._cooks = cooks
        tables = kitchen_tables()
        super().__init__(
            base,
            tables,
            KitchenRules(tables, new_id),
            opening.kitchen_log(),
            clock,
            new_id,
            limits or WriteLimits(),
            _today_of,
            __package__ or "",
        )

    def compute_functions(self) -> Mapping[str, ComputeFunction]:
        """Return the arithmetic a plan may name."""
        return kitchen_functions(self._day)

    def onboarding(self) -> Sequence[OnboardingQuestion]:
        """Return what is asked once."""
        return questions()

    async def read(self, who: Who, request: ReadRequest) -> ReadResult:
        """Return rows of one user; a recipe with its ingredients brings its steps and tags too."""
        found = await super().read(who, _completed(request))
        if request.table != "recipes" or not any("ingredients" in row for row in found.rows):
            return found
        # Whoever reads what goes into a recipe may cook by it.
        rows = await self._minded(who, found.rows)
        return found.model_copy(update={"rows": rows})

    async def counts(self, who: Who) -> Mapping[str, int]:
        """Return how many rows there are, by table."""
        return await self.base.read(lambda c: opening.counts(c, who.user_id))

    async def categories(self, who: Who) -> Mapping[str, Mapping[str, int]]:
        """Return how many rows there are by table and category."""
        return await self.base.read(lambda c: opening.categories(c, who.user_id))

    async def profile(self, who: Who, detail: Detail, subdomain: str = "") -> ProfileView:
        """Return what prompts are told about a user; what must not be eaten always is."""
        known = await self.base.read(lambda c: load_profile(c, who.user_id))
        view = profile_view(known, detail, subdomain)
        return replace(view, default_mode=known.values.get("default_mode"))

    async def profile_row(self, who: Who) -> Row:
        """Return a user's profile as it is stored; empty if there is none."""
        rows = await self._rows(who, table="user_profile", limit=1)
        return rows[0] if rows else {}

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
            await self.all_rows(
                who, table="shopping_items", filters=[still], include=["ingredient"]
            ),
            await self.all_rows(who, table="inventory_items", include=["ingredient"]),
            await self.all_rows(who, table="meal_plans", filters=[week], include=["recipe"]),
            str((await self.profile_row(who)).get("list_organization") or "by_category"),
            (await self.today(who)).day,
        )

    def content_schema(self, content_type: str) -> Mapping[str, Any]:
        """Return the JSON schema of what is generated."""
        from callboard.packs.alfred.kitchen.generation.content import content_schema

        return content_schema(content_type)

    async def check_content(
        self, who: Who, content_type: str, content: Row, constraints: Sequence[str]
    ) -> Sequence[Objection]:
        """Return why content may not be shown or kept: its shape, its eaters, its recipes."""
        from callboard.packs.alfred.kitchen.generation.content import content_objections

        profile = await self.profile_row(who)

        async def read(request: ReadRequest) -> ReadResult:
            return await Data.read(self, who, request)

        return await content_objections(content_type, content, profile, constraints, read)

    def content_to_write(self, content_type: str, content: Row) -> WriteRequest:
        """Return the write that saves generated content."""
        from callboard.packs.alfred.kitchen.generation.content import content_to_write

        return content_to_write(content_type, content)

    def label_for(self, entity_type: str, row: Row) -> str:
        """Return how people name a row."""
        return label_of(entity_type, row)

    def tags_for(self, entity_type: str, row: Row) -> tuple[str, ...]:
        """Return the words a row is also known by."""
        return tags_of(entity_type, row)

    def slot_for(self, entity_type: str, row: Row) -> str | None:
        """Return the place a row takes."""
        return slot_of(entity_type, row)

    async def route(self, asked: AskedMessage) -> Routed | None:
        """Return what code makes of a message, or None if it is not sure."""
        from callboard.packs.alfred.kitchen.hearing.speech import tidy
        from callboard.packs.alfred.kitchen.router.cooking import route_cooking
        from callboard.packs.alfred.kitchen.router.routing import LONGEST_MESSAGE, route_message
        from callboard.packs.alfred.kitchen.router.situation import Situation

        if len(asked.message) > LONGEST_MESSAGE:
            return None

        async def read(request: ReadRequest) -> ReadResult:
            return await Data.read(self, asked.who, request)

        today = await self.today(asked.who)
        situation = Situation(
            asked,
            tidy(asked.message),
            today,
            read,
            likely=lambda constraints: self._likely(asked, today, constraints),
            minded=lambda rows: self._minded(asked.who, rows),
        )
        if self._cooks is not None:
            cooks, now = self._cooks, self.clock.now_ms()

            async def at_stove(said: str) -> Routed | None:
                is_begun = cooks.get(asked.who.session_id) is not None
                if not is_begun and not said.startswith("start cooking"):
                    return await situation.at_stove(said)
                return await route_cooking(situation.saying(said, 0), cooks, now)

            routed = await route_cooking(situation, cooks, now)
            if routed is not None:
                return routed
            return await route_message(replace(situation, at_stove=at_stove))
        return await route_message(situation)

    async def find_by_label(self, who: Who, text: str) -> Sequence[Row]:
        """Return recipes and open tasks of one user that go by a name."""
        plain = text.strip().replace("%", "").replace("*", "")
        if not plain:
            return []
        found: list[Row] = []
        for table, column, kind in (
            ("recipes", "name", "recipe"),
            ("tasks", "description", "task"),
        ):
            for condition in (
                {"field": column, "op": "eq", "value": plain},
                {"field": column, "op": "ilike", "value": f"%{plain}%"},
            ):
                rows = await self._rows(who, table=table, filters=[condition], limit=_FOUND)
                if rows:
                    found += [{**row, "type": kind} for row in rows]
                    break
        return found

    def mode_of(self, message: str) -> str | None:
        """Return the mode a message sounds like, or None if it fits any."""
        from callboard.packs.alfred.kitchen.router.routing import mode_of

        return mode_of(message)

    async def draft_content(
        self, stage: "Stage", key: str, wanted: WantedContent
    ) -> Sequence[Row] | None:
        """Return content whose gaps a model has filled by picking from what is offered."""
        from callboard.packs.alfred.kitchen.generation.drafting import draft

        profile = await self.profile_row(wanted.who)
        today = await self.today(wanted.who)
        names = await self._rows(wanted.who, table="recipes", columns=["name"], limit=200)
        taken = frozenset(name_key(str(row["name"])) for row in names)
        return await draft(stage, key, wanted, profile, today.day, taken)

    async def present_rows(self, who: Who, table: str, rows: Sequence[Row]) -> Sequence[str] | None:
        """Return the lines of a list; a shopping list as its owner likes it."""
        organization = ""
        if table == "shopping_items":
            profile = await self.profile_row(who)
            organization = str(profile.get("list_organization") or "by_category")
        return present_rows(table, rows, organization)

    def present_content(self, content_type: str, content: Row) -> str:
        """Return a draft as the user reads it."""
        return present_content(content_type, content)

    def table_words(self, table: str) -> TableWords | None:
        """Return how people call a table."""
        return table_words(table)

    def tell_write(self, request: WriteRequest, result: WriteResult) -> str | None:
        """Return a change in a cook's words, or None where the plain form says it."""
        return tell_write(request, result)

    def close(self) -> None:
        """Close the database."""
        self.base.close()

    async def today(self, who: Who) -> Today:
        """Return what day it is for a user."""
        return await self.base.read(lambda c: self.day_of(c, who))

    async def _likely(
        self, asked: AskedMessage, today: Today, constraints: Sequence[str]
    ) -> "Likely | None":
        """Return what matters of a kitchen that is too big to be read whole."""
        from callboard.packs.alfred.kitchen.compute.matching import MatchOptions
        from callboard.packs.alfred.kitchen.cookable import match_in_database
        from callboard.packs.alfred.kitchen.food.checking import Eater
        from callboard.packs.alfred.kitchen.router.situation import Likely

        counts = await self.counts(asked.who)
        if max(counts["recipes"], counts["inventory_items"]) <= MOST_ROWS:
            return None
        profile = await self.profile_row(asked.who)
        eater = Eater.of(profile, [*asked.constraints, *constraints])
        options = MatchOptions(today=today.day, limit=_LIKELY)
        matches = await self.base.read(
            lambda c: match_in_database(c, asked.who.user_id, eater, options)
        )
        ids = [str(each["id"]) for each in matches]
        among = {"field": "id", "op": "in", "value": ids}
        rows = await self._rows(
            asked.who, table="recipes", filters=[among], include=["ingredients"], limit=_LIKELY
        )
        used = [str(line["ingredient_id"]) for row in rows for line in row["ingredients"]]
        return Likely(tuple(ids), tuple(dict.fromkeys(used))[:LONGEST_LIST])

    async def _minded(self, who: Who, recipes: Sequence[Row]) -> list[dict[str, Any]]:
        """Return recipes with why somebody in the house must not eat them."""
        from callboard.packs.alfred.kitchen.rules.safety import SafetyGate

        return await self.base.read(lambda c: SafetyGate(c, who.user_id).warnings(recipes))

    def _day(self, who: Who) -> str:
        today = self.base.read_now(lambda c: self.day_of(c, who))
        return today.day.isoformat()

    async def _rows(self, who: Who, **query: Any) -> Sequence[Row]:
        return (await Data.read(self, who, ReadRequest.model_validate(query))).rows


def _completed(request: ReadRequest) -> ReadRequest:
    """Have a recipe's lines, steps and tags read together: all of them tell who may eat it."""
    if request.table != "recipes" or request.count_only or request.group_by or request.aggregates:
        return request
    is_plain = request.columns is None and not request.include
    if not is_plain and "ingredients" not in request.include:
        return request
    whole = list(dict.fromkeys([*request.include, "ingredients", "steps", "tags"]))
    return request.model_copy(update={"include": whole})


def _today_of(connection: "Connection", who: Who, now_ms: int) -> Today:
    """Return what day it is where somebody lives, with their week's first day."""
    row = connection.execute(_life(), {"user_id": who.user_id}).first()
    zone = who.timezone if row is None or who.timezone != "UTC" else str(row[0])
    return Today.at(now_ms, zone, week_starts_sunday=row is not None and row[1] == "sun")


@cache
def _life() -> "Executable":
    """Return the question where somebody lives; asked with every message, so made only once."""
    from sqlalchemy import bindparam, select

    from callboard.packs.alfred.kitchen.schema.tables import user_profile, users

    return (
        select(users.c.timezone, user_profile.c.week_start)
        .join(user_profile, user_profile.c.user_id == users.c.id, isouter=True)
        .where(users.c.id == bindparam("user_id"))
    )
