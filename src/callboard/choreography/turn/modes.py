"""Modes: which one a message is handled in. The user chooses; a model may only suggest."""

import re
from collections.abc import Sequence
from typing import Final

from callboard.choreography.turn.domain import Domain
from callboard.choreography.turn.domain_parts import TurnMode
from callboard.choreography.turn.memory import (
    SUGGESTION_REST_TURNS,
    Suggestion,
    TalkState,
)
from callboard.core.errors import InvalidInput

_SIMPLE: Final = re.compile(
    r"\s*(?:please )?(?:add|put|buy|remove|delete|show|list|check|mark|set|update|what'?s in)\b"
)
_COOKING: Final = re.compile(r"\bi(?:'m| am) (?:making|cooking)\b")
_EXPLORING: Final = re.compile(r"\b(?:suggest|ideas?|what can i|what could i)\b")
_SWITCH: Final = re.compile(r"\s*(?:yes,? )?(?:please )?switch(?: to (?P<mode>\w+))?(?: mode)?\W*")
_BY_INTENT: Final = {
    "crud": "quick", "chat": "quick", "cook": "cook", "plan": "plan", "explore": "explore",
    "create": "create",
}  # fmt: skip


class UnknownTurnMode(InvalidInput):
    """There is no such mode in this domain."""

    code = "unknown_mode"


def find_mode(modes: Sequence[TurnMode], name: str) -> TurnMode:
    """Return a mode by its name; an unknown one is an error that names the others."""
    for mode in modes:
        if mode.name == name.casefold().strip():
            return mode
    names = ", ".join(each.name for each in modes)
    raise UnknownTurnMode(f"There is no mode {name!r}", fix=f"Modes: {names}.", mode=name)


def chosen_mode(
    domain: Domain, explicit: str | None, state: TalkState, profile_default: str | None
) -> TurnMode | None:
    """Return the mode somebody chose: for this message, for the session, in the profile."""
    modes = domain.modes()
    if explicit is not None and explicit != "auto":
        return find_mode(modes, explicit)
    for name in (None if explicit == "auto" else state.mode, profile_default):
        if name is not None and any(mode.name == name for mode in modes):
            return find_mode(modes, name)
    return None


def mode_by_form(domain: Domain, message: str) -> TurnMode:
    """Return the mode a message looks like, for when nobody chose and no model is asked."""
    modes = domain.modes()
    told = domain.mode_of(message)
    name = told if told is not None else _by_form(message.casefold())
    return next((mode for mode in modes if mode.name == name), modes[0])


def mode_by_intent(domain: Domain, kind: str) -> TurnMode:
    """Return the mode of an intent a model has named."""
    modes = domain.modes()
    name = _BY_INTENT.get(kind, "quick")
    return next((mode for mode in modes if mode.name == name), modes[0])


def accepted_switch(domain: Domain, state: TalkState, message: str) -> TurnMode | None:
    """Return the mode the user agrees to switch to, if that is what the message says."""
    found = _SWITCH.fullmatch(message.casefold())
    if found is None:
        return None
    name = found["mode"] or (state.suggestion.mode if state.suggestion is not None else None)
    return next((mode for mode in domain.modes() if mode.name == name), None)


def suggest(
    domain: Domain,
    state: TalkState,
    mode: TurnMode,
    message: str,
    advised: str | None,
    turn: int,
) -> TurnMode | None:
    """Return a mode worth suggesting after the answer; None while an earlier one rests."""
    modes = {each.name: each for each in domain.modes()}
    fitting = modes.get(advised or domain.mode_of(message) or "")
    if fitting is None or fitting.name == mode.name or not _is_more(fitting, mode):
        return None
    last = state.suggestion
    if last is not None and turn - last.turn <= SUGGESTION_REST_TURNS:
        return None
    state.suggestion = Suggestion(mode=fitting.name, turn=turn)
    return fitting


def suggestion_line(mode: TurnMode) -> str:
    """Return how a mode is suggested."""
    return f"This looks like a case for {mode.title}. Say “switch” to change to it."


_DEPTHS: Final = ("skip", "light", "medium", "full")


def _is_more(other: TurnMode, mode: TurnMode) -> bool:
    """A mode with less machinery is never urged on the user: the chosen one does it as well."""
    return _DEPTHS.index(other.think) > _DEPTHS.index(mode.think)


def _by_form(message: str) -> str:
    if _SIMPLE.match(message):
        return "quick"
    if _COOKING.search(message):
        return "cook"
    if _EXPLORING.search(message):
        return "explore"
    return "plan"
