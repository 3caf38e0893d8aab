"""Talking with an agent at the terminal: one message, or a conversation with a few commands."""

from dataclasses import dataclass, replace

from callboard.choreography.chat_exchanges import CHAT, ChatExchange, exchanges
from callboard.choreography.staffing import find_agent
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.handlers.dialogue import Command, Dialogue, Hush, TerminalConversation
from callboard.cli.handlers.ending import conclude
from callboard.cli.handlers.following import follow
from callboard.cli.handlers.opening import Choices, OpenWork, working
from callboard.cli.output import clean, echo, moment, remark
from callboard.core.canonical import Json
from callboard.core.vocabulary.run import RunState, SessionState
from callboard.packs.control_room.evidence import PACK
from callboard.packs.control_room.plans.tell import plan_report
from callboard.packs.control_room.room import ControlRoom
from callboard.prompts import load_prompt

_COMMANDS = "/agent NAME, /plan WISH, /history, /why, /quit"


@dataclass(frozen=True, slots=True)
class ChatChoice:
    """With whom, with which tools, in which session."""

    agent: str
    tools: str | None = None
    skip_tools: bool = False
    session: str | None = None

    def args(self, message: str) -> dict[str, Json]:
        """Return what the run of one message is started with."""
        said: dict[str, Json] = {"agent": self.agent, "message": message}
        if self.skip_tools:
            said["skip_tools"] = True
        if self.tools is not None:
            said["allowed_tools"] = self.tools
        return said


def chat_with(choices: Choices, wanted: TerminalConversation) -> int:
    """Talk with an agent of the staff; without a name, with the Chief."""
    chosen = ChatChoice(wanted.agent or "chief", wanted.tools, wanted.skip_tools, wanted.session)
    if wanted.message is not None:
        return say_once(choices, chosen, wanted.message)
    return talk(choices, chosen)


def say_once(choices: Choices, talk: ChatChoice, message: str) -> int:
    """Say one thing and print the answer."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            return await _say(here, talk, message, interrupt)

    return perform(work)


def talk(choices: Choices, wanted: ChatChoice) -> int:
    """Talk until the user leaves."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            return await _Chat(here, wanted, interrupt).hold()

    return perform(work)


class _Chat:
    def __init__(self, here: OpenWork, wanted: ChatChoice, interrupt: Interrupt) -> None:
        self.here = here
        self.interrupt = interrupt
        self.talk = self.turned_to(wanted, wanted.agent)
        commands: dict[str, Command] = {
            "/agent": self.turn,
            "/plan": self.plan,
            "/history": self.show_history,
            "/why": self.show_why,
        }
        self.dialogue = Dialogue(
            lambda: f"{self.talk.agent}> ", self.say, commands, _COMMANDS, interrupt
        )

    async def hold(self) -> int:
        return await self.dialogue.hold(f"You talk with {self.talk.agent}.")

    async def say(self, text: str) -> None:
        await _say(self.here, self.talk, text, self.interrupt)

    def turn(self, name: str) -> None:
        self.talk = self.turned_to(self.talk, name)
        remark(f"You talk with {self.talk.agent}.")

    async def plan(self, wish: str) -> None:
        """Have the Chief make a plan of a wish; it is approved like any other."""
        room = ControlRoom(self.here.studio)
        plan_report(await room.make_plan(wish, session_id=self.talk.session), as_json=False)

    def turned_to(self, talk: ChatChoice, name: str) -> ChatChoice:
        return replace(talk, agent=find_agent(self.here.studio, name, PACK).id)

    def show_history(self, _rest: str) -> None:
        said = self.said()
        if not said:
            remark(f"Nothing has been said with {self.talk.agent} yet.")
        for each in said:
            echo(f"{moment(each.created_at)}  you: {clean(each.message)}")
            echo(f"{each.agent_id}: {clean(each.answer)}\n")

    def show_why(self, _rest: str) -> None:
        said = self.said()
        if not said or not said[-1].prompt_id:
            remark(f"{self.talk.agent} has not answered anything yet.")
            return
        prompt_id = said[-1].prompt_id
        record = self.here.studio.database.read(
            lambda connection: load_prompt(connection, prompt_id)
        )
        echo(clean(record.text))
        remark(f"\n{record.total_tokens} tokens; more: callboard prompts show {prompt_id}")

    def said(self) -> list[ChatExchange]:
        studio = self.here.studio
        sessions = studio.sessions
        named = self.talk.session
        active = [sessions.get(named)] if named else sessions.list(SessionState.ACTIVE)
        if not active:
            return []
        return studio.database.read(
            lambda connection: exchanges(connection, PACK, active[0].id, self.talk.agent)
        )


async def _say(here: OpenWork, talk: ChatChoice, message: str, interrupt: Interrupt) -> int:
    run = await here.studio.start(f"{PACK}/{CHAT}", talk.args(message), session_id=talk.session)
    view = here.view() if here.choices.as_json else Hush()
    followed = await follow(here.studio, run.id, view, interrupt)
    if here.choices.as_json or followed.run.state is not RunState.DONE:
        return conclude(here.studio, followed, as_json=here.choices.as_json)
    echo(clean(str(followed.run.result["text"])))
    return followed.exit_code
