"""Seat: somebody at the table: whose kitchen it is, which conversation, and the way to speak.

It asks Alfred what the other doors ask, and decides nothing.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from callboard.choreography.turn.domain import Who
from callboard.choreography.turn.shapes import Gesture
from callboard.choreography.turn.standing import TalkStanding
from callboard.core.events import Event
from callboard.packs.alfred.kitchen.cooking import CookSession
from callboard.packs.alfred.kitchen.glance import Glance
from callboard.packs.alfred.project import KitchenProject

SHOWN_TURNS: Final = 40


@dataclass(frozen=True, slots=True)
class SeatMessage:
    """A turn as it is shown."""

    turn: int
    user: str
    assistant: str
    is_running: bool


@dataclass(frozen=True, slots=True)
class SeatView:
    """Everything a page shows, as it is at one moment."""

    said: tuple[SeatMessage, ...]
    standing: TalkStanding
    glance: Glance
    cooking: CookSession | None
    profile: Mapping[str, Any]

    @property
    def running(self) -> SeatMessage | None:
        """The turn that is under way, if one is."""
        return next((each for each in self.said if each.is_running), None)


@dataclass
class Seat:
    """Somebody in a conversation."""

    alfred: KitchenProject
    user_id: str
    session_id: str

    @classmethod
    async def take(cls, alfred: KitchenProject, user_id: str | None) -> "Seat":
        """Sit down where somebody talked last, or begin."""
        who = alfred.who(user_id)
        return cls(alfred, who.user_id, await alfred.session_of(who.user_id))

    @property
    def who(self) -> Who:
        """Whose data it is."""
        return self.alfred.who(self.user_id, self.session_id)

    async def _stay(self) -> None:
        """Move on if somebody else was the first to say something where nobody had yet."""
        if self.alfred.talk.owner(self.session_id) not in (None, self.user_id):
            self.session_id = await self.alfred.session_of(self.user_id)

    async def look(self) -> SeatView:
        """Return what there is to see now."""
        await self._stay()
        talk = self.alfred.talk
        turns = talk.turns(self.session_id, SHOWN_TURNS)
        said = tuple(
            SeatMessage(each["turn"], each["user"], each["assistant"], each["status"] == "running")
            for each in turns
        )
        return SeatView(
            said,
            talk.standing(self.session_id),
            await self.alfred.kitchen.glance(self.who),
            self.alfred.cooking(self.session_id),
            await self.alfred.kitchen.profile_row(self.who),
        )

    async def say(self, message: str, gesture: Gesture | None = None) -> None:
        """Say something, or press something that says it."""
        await self._stay()
        await self.alfred.send(
            message,
            session_id=self.session_id,
            user_id=self.user_id,
            client_message_id=self.alfred.studio.ids.make("call"),
            gesture=gesture,
        )

    async def choose_mode(self, name: str) -> None:
        """Go on in another mode."""
        await self.alfred.talk.choose_mode(self.session_id, self.who, name)

    async def undo(self) -> None:
        """Take back what the last turn that wrote has changed."""
        await self.alfred.talk.undo(self.session_id, self.who)

    async def begin_anew(self) -> None:
        """Leave this conversation as it is and begin another."""
        self.session_id = await self.alfred.new_session(self.user_id)

    def listen(self, tell: Callable[[Event], None]) -> Callable[[], None]:
        """Have somebody told what happens in this conversation; return how to stop that."""
        loop = asyncio.get_running_loop()

        def take(event: Event) -> None:
            if event.session_id == self.session_id:
                loop.call_soon(tell, event)

        listeners = self.alfred.studio.backstage.live_listeners
        listeners.append(take)
        return lambda: listeners.remove(take)
