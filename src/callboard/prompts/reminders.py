"""Choose the reminders a model needs from plain facts about it. The texts are templates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from callboard.core.vocabulary import Content, Trust
from callboard.prompts.registry import TemplateRegistry
from callboard.prompts.rendering import render_template

Grade = Literal["low", "medium", "high", "very_high"]

_NEEDS_FORMAT: Final = frozenset({"low", "medium"})
_PREFERS_JSON: Final = ("gemini",)


@dataclass(frozen=True, slots=True)
class ReminderFacts:
    """What is known about the model that will read the prompt."""

    model_id: str
    xml_reliability: Grade = "medium"
    instruction_following: Grade = "medium"


def choose_reminders(facts: ReminderFacts, *, thinking: bool | None = None) -> tuple[str, ...]:
    """Return the names of the templates to append, in order.

    `thinking` asks for a short thinking block (True), for none (False), or says nothing (None).
    """
    names: list[str] = []
    if thinking is not None:
        names.append("reminders/think" if thinking else "reminders/no_thinking")
    if facts.xml_reliability in _NEEDS_FORMAT:
        names.append("reminders/reply_format")
    model_id = facts.model_id.lower()
    if any(word in model_id for word in _PREFERS_JSON):
        names.append("reminders/tags_not_json")
    if facts.instruction_following == "low":
        names.append("reminders/one_action")
    return tuple(names)


def reminders(
    registry: TemplateRegistry,
    facts: ReminderFacts,
    *,
    permitted_actions: Sequence[str] = (),
    thinking: bool | None = None,
) -> Content:
    """Return the reminders for a model as one trusted text, empty if it needs none."""
    listed = ", ".join(permitted_actions) or "none"
    values = {"permitted_actions": Content(listed, "permissions", Trust.TRUSTED)}
    texts = [
        render_template(registry.get(name), values).text
        for name in choose_reminders(facts, thinking=thinking)
    ]
    return Content("\n\n".join(texts), "reminders", Trust.TRUSTED)
