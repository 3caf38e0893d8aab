"""What a turn begins with and what it comes to: journaled, shown at the doors, put on record."""

from dataclasses import dataclass, field
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.vocabulary import Effect
from callboard.packs.writers_factory.foreman.actions import ActionResult, notice_of
from callboard.packs.writers_factory.foreman.foreman import TURN, Foreman
from callboard.packs.writers_factory.foreman.history import Round
from callboard.packs.writers_factory.foreman.talk.routing import Route

MESSAGE_EVENT: Final = "foreman.message"


@dataclass(frozen=True, slots=True)
class Opening:
    """What a turn begins with, journaled before anything is asked."""

    mode: str
    route: Route
    before: tuple[str, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the journaled shape."""
        return {"mode": self.mode, "route": self.route.to_json(), "before": list(self.before)}

    @classmethod
    def from_json(cls, stored: Json) -> "Opening":
        """Read the journaled shape."""
        data = cast("dict[str, Any]", stored)
        return cls(str(data["mode"]), Route.from_json(data["route"]), tuple(data["before"]))


@dataclass(slots=True)
class Account:
    """What a turn has come to so far."""

    rounds: list[Round] = field(default_factory=list[Round])
    thinking: list[str] = field(default_factory=list[str])
    results: list[ActionResult] = field(default_factory=list[ActionResult])
    updates: list[Json] = field(default_factory=list[Json])
    notices: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    style: list[str] = field(default_factory=list[str])
    prompt_ids: list[str] = field(default_factory=list[str])
    model: str = ""
    reason: str = ""

    @property
    def message(self) -> str:
        """Everything the writer is shown."""
        return "\n\n".join(each.message for each in self.rounds if each.message)

    def result(self, opening: Opening, tier: str) -> dict[str, Json]:
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
        }

    def take_results(self, results: tuple[ActionResult, ...]) -> None:
        """Add what became of actions, and what the writer is told of it."""
        self.results += results
        self.notices += [told for each in results if (told := notice_of(each))]
        self.notices += [told for each in results for told in each.notices]


async def keep_turn(foreman: Foreman, stage: Stage, result: dict[str, Json]) -> None:
    """Put a turn on record: what was asked of whom, and how it came out."""
    record = {key: value for key, value in result.items() if key not in ("rounds", "thinking")}
    message = str(stage.run.args["message"])

    async def keep() -> Json:
        run = stage.run
        await foreman.ground.records.put(
            TURN, run.id, {**record, "said": message, "session_id": run.session_id}
        )
        return None

    await stage.step("record", keep, effect=Effect.IDEMPOTENT)
