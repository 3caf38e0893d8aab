"""Talking with the Foreman: one message, or a conversation with a few commands.

A move to another mode that is refused names the command that insists.
"""

from typing import Any, Final, cast

from callboard.cli import exits
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.handlers.dialogue import Command, Dialogue, Hush, TerminalConversation
from callboard.cli.handlers.ending import conclude, tell_question
from callboard.cli.handlers.following import Followed, follow
from callboard.cli.handlers.opening import Choices, OpenWork, working
from callboard.cli.output import clean, echo, moment, remark
from callboard.core.canonical import Json
from callboard.core.vocabulary.run import RunState, SessionState
from callboard.packs.writers_factory.doors.tell.modes import mode_report, moved_report
from callboard.packs.writers_factory.factory import Factory, factory_of
from callboard.packs.writers_factory.modes import ModeGated, operations
from callboard.packs.writers_factory.modes.gates import Transition
from callboard.prompts import load_prompt
from callboard.studio.studio import Studio

_COMMANDS: Final = "/state, /mode [TO], /why, /thinking, /history, /quit"
_GREETING: Final = "You talk with the Foreman."


def foreman_talk(choices: Choices, message: str | None, session: str | None = None) -> int:
    """Say one thing to the Foreman, or without a message talk until the user leaves."""

    async def work(interrupt: Interrupt) -> int:
        async with working(choices) as here:
            talk = _Talk(here, session, interrupt)
            held = talk.dialogue.hold(_GREETING) if message is None else talk.say(message)
            code = await held
            return await talk.see_out() or code

    return perform(work)


def chat(choices: Choices, wanted: TerminalConversation) -> int:
    """Talk with the Foreman, as `callboard chat` does in a project of this pack."""
    return foreman_talk(choices, wanted.message, wanted.session)


class _Talk:
    """A conversation while it is held."""

    def __init__(self, here: OpenWork, session: str | None, interrupt: Interrupt) -> None:
        self.here = here
        self.factory = factory_of(here.studio)
        self.session = session
        self.interrupt = interrupt
        # The runs that turns have started and that go on after them.
        self.jobs: list[str] = []
        commands: dict[str, Command] = {
            "/state": lambda _rest: echo(clean(self.factory.foreman.state_text())),
            "/mode": self.mode,
            "/why": self.show_why,
            "/thinking": self.show_thinking,
            "/history": self.show_history,
        }
        self.dialogue = Dialogue(lambda: "you> ", self.say, commands, _COMMANDS, interrupt)

    async def say(self, message: str) -> int:
        as_json = self.here.choices.as_json
        run = await self.factory.start("chat", {"message": message}, session_id=self.session)
        view = self.here.view() if as_json else Hush()
        followed = await follow(self.here.studio, run.id, view, self.interrupt)
        self.jobs += _jobs_of(followed.run.result)
        if as_json or followed.run.state is not RunState.DONE:
            return conclude(self.here.studio, followed, as_json=as_json)
        echo_turn(cast("dict[str, Any]", followed.run.result))
        return followed.exit_code

    async def see_out(self) -> int:
        """Stay until the work that was started here is over: it would end with the process.

        A Ctrl-C leaves it, and says how it goes on.
        """
        studio, as_json = self.here.studio, self.here.choices.as_json
        going = [each for each in self.jobs if not studio.engine.load(each).is_terminal]
        code = exits.OK
        for run_id in going:
            if not self.interrupt.asked.is_set():
                told = f"{studio.engine.load(run_id).choreography} goes on as run {run_id}"
                remark(f"{told}; Ctrl-C leaves it to `callboard runs resume {run_id}`.")
            view = Hush() if as_json else self.here.view()
            followed = await follow(studio, run_id, view, self.interrupt)
            if not as_json or not followed.run.is_terminal:
                tell_end(studio, followed)
            code = code or followed.exit_code
        return code

    async def mode(self, rest: str) -> None:
        modes = self.factory.rooms.modes
        if rest:
            moved_report(await move_book(self.factory, rest), as_json=False)
        else:
            mode_report(modes, as_json=False)

    def show_history(self, _rest: str) -> None:
        said = self.said()
        if not said:
            remark("Nothing has been said yet.")
        for each in said:
            echo(f"{moment(each.created_at)}  you: {clean(each.message)}")
            echo(f"foreman: {clean(str(each.result['message']))}\n")

    def show_why(self, _rest: str) -> None:
        said = self.said()
        prompt_ids = said[-1].result["prompt_ids"] if said else ()
        if not prompt_ids:
            remark("No model has been asked yet.")
            return
        prompt_id = str(prompt_ids[-1])
        record = self.here.studio.database.read(
            lambda connection: load_prompt(connection, prompt_id)
        )
        echo(clean(record.text))
        tier = record.tier.value if record.tier is not None else "no tier"
        remark(f"\n{record.total_tokens} tokens for {record.model_id} ({tier})")
        remark(f"Its layers: callboard factory prompts {said[-1].run_id}")

    def show_thinking(self, _rest: str) -> None:
        said = self.said()
        thinking = said[-1].result["thinking"] if said else None
        if thinking:
            echo(clean(str(thinking)))
        else:
            remark("Nothing was thought aloud.")

    def said(self) -> list[Any]:
        sessions = self.here.studio.sessions
        named = self.session
        active = [sessions.get(named)] if named else sessions.list(SessionState.ACTIVE)
        return self.factory.foreman.conversation(active[0].id) if active else []


def _jobs_of(result: Json) -> list[str]:
    """Return the runs that a turn has started."""
    told = cast("dict[str, Any]", result) if isinstance(result, dict) else {}
    return [str(each["job"]) for each in told.get("actions", ()) if each.get("job")]


def tell_end(studio: Studio, followed: Followed) -> None:
    """Say how far a run has come, and how to go on with it."""
    run = followed.run
    if followed.was_interrupted and not run.is_terminal:
        remark(f"Run {run.id} was let go: callboard runs resume {run.id}")
        return
    for question in followed.questions:
        tell_question(question, studio)
    told = f": {run.error.message}" if run.error is not None else ""
    remark(clean(f"Run {run.id} is {run.state.value}{told}. See: callboard runs show {run.id}"))


def echo_turn(turn: dict[str, Any]) -> None:
    """Print what the Foreman said; beside it what it did and what there is to know."""
    echo(clean(str(turn["message"])))
    done = [each for each in turn["actions"] if each["status"] == "executed"]
    for each in done:
        remark(clean(f"  done: {each['type']}: {' '.join(str(each['detail']).split())[:200]}"))
    for notice in turn["notices"]:
        remark(clean(f"  note: {notice}"))
    for update in turn["content_updates"]:
        told = cast("dict[str, Any]", update) if isinstance(update, dict) else {}
        if told.get("proposal"):
            remark(clean(f"  proposed: callboard factory proposals {told['proposal']}"))


async def move_book(
    factory: Factory, to: str, *, override: bool = False, risk: str = ""
) -> Transition:
    """Move the book by the writer's word."""
    move = operations.override_gate if override else operations.move_book
    try:
        return await factory.perform(move, to, risk)
    except ModeGated as gated:
        mode = str(gated.context["to"])
        insist = f"callboard factory mode {mode} --override --risk NOTE"
        way_out = f"Complete what is named, or insist: {insist}"
        raise ModeGated(mode, gated.unmet, fix=way_out) from gated
