"""Asks the models of a route one after the other until one answers, and tells who it was.

The route says which models answer a turn, and why: intent by rules, then routes, then what is left.
It is a list; a model that cannot be used is passed over by whoever asks.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, cast

from callboard.choreography.agent_call import AgentCall
from callboard.choreography.conversation import Listener
from callboard.choreography.stage import Stage
from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import Json
from callboard.core.codec import Coded
from callboard.core.errors import CallboardError, ProviderError
from callboard.engine.errors import StepFailed
from callboard.engine.scope import StepScope
from callboard.models.errors import MissingKey, UnknownModel
from callboard.packs.writers_factory.foreman.foreman import Foreman
from callboard.packs.writers_factory.foreman.sandwich import TurnText
from callboard.packs.writers_factory.foreman.state import ForemanState
from callboard.packs.writers_factory.foreman.texts import mode_file
from callboard.packs.writers_factory.model import DIRECTOR, FOREMAN
from callboard.prompts import PromptRequest, load_prompt
from callboard.replies import ParsedReply, parse_reply

CHAT: Final = "chat"
PROSE: Final = "prose"
DEFAULT: Final = "default"
_PACKAGE: Final = "callboard.packs.writers_factory"


@dataclass(frozen=True, slots=True)
class ModelCandidate:
    """A model that may answer; None is the Foreman's own."""

    model: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class ModelRoute(Coded):
    """The models to ask, first to last, for what a turn is about."""

    intent: str
    candidates: tuple[ModelCandidate, ...]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a route is made of."""

    mode: str
    message: str
    # The model the writer asked for this turn.
    chosen: str | None
    # The model that won the voice tournament.
    voice_model: str | None
    routes: Mapping[str, str]
    fallback: Sequence[str]


def classify(mode: str, message: str) -> str:
    """Return what a turn is about."""
    for rule in _intents():
        if (rule.modes is None or mode in rule.modes) and any(
            pattern.search(message) for pattern in rule.patterns
        ):
            return rule.intent
    return CHAT


def route(wishes: Wishes) -> ModelRoute:
    """Return which models to ask for a turn, the best first."""
    intent = classify(wishes.mode, wishes.message)
    found: list[ModelCandidate] = []
    if wishes.chosen:
        found.append(ModelCandidate(wishes.chosen, "the writer asked for it"))
    if intent == PROSE and wishes.mode == DIRECTOR and wishes.voice_model:
        found.append(ModelCandidate(wishes.voice_model, "it won the voice tournament"))
    if intent in wishes.routes:
        found.append(ModelCandidate(wishes.routes[intent], f"it is routed for {intent}"))
    if DEFAULT in wishes.routes:
        found.append(ModelCandidate(wishes.routes[DEFAULT], "it is the default route"))
    if not found:
        found.append(ModelCandidate(None, "it is the Foreman's own"))
    found += [ModelCandidate(model, "it stands in") for model in wishes.fallback]
    unique = {candidate.model: candidate for candidate in reversed(found)}
    return ModelRoute(intent, tuple(unique[c.model] for c in found if unique[c.model] is c))


@dataclass(frozen=True, slots=True)
class _Rule:
    intent: str
    modes: frozenset[str] | None
    patterns: tuple[re.Pattern[str], ...]


@cache
def _intents() -> tuple[_Rule, ...]:
    loaded: list[dict[str, Any]] = bundled_yaml(_PACKAGE, "prompts/intents.yaml")
    return tuple(
        _Rule(
            each["intent"],
            frozenset(each["modes"]) if "modes" in each else None,
            tuple(re.compile(p, re.IGNORECASE | re.DOTALL) for p in each["any"]),
        )
        for each in loaded
    )


MISSING_NEXT_STEP: Final = "missing_next_step"
_LEADING: Final = re.compile(r"^[\s*_#>\"“'(]+")
_QUOTED: Final = re.compile(r"^[ \t]*>.*$|\"[^\"\n]*+\"|“[^“”\n]*+”", re.MULTILINE)
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n")


@dataclass(frozen=True, slots=True)
class _StyleRules:
    openers: tuple[tuple[str, re.Pattern[str]], ...]
    anywhere: tuple[tuple[str, re.Pattern[str]], ...]
    next_step: tuple[re.Pattern[str], ...]


def style_lint(message: str) -> tuple[str, ...]:
    """Return the ids of the rules a message breaks, each once; the same text, the same ids."""
    rules = _rules()
    # What is quoted is somebody else's manner.
    own = _QUOTED.sub(" ", message)
    opening = _LEADING.sub("", own)
    found = [name for name, pattern in rules.openers if pattern.match(opening)]
    found += [name for name, pattern in rules.anywhere if pattern.search(own)]
    if not has_next_step(message):
        found.append(MISSING_NEXT_STEP)
    return tuple(dict.fromkeys(found))


def has_next_step(message: str) -> bool:
    """Say whether the last paragraph asks, proposes, or says what happens now."""
    paragraphs = [part for part in _PARAGRAPH.split(message.strip()) if part.strip()]
    if not paragraphs:
        return False
    return any(pattern.search(paragraphs[-1]) for pattern in _rules().next_step)


@cache
def _rules() -> _StyleRules:
    loaded: dict[str, Any] = bundled_yaml(_PACKAGE, "prompts/style.yaml")
    return _StyleRules(
        _compiled(loaded["openers"]),
        _compiled(loaded["anywhere"]),
        tuple(re.compile(each, re.IGNORECASE | re.MULTILINE) for each in loaded["next_step"]),
    )


def _compiled(rules: dict[str, list[str]]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (name, re.compile(each, re.IGNORECASE)) for name, listed in rules.items() for each in listed
    )


@dataclass(frozen=True, slots=True)
class ForemanReply:
    """A reply in its parts, who gave it, and why they were asked."""

    reply: ParsedReply
    prompt_id: str
    model: str
    reason: str
    # Models that were to answer and did not, in words.
    switches: tuple[str, ...] = ()


@dataclass(frozen=True)
class TurnAsker:
    """Asks on behalf of one turn."""

    foreman: Foreman
    stage: Stage
    route: ModelRoute

    async def ask(self, key: str, state: ForemanState, text: TurnText) -> ForemanReply:
        """Return the first reply that comes; the last failure is the caller's."""
        switches: list[str] = []
        last = len(self.route.candidates) - 1
        for number, candidate in enumerate(self.route.candidates):
            try:
                said = await self._one(f"{key}/{number + 1}", candidate, state, text)
                return replace(said, switches=(*switches, *said.switches))
            except (ProviderError, UnknownModel, StepFailed) as error:
                if number == last:
                    raise
                switches.append(self._told(candidate, error))
        raise AssertionError("a route names at least one model")

    async def _one(
        self, key: str, candidate: ModelCandidate, state: ForemanState, text: TurnText
    ) -> ForemanReply:
        def compose(listener: Listener) -> PromptRequest:
            return self.foreman.compose(state, text, listener)

        async def around(scope: StepScope, ask: Any) -> Json:
            said = cast("dict[str, Json]", await ask())
            return {
                **said,
                "model": scope.detail.get("model"),
                "switched_from": scope.detail.get("switched_from"),
            }

        stored = await self.stage.ask_call(
            AgentCall(
                key=key,
                agent_id=FOREMAN,
                prompt=state.rules or mode_file(state.mode),
                inputs={"message": text.message},
                schema=None,
                slot=self.stage.run.key(key),
                max_tokens=None,
                priority=self.stage.priority,
                around=around,
                model=candidate.model,
                compose=compose,
            )
        )
        return self._said(stored, candidate)

    def _said(self, stored: Json, candidate: ModelCandidate) -> ForemanReply:
        own = candidate.model or self.foreman.own_model
        if not isinstance(stored, dict):
            # A fork put the human's own words in the reply's place.
            return ForemanReply(self._parse(str(stored)), "", own, candidate.reason)
        spoken = cast("dict[str, Any]", stored)
        prompt_id = str(spoken["prompt_id"])
        record = self.stage.studio.database.read(
            lambda connection: load_prompt(connection, prompt_id)
        )
        raw = record.reply.text if record.reply is not None else str(spoken["text"])
        came_from = spoken.get("switched_from")
        switches = (f"{came_from} did not answer; {spoken['model']} did",) if came_from else ()
        model = str(spoken.get("model") or own)
        return ForemanReply(self._parse(raw), prompt_id, model, candidate.reason, switches)

    def _parse(self, text: str) -> ParsedReply:
        return parse_reply(text, self.foreman.catalogue.schemas)

    def _told(self, candidate: ModelCandidate, error: CallboardError) -> str:
        model = candidate.model or self.foreman.own_model
        told = error.record()
        if told.code == MissingKey.code:
            return f"{model} was passed over: it has no key"
        return f"{model} did not answer ({told.code}): {told.message}"
