"""Foreman: everything one needs to talk with the Foreman about an open project.

It owns no fact of the book: the state is gathered anew for each turn by the function it is given,
and what is done is done by operations of the pack.

The conversation is the finished turns of a session, read from the journal: so it survives restarts
and other models. Past replies are shown as messages in their element, without their thinking; what
actions led to follows as a system turn.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

from callboard.choreography.conversation import Listener, user_turn
from callboard.core.canonical import Json, plain
from callboard.core.vocabulary import Content, ModelTier, RunRecord, RunState, Trust
from callboard.engine.errors import RunInterrupted
from callboard.engine.run import Run
from callboard.operations import Operations
from callboard.packs.writers_factory.foreman.actions import (
    ActionExecutor,
    ActionsInvalid,
    Catalogue,
    load_catalogue,
    results_markup,
)
from callboard.packs.writers_factory.foreman.sandwich import Sandwich, TurnText, layer_budgets
from callboard.packs.writers_factory.foreman.state import ForemanState, StateMarkup, describe
from callboard.packs.writers_factory.foreman.texts import PromptTexts
from callboard.packs.writers_factory.model import FOREMAN, PACK
from callboard.packs.writers_factory.operations import declared, operations_in
from callboard.packs.writers_factory.rooms import Rooms
from callboard.packs.writers_factory.workspace import Workspace
from callboard.prompts import AssembledPrompt, PromptRequest, Turn
from callboard.replies import Action
from callboard.store.connection import Connection
from callboard.store.journal.runs import list_runs

CHAT: Final = f"{PACK}/chat"
_MOST_UNANSWERED: Final = 10


@dataclass(frozen=True, slots=True)
class TurnRound:
    """One reply within a turn, and what its actions led to."""

    message: str
    results: tuple[dict[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class PastTurn:
    """What the writer said, and everything that followed."""

    run_id: str
    message: str
    rounds: tuple[TurnRound, ...]
    created_at: int
    result: dict[str, Any]


def exchanges(connection: Connection, session_id: str, limit: int | None = None) -> list[PastTurn]:
    """Return the finished turns of a session, or the newest of them, oldest first."""
    done = list_runs(
        connection,
        states=(RunState.DONE,),
        choreography=CHAT,
        session_id=session_id,
        limit=limit,
    )
    return [_exchange(run) for run in reversed(done) if isinstance(run.result, dict)]


def interrupted(connection: Connection, run: Run) -> tuple[str, ...]:
    """Return what was said since the last answer before a turn and was cut off, oldest first."""
    lost: list[str] = []
    recent = list_runs(
        connection, choreography=CHAT, session_id=run.session_id, limit=_MOST_UNANSWERED
    )
    for each in recent:
        if each.id == run.id:
            continue
        if each.state is RunState.DONE:
            break
        if each.error is not None and each.error.code == RunInterrupted.code:
            lost.append(str(each.args["message"]))
    return tuple(reversed(lost))


def turns_of(said: list[PastTurn]) -> tuple[Turn, ...]:
    """Return exchanges as a prompt shows them."""
    turns: list[Turn] = []
    for each in said:
        turns.append(user_turn(each.message))
        for one in each.rounds:
            turns += round_turns(one)
    return tuple(turns)


def round_turns(one: TurnRound) -> list[Turn]:
    """Return one reply and its results as a prompt shows them."""
    text = f"<message>\n{one.message}\n</message>"
    turns = [Turn(Content(text, f"agent:{FOREMAN}", Trust.UNTRUSTED), "assistant")]
    if one.results:
        # Every value in it is escaped and the elements are ours, like those of the state.
        shown = Content(results_markup(one.results), "action_results", Trust.TRUSTED)
        turns.append(Turn(shown, "system"))
    return turns


def waiting_from_json(result: Mapping[str, Any]) -> tuple[Action, ...]:
    """Return the actions a turn left waiting for the writer's yes."""
    return tuple(Action(each["type"], each["content"]) for each in result.get("waiting") or ())


def _exchange(run: RunRecord) -> PastTurn:
    result = cast("dict[str, Any]", run.result)
    rounds = tuple(
        TurnRound(str(each["message"]), tuple(each["results"])) for each in result.get("rounds", ())
    )
    return PastTurn(run.id, str(run.args["message"]), rounds, run.created_at, result)


