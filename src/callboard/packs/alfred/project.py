"""The kitchen of a project as its doors enter it: its people, their conversations, its data.

Rows are read, previewed and undone by the kitchen itself; what is written without a conversation
is written under a name of its own.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.operations import operations_on, undo_rows, write_rows
from callboard.choreography.turn.requests import (
    UndoResult,
    WriteError,
    WriteKey,
    WritePreview,
    WriteRequest,
    WriteResult,
)
from callboard.choreography.turn.shapes import Gesture, TurnOutcome
from callboard.core.clock import iso
from callboard.core.errors import InvalidInput
from callboard.core.vocabulary import SessionState
from callboard.operations import Operations
from callboard.operations.runtime import begin_session
from callboard.packs.alfred.settings import SettingsRead, is_timezone, read_settings
from callboard.store.records import Records
from callboard.studio.database import claim
from callboard.studio.studio import Studio

if TYPE_CHECKING:
    from callboard.choreography.turn.talk import Talk
    from callboard.packs.alfred.kitchen.cooking import CookSession, CookSessions
    from callboard.packs.alfred.kitchen.domain import Kitchen
    from callboard.packs.alfred.kitchen.onboarding import Onboarding

PACK: Final = "alfred"
# What is done by hand and not in a conversation is undone by hand, too.
BY_HAND: Final = "by-hand"
_WITH: Final = "Alfred and "


class KitchenProject:
    """The kitchen of one open project, as the doors enter it."""

    def __init__(self, studio: Studio) -> None:
        """Take the studio; the kitchen is opened when first entered."""
        self.studio = studio

    @cached_property
    def settings(self) -> SettingsRead:
        """The settings in force, and what was wrong in the project's own file."""
        return read_settings(self.studio.project.folder)

    @property
    def kitchen(self) -> "Kitchen":
        """The kitchen itself."""
        return kitchen_of(self.studio)

    @cached_property
    def operations(self) -> Operations:
        """What changes the kitchen without a conversation, on record."""
        return operations_on(self.studio, PACK, self.kitchen)

    @cached_property
    def talk(self) -> "Talk":
        """The way to talk about the kitchen."""
        from callboard.choreography.turn.talk import Talk

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
        from callboard.packs.alfred.kitchen.operations import add_person

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
        return await self.operations.perform(add_person, plain, name or plain, timezone, now)

    async def seed(self, who: Who) -> dict[str, int]:
        """Fill an empty kitchen with something to try things on; return how much there is."""
        from callboard.packs.alfred.kitchen.operations import seed_kitchen

        return await self.operations.perform(seed_kitchen, who)

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

    def theirs(self, session_id: str, user_id: str | None = None) -> str:
        """Return the id of a conversation somebody may look into; another person's raises."""
        found = self.studio.sessions.get(session_id).id
        self.talk.refuse_strangers(found, self.who(user_id, found))
        return found

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
        return (await begin_session(self.studio, own)).id

    async def new_session(self, user_id: str | None = None) -> str:
        """Begin a conversation of somebody's own, whatever others there are."""
        name = self.who(user_id).user_id
        return (await begin_session(self.studio, f"{_WITH}{name}")).id

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
        return await self.operations.perform(write_rows, own, request, key, confirmed)

    async def write_anyway(self, who: Who, request: WriteRequest) -> WriteResult:
        """Change rows although somebody would be asked; why they would be is on the receipt."""
        preview = await self.kitchen.preview(by_hand(who), request)
        return await self.write(who, request, preview if preview.needs_confirmation else None)

    async def undo(self, who: Who, confirmed: WritePreview | None = None) -> UndoResult:
        """Take back the last change that was made without a conversation."""
        return await self.operations.perform(undo_rows, by_hand(who), confirmed)

    async def undo_anyway(self, who: Who) -> UndoResult:
        """Do the same although somebody would be asked; why they would be is on the receipt."""
        try:
            return await self.undo(who)
        except WriteError as error:
            if error.kind != "needs_confirmation":
                raise
            preview = WritePreview.model_validate(error.context["preview"])
            return await self.undo(who, preview)

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
        from callboard.packs.alfred.kitchen.onboarding import Onboarding

        return Onboarding.of((await self.kitchen.profile_row(who)).get("onboarding_state") or ())

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

    def cooking(self, session_id: str) -> "CookSession | None":
        """Return what is on the stove in a conversation, if anything."""
        return self._cooks.get(session_id)

    async def ring(self, session_id: str) -> list[str]:
        """Return what is told about timers that are up; each is told once, by whoever asks."""
        return await self._cooks.ring(session_id, self.studio.clock.now_ms())

    @cached_property
    def _cooks(self) -> "CookSessions":
        from callboard.packs.alfred.kitchen.cooking import CookSessions

        return CookSessions(Records(self.studio.database, PACK, self.studio.clock))


def by_hand(who: Who) -> Who:
    """Return somebody outside of any conversation."""
    return Who(who.user_id, f"{BY_HAND}-{who.user_id}", who.timezone)


def project_of(studio: Studio) -> KitchenProject:
    """Return the kitchen of an open project, opened when it is first needed."""
    return studio.keep(KitchenProject, KitchenProject)


def kitchen_of(studio: Studio) -> "Kitchen":
    """Return the project's kitchen; it stays open as long as the studio does."""
    from callboard.packs.alfred.kitchen.domain import Kitchen

    return studio.keep(Kitchen, _open)


def _open(studio: Studio) -> "Kitchen":
    import uuid

    from callboard.packs.alfred.kitchen.cooking import CookSessions
    from callboard.packs.alfred.kitchen.domain import Kitchen
    from callboard.packs.alfred.kitchen.opening import (
        FILE_NAME,
        add_person,
        kitchen_url,
        open_kitchen,
    )

    settings = read_settings(studio.project.folder).values
    if not settings.database.url:
        claim(studio.project, FILE_NAME)
    base = open_kitchen(kitchen_url(studio.project.folder, settings.database.url))
    kitchen = Kitchen(
        base,
        studio.clock,
        lambda: str(uuid.uuid4()),
        settings.writes,
        CookSessions(Records(studio.database, PACK, studio.clock)),
    )
    someone = settings.people
    now = iso(studio.clock.now_ms())
    base.write_now(lambda c: add_person(c, someone.default, someone.name, now, someone.timezone))
    return kitchen


def find(studio: Studio, _kind: type[Any]) -> "Kitchen":
    """Return what Alfred's operations work on."""
    return kitchen_of(studio)
