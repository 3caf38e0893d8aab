"""The account of a turn: what it begins with, what it comes to, and how both are kept."""

from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.core.errors import Conflict
from callboard.core.vocabulary import Effect
from callboard.engine.errors import StepFailed
from callboard.packs.writers_factory.bible.filings import Filings
from callboard.packs.writers_factory.foreman.actions import ActionResult, notice_of
from callboard.packs.writers_factory.foreman.foreman import TURN, Foreman, TurnRound
from callboard.packs.writers_factory.foreman.talk.asking import ModelRoute
from callboard.packs.writers_factory.memory.operations import take_back
from callboard.packs.writers_factory.operations import in_run

MESSAGE_EVENT: Final = "foreman.message"


@dataclass(frozen=True, slots=True)
class TurnOpening(Coded):
    """What a turn begins with, journaled before anything is asked."""

    mode: str
    route: ModelRoute
    before: tuple[str, ...]
    # What the writer said since the last answer and nobody answered: its process died.
    interrupted: tuple[str, ...] = ()


@dataclass(slots=True)
class TurnAccount:
    """What a turn has come to so far."""

    rounds: list[TurnRound] = field(default_factory=list[TurnRound])
    thinking: list[str] = field(default_factory=list[str])
    results: list[ActionResult] = field(default_factory=list[ActionResult])
    updates: list[Json] = field(default_factory=list[Json])
    notices: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    style: list[str] = field(default_factory=list[str])
    prompt_ids: list[str] = field(default_factory=list[str])
    # Actions that would file what the writer has not said; a yes has them done.
    waiting: list[Json] = field(default_factory=list[Json])
    model: str = ""
    reason: str = ""

    @property
    def message(self) -> str:
        """Everything the writer is shown."""
        return "\n\n".join(each.message for each in self.rounds if each.message)

    def result(self, opening: TurnOpening, tier: str) -> dict[str, Json]:
        """Return the turn as the doors show it and the journal keeps it."""
        return {
            "message": self.message,
            "thinking": "\n\n".join(self.thinking) or None,
            "actions": [each.to_json() for each in self.results],
            "content_updates": self.updates,
            "notices": list(dict.fromkeys(self.notices)),
            "rounds": [
                {"message": each.message, "results": list(each.results)} for each in self.rounds
            ],
            "mode": opening.mode,
            "intent": opening.route.intent,
            "model": self.model,
            "tier": tier,
            "routing": self.reason,
            "style": list(dict.fromkeys(self.style)),
            "warnings": self.warnings,
            "prompt_ids": self.prompt_ids,
            "waiting": self.waiting,
        }

    def take_results(self, results: tuple[ActionResult, ...]) -> None:
        """Add what became of actions, and what the writer is told of it."""
        self.results += results
        self.notices += [told for each in results if (told := notice_of(each))]
        self.notices += [told for each in results for told in each.notices]
        for each in results:
            data: Any = each.data
            if isinstance(data, dict) and "waiting" in data:
                self.waiting.append(cast("dict[str, Json]", data)["waiting"])


async def take_back_last(foreman: Foreman, stage: Stage) -> str | None:
    """Take back, in the writer's name, what a session filed last; None if nothing is left of it."""
    filings, session = Filings(foreman.workspace), stage.run.session_id
    last = await stage.step(
        "filed", lambda: found.id if (found := filings.last(session)) is not None else None
    )
    if last is None:
        return None
    try:
        done = await in_run(stage, "take_back", take_back, str(last))
    except StepFailed as failed:
        if failed.error.code != Conflict.code:
            raise
        return f"{failed.error.message}. {failed.error.fix or ''}".strip()
    return done.detail


async def keep_turn(foreman: Foreman, stage: Stage, result: dict[str, Json]) -> None:
    """Put a turn on record: what was asked of whom, and how it came out."""
    record = {key: value for key, value in result.items() if key not in ("rounds", "thinking")}
    message = str(stage.run.args["message"])

    async def keep() -> Json:
        run = stage.run
        await foreman.workspace.records.put(
            TURN, run.id, {**record, "said": message, "session_id": run.session_id}
        )
        return None

    await stage.step("record", keep, effect=Effect.IDEMPOTENT)