TURN: Final = "turn"
BUNDLED: Final = Path(__file__).parent.parent / "prompts"
_REPLY_TOKENS: Final = 1000
Survey = Callable[[Mapping[str, str]], ForemanState]
"""Gathers the state of a project; takes what the writer has open."""


@dataclass(frozen=True)
class Foreman:
    """The Foreman of one open project."""

    workspace: Workspace
    survey: Survey
    rooms: Rooms
    # The modes there are, each with the template of its rules.
    modes: Mapping[str, str] = field(default_factory=dict[str, str])

    @cached_property
    def catalogue(self) -> Catalogue:
        """What may be asked for; a file that is wrong is an error here."""
        loaded = load_catalogue(declared().values(), self.workspace.studio.project.prompts)
        if self.modes:
            loaded.check_modes(self.modes)
        return loaded

    @cached_property
    def executor(self) -> ActionExecutor:
        """Who has actions done."""
        return ActionExecutor(self.catalogue, self.operations, self.rooms.notebooks)

    @cached_property
    def operations(self) -> Operations:
        """What has operations done in this project."""
        return operations_in(self.workspace.studio)

    @cached_property
    def texts(self) -> PromptTexts:
        """The authored texts of the prompt."""
        return PromptTexts.open(self.workspace.studio.prompts(PACK), BUNDLED, self.catalogue)

    @cached_property
    def sandwich(self) -> Sandwich:
        """Who lays prompts out."""
        studio = self.workspace.studio
        return Sandwich(self.texts, studio.catalog, layer_budgets(), studio.counter)

    def problems(self) -> tuple[str, ...]:
        """Return what is wrong with the files the Foreman is made of."""
        try:
            _ = self.executor
        except ActionsInvalid as error:
            # Without a list of actions there is no text to look at.
            return (error.message,)
        return self.texts.problems(tuple(self.modes.values()))

    def state(self, active: Mapping[str, str] | None = None) -> ForemanState:
        """Return the state of the project now, all of it from one moment."""
        return self.workspace.studio.database.read(lambda _: self.survey(active or {}))

    def state_xml(
        self, active: Mapping[str, str] | None = None, tier: ModelTier = ModelTier.FULL
    ) -> str:
        """Return the state as a model of a tier is shown it."""
        markup = StateMarkup(self.workspace.studio.counter)
        return markup.content(self.state(active), tier).text

    def state_json(self, active: Mapping[str, str] | None = None) -> Json:
        """Return the state as plain data, whole and uncut."""
        return plain(asdict(self.state(active)))

    def state_text(self, active: Mapping[str, str] | None = None) -> str:
        """Return the state in sentences."""
        return describe(self.state(active))

    def compose(self, state: ForemanState, text: TurnText, listener: Listener) -> PromptRequest:
        """Return the prompt of a turn for the model that will read it."""
        return self.sandwich.compose(state, text, listener)

    def preview(
        self, message: str, *, model: str | None = None, session_id: str | None = None
    ) -> AssembledPrompt:
        """Return the prompt a message would lead to now, without asking anybody."""
        studio = self.workspace.studio
        chosen = model or self.own_model
        facts = studio.catalog.facts(chosen)
        listener = Listener(chosen, facts.tier, facts.window_tokens, _REPLY_TOKENS)
        said = self.conversation(session_id, 12) if session_id else []
        text = TurnText(
            Content(message, "user", Trust.TRUSTED),
            turns_of(said),
            self.workspace.settings.foreman.include_thinking_reminder,
        )
        return studio.assembler.assemble(self.compose(self.state(), text, listener))

    @property
    def own_model(self) -> str:
        """The model the Foreman answers with unless a route says otherwise."""
        studio = self.workspace.studio
        return studio.repertoire.agent(FOREMAN, PACK).model or studio.settings.models.default

    def conversation(self, session_id: str, limit: int | None = None) -> list[PastTurn]:
        """Return what was said in a session, oldest first."""
        return self.workspace.studio.database.read(
            lambda connection: exchanges(connection, session_id, limit)
        )

    def turn(self, run_id: str) -> dict[str, Any] | None:
        """Return what is on record about a turn: mode, models, prompts, warnings, manner."""
        return self.workspace.records.get(TURN, run_id)

    def turns(self) -> dict[str, dict[str, Any]]:
        """Return the records of all turns by the id of their run, oldest first."""
        return self.workspace.records.all(TURN)
