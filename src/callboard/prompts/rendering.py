"""Fill a template in one pass. Inserted text is never read again for placeholders."""

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, cast

from callboard.core.canonical import Json, compact_json
from callboard.core.vocabulary import Content, Slot, SlotType, Trust
from callboard.prompts.errors import UnknownPlaceholder
from callboard.prompts.markup import fence
from callboard.prompts.passages import Placeholder, TemplatePassage
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
