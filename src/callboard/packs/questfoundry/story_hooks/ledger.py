"""The ledger of story hooks: numbers them, keeps them by state, and finds those that repeat one."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from callboard.core.canonical import digest
from callboard.core.clock import Clock
from callboard.core.errors import NotFound
from callboard.packs.questfoundry.story_hooks.story_hook import HookState, StoryHook
from callboard.packs.questfoundry.units.ledger import count_up, day_of
from callboard.store.connection import Connection
from callboard.store.database import Database
from callboard.store.records import Records

_HOOK: Final = "story_hook"
_FILED: Final = "story_hook_filed"
_ALIKE: Final = 90.0


class HookLedger:
    """The story hooks of one project."""

    def __init__(self, database: Database, records: Records, clock: Clock) -> None:
        """Take where they are kept."""
        self._database = database
        self._records = records
        self._clock = clock

    def find(self, hook_id: str) -> StoryHook:
        """Return a story hook; one that does not exist is told."""
        return self._database.read(lambda connection: self.load(connection, hook_id))

    def load(self, connection: Connection, hook_id: str) -> StoryHook:
        """Return a story hook within a unit of work of the database."""
        body = self._records.load(connection, _HOOK, hook_id)
        if body is None:
            raise NotFound(
                f"There is no story hook {hook_id!r}",
                fix="`callboard quest hooks list` shows them.",
            )
        return StoryHook.from_json(body)

    def all(self) -> list[StoryHook]:
        """Return every story hook, oldest first."""
        return [StoryHook.from_json(each) for each in self._records.all(_HOOK).values()]

    def in_state(self, *states: HookState) -> list[StoryHook]:
        """Return the story hooks in some states, oldest first."""

        def act(connection: Connection) -> list[StoryHook]:
            found = [
                self.load(connection, each)
                for state in states
                for each in self._records.load_all(connection, _index(state))
            ]
            return sorted(found, key=lambda hook: hook.id)

        return self._database.read(act)

    def file(
        self, connection: Connection, card: Mapping[str, Any], *, raised_by: str, tu_id: str
    ) -> StoryHook:
        """Number a card and keep it as proposed; the same card of one unit is filed once."""
        name = f"{tu_id}/{digest(dict(card))}"
        known = self._records.load(connection, _FILED, name)
        if known is not None:
            return self.load(connection, str(known["hook"]))
        day = day_of(self._clock)
        number = count_up(self._records, connection, f"HK-{day:%Y%m%d}")
        hook = StoryHook(
            id=f"HK-{day:%Y%m%d}-{number:02d}",
            card=dict(card),
            raised_by=raised_by,
            tu_id=tu_id,
            created_at=self._clock.now_ms(),
        )
        self._records.store(connection, _FILED, name, {"hook": hook.id})
        return self._save(connection, hook, None)

    def move(
        self, connection: Connection, hook_id: str, to: HookState, *, by: str, **more: Any
    ) -> StoryHook:
        """Bring a story hook into another state."""
        before = self.load(connection, hook_id)
        after = before.moved(to, by=by, at=self._clock.now_ms(), **more)
        return self._save(connection, after, before.status)

    async def change(self, work: Callable[[Connection], Any]) -> Any:
        """Do several changes as one."""
        return await self._database.write(work)

    def _save(self, connection: Connection, hook: StoryHook, before: str | None) -> StoryHook:
        if before is not None and before != hook.status:
            self._records.remove(connection, _index(before), hook.id)
        self._records.store(connection, _index(hook.status), hook.id, {})
        self._records.store(connection, _HOOK, hook.id, hook.to_json())
        return hook


def repeats(hooks: Iterable[StoryHook]) -> dict[str, str]:
    """Return which story hooks have the title of an earlier one, nearly word for word."""
    from rapidfuzz import fuzz, process

    first: dict[str, str] = {}
    found: dict[str, str] = {}
    for hook in hooks:
        plain = " ".join(hook.title.casefold().split())
        like = process.extractOne(plain, first.keys(), scorer=fuzz.ratio, score_cutoff=_ALIKE)
        if like is None:
            first[plain] = hook.id
        else:
            found[hook.id] = first[str(like[0])]
    return found


def _index(state: str) -> str:
    return f"{_HOOK}_{state}"
