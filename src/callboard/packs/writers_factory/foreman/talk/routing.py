"""Which model answers a turn, and why: intent by rules, then routes, then what is left.

It makes a list and asks nobody. A model that cannot be used is passed over by whoever asks.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.core.codec import Coded
from callboard.packs.writers_factory.model import DIRECTOR

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
    for rule in _rules():
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
def _rules() -> tuple[_Rule, ...]:
    loaded: list[dict[str, Any]] = bundled_yaml(_PACKAGE, "prompts/intents.yaml")
    return tuple(
        _Rule(
            each["intent"],
            frozenset(each["modes"]) if "modes" in each else None,
            tuple(re.compile(p, re.IGNORECASE | re.DOTALL) for p in each["any"]),
        )
        for each in loaded
    )
