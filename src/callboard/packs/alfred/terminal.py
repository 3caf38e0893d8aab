"""The kitchen at the command line: open it and do one thing, or talk until the user leaves."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from callboard.choreography.turn.modes import find_mode
from callboard.choreography.turn.shapes import Gesture, GestureKind, TurnOutcome
from callboard.cli import exits
from callboard.cli.bridge import Interrupt, perform, perform_simply
from callboard.cli.handlers.dialogue import Command, Dialogue, TerminalConversation
from callboard.cli.handlers.opening import Choices, OpenWork, working
from callboard.cli.output import echo, echo_json, remark
from callboard.core.vocabulary import EntityState
from callboard.knowledge.entities import by_label
from callboard.packs.alfred.project import KitchenProject
from callboard.packs.alfred.tell import entities_report, turn_report, why_report

Act = Callable[[KitchenProject], Awaitable[object] | None]
"""Does something in an open kitchen and prints what came of it."""


def enter(choices: Choices, act: Act) -> int:
    """Open the kitchen, do one thing and leave."""

    async def work() -> int:
        async with working(choices) as here:
            doing = act(KitchenProject(here.studio))
            if doing is not None:
                await doing
            return exits.OK

    return perform_simply(work())


_COMMANDS: Final = "/mode [NAME], /keep NAME, /drop NAME, /entities, /why, /undo, /end, /quit"
_GREETING: Final = "You talk with Alfred."


@dataclass(frozen=True, slots=True)
class AlfredTalk:
    """Who talks, in which session and mode."""

    session: str | None = None
    mode: str | None = None
    user: str | None = None


def alfred_talk(choices: Choices, wanted: AlfredTalk, message: str | None) -> int:
    """Say one thing to Alfred, or without a message talk until the user leaves."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            talk = await _KitchenTalk.begin(here, wanted, interrupt)
            return await (talk.dialogue.hold(_GREETING) if message is None else talk.say(message))

    return perform(work)


def chat(choices: Choices, wanted: TerminalConversation) -> int:
    """Talk with Alfred, as `callboard chat` does in a project of this pack."""
    talk = AlfredTalk(session=wanted.session, mode=wanted.mode, user=wanted.user)
    return alfred_talk(choices, talk, wanted.message)


class _KitchenTalk:
    """A conversation while it is held."""

    def __init__(
        self, here: OpenWork, wanted: AlfredTalk, session_id: str, interrupt: Interrupt
    ) -> None:
        self.here = here
        self.alfred = KitchenProject(here.studio)
        self.session_id = session_id
        self.mode = wanted.mode
        self.user = wanted.user
        self.interrupt = interrupt
        commands: dict[str, Command] = {
            "/mode": self.change_mode,
            "/keep": lambda name: self.decide(GestureKind.KEEP, name),
            "/drop": lambda name: self.decide(GestureKind.DROP, name),
            "/entities": self.show_entities,
            "/why": self.show_why,
            "/undo": self.undo,
            "/end": self.end,
        }
        self.dialogue = Dialogue(
            lambda: "you> ", self.say, commands, _COMMANDS, interrupt, self.ring
        )

    @classmethod
    async def begin(
        cls, here: OpenWork, wanted: AlfredTalk, interrupt: Interrupt
    ) -> "_KitchenTalk":
        if wanted.session:
            session_id = KitchenProject(here.studio).theirs(wanted.session, wanted.user)
        else:
            session_id = await KitchenProject(here.studio).session_of(wanted.user)
        return cls(here, wanted, session_id, interrupt)

    async def say(self, message: str) -> int:
        outcome = await self.alfred.send(
            message, session_id=self.session_id, user_id=self.user, mode=self.mode
        )
        self.tell(outcome)
        return exits.OK

    async def decide(self, kind: GestureKind, name: str) -> None:
        entities = self.alfred.talk.entities(self.session_id)
        drafts = [each for each in entities if each.state is EntityState.PENDING]
        meant = [each for each in drafts if name in (each.id, each.label)] or (
            drafts if not name and len(drafts) == 1 else list(by_label(drafts, name))
        )
        if len(meant) != 1:
            names = ", ".join(each.label for each in drafts) or "none"
            remark(f"Say which draft. There are: {names}.")
            return
        gesture = Gesture(kind=kind, target=meant[0].id)
        outcome = await self.alfred.send(
            "", session_id=self.session_id, user_id=self.user, mode=self.mode, gesture=gesture
        )
        self.tell(outcome)

    async def ring(self) -> list[str]:
        return await self.alfred.ring(self.session_id)

    async def undo(self, _rest: str) -> None:
        who = self.alfred.who(self.user, self.session_id)
        self.tell(await self.alfred.talk.undo(self.session_id, who))

    async def end(self, _rest: str) -> None:
        who = self.alfred.who(self.user, self.session_id)
        await self.alfred.talk.end(self.session_id, who)
        remark("The conversation is summed up and over; say something to begin another.")

    def tell(self, outcome: TurnOutcome) -> None:
        if self.here.choices.as_json:
            echo_json(outcome.model_dump(mode="json", by_alias=True))
        else:
            turn_report(outcome)

    def change_mode(self, name: str) -> None:
        modes = self.alfred.kitchen.modes()
        if name:
            self.mode = find_mode(modes, name).name
        current = self.mode or self.alfred.talk.mode(self.session_id) or "chosen by Alfred"
        remark(f"Mode: {current}. There are {', '.join(each.name for each in modes)}.")

    def show_entities(self, _rest: str) -> None:
        entities_report(self.alfred.talk.entities(self.session_id), as_json=False)

    def show_why(self, _rest: str) -> None:
        turns = self.alfred.talk.turns(self.session_id)
        if not turns:
            echo("Nothing has been said yet.")
            return
        why_report(self.alfred.talk.trace(self.session_id, turns[-1]["turn"]), as_json=False)
