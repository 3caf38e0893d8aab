"""Fill a template in one pass, reminders among them. Inserted text is never read for placeholders.

The reminders a model needs are chosen from plain facts about it.
"""

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from callboard.core.canonical import Json, compact_json
from callboard.core.vocabulary import Content, Slot, SlotType, Trust
from callboard.prompts.errors import UnknownPlaceholder
from callboard.prompts.markup import fence
from callboard.prompts.passages import Placeholder, TemplatePassage
from callboard.prompts.registry import TemplateRegistry
from callboard.prompts.templates import Template

RESERVED_NAMES: Final = ("task", "role_contract", "inputs")


@dataclass(frozen=True, slots=True)
class PlaceholderProblem:
    """A placeholder nobody will fill, and where it stands."""

    path: str
    line: int
    name: str
    near: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Render as one line for a report."""
        hint = f" (near: {', '.join(self.near)})" if self.near else ""
        return f"{self.path}:{self.line}: {{{{{self.name}}}}} is not known{hint}"


def check_placeholders(
    template: Template, known: Collection[str]
) -> tuple[PlaceholderProblem, ...]:
    """Return every placeholder of a template that is not among the known names.

    Names of the template's own micro parts count as known: later parts read earlier answers.
    """
    names = {*known, *(part.name for part in template.parts)}
    return _problems(template.body, names)


def render(passage: TemplatePassage, values: Mapping[str, Content]) -> str:
    """Return the text with every placeholder filled, untrusted values fenced."""
    filled: list[str] = []
    for piece in passage.pieces:
        if isinstance(piece, str):
            filled.append(piece)
            continue
        value = values.get(piece.name)
        if value is None:
            raise _unknown(passage, values)
        filled.append(fence(value))
    return "".join(filled)


def render_template(
    template: Template, values: Mapping[str, Content], *, prepend: Collection[str] = ()
) -> Content:
    """Return a filled template as trusted content.

    A value named in `prepend` opens the text if the template does not place it itself.
    """
    placed = {placeholder.name for placeholder in template.placeholders}
    opening = [fence(values[name]) for name in prepend if name in values and name not in placed]
    text = "\n\n".join([*(text for text in opening if text), render(template.body, values)])
    return Content(text, str(template.origin), Trust.TRUSTED)


def slot_content(slot: Slot) -> Content:
    """Return what a slot puts into a prompt: a pointer its summary, an artifact its full text."""
    return Content(_slot_text(slot), f"slot:{slot.name}", Trust.UNTRUSTED)


def headed_inputs(values: Mapping[str, Content]) -> Content:
    """Return all inputs under a heading each: what `{{inputs}}` stands for."""
    sections = [f"### {name}\n\n{fence(value)}" for name, value in values.items()]
    return Content("\n\n".join(sections), "inputs", Trust.TRUSTED)


def _slot_text(slot: Slot) -> str:
    if slot.type is SlotType.POINTER:
        return slot.summary
    value: object = slot.value
    text = cast("dict[str, Json]", value).get("text") if isinstance(value, dict) else value
    return text if isinstance(text, str) else compact_json(value)


def _problems(passage: TemplatePassage, known: Collection[str]) -> tuple[PlaceholderProblem, ...]:
    return tuple(
        _problem(passage, placeholder, known)
        for placeholder in passage.placeholders
        if placeholder.name not in known
    )


def _problem(
    passage: TemplatePassage, placeholder: Placeholder, known: Collection[str]
) -> PlaceholderProblem:
    near = difflib.get_close_matches(placeholder.name, sorted(known), n=3)
    return PlaceholderProblem(passage.path, placeholder.line, placeholder.name, tuple(near))


def _unknown(passage: TemplatePassage, values: Mapping[str, Content]) -> UnknownPlaceholder:
    problems = _problems(passage, values.keys())
    return UnknownPlaceholder(
        "; ".join(str(problem) for problem in problems),
        fix=f"Known here: {', '.join(sorted(values)) or 'nothing'}.",
        problems=[{"path": p.path, "line": p.line, "name": p.name} for p in problems],
    )


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
