"""A template in parts, asked part by part, and the one text that comes of it.

Parts by name: `triage` may end it, `verdict` closes it, `given` is put in by code, `finding` and
`finding_…` are what the agent says, `nothing` takes the place of all where tools have looked for
faults and found none, `each_…` is asked once for every line of the first input, and
`evidence` is somebody else's business. Any other part only informs the ones after it.

A part that ends in `_as_editor` is for editors alone. Of parts of lines that differ in `-1`, `-2`
alone, one is asked for each line, in turn.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from callboard.choreography.small_models.forms import (
    TRIAGE,
    VERDICT,
    Form,
    as_options,
    as_sentence,
    choice_of,
    choice_schema,
    declines,
    form_of,
    items_of,
    with_verdict,
)
from callboard.choreography.small_models.plain import clean_reply
from callboard.core.canonical import Json, digest
from callboard.core.vocabulary import Content, Trust
from callboard.prompts import Template, TemplatePart, render
from callboard.replies.evidence import cut_reply

LINES: Final = ".lines"
"""After the name of an input: what it says as a short list."""

EACH: Final = "each"
"""The one line of the first input that a part is about."""

TARGET: Final = "target"
"""The file that the text is going to be written to, as it stands."""

EVIDENCE: Final = "evidence"
FINDING: Final = "finding"

_PAGES: Final = "pages"
_GIVEN: Final = "given"
_NOTHING: Final = "nothing"
_EACH: Final = "each_"
_AS: Final = "_as_"
_TURN: Final = re.compile(r"-(\d+)$")
_BEATS: Final = re.compile(
    r"^[^\w\n]*+(?:\d++[.)])?[^\w\n]*+beats?\b.*$", re.IGNORECASE | re.MULTILINE
)
_HEADING: Final = re.compile(r"^(?:#|\*\*|\d+[.)][ \t]+\*\*).*$", re.MULTILINE)
_MOST_LINES: Final = 8
_CHOICE_TOKENS: Final = 60
_FRAME_TOKENS: Final = 40


@dataclass(frozen=True, slots=True)
class PartQuestion:
    """One part on its way to the agent."""

    name: str
    part: str
    schema: dict[str, Json] | None
    framing: Mapping[str, Content]
    max_tokens: int | None


@dataclass(slots=True)
class TemplateParts:
    """A template in parts while it is asked.

    A constrained model is held to forms and choices; its free words are cleaned.
    """

    template: Template
    inputs: Mapping[str, Content]
    task: Content
    is_constrained: bool
    ask: Callable[[PartQuestion], Awaitable[Json]]
    count_tokens: Callable[[str], int]
    origin: str
    # The file the text will be written to, as it stands; read only if a part places it.
    target: Callable[[], str]
    archetype: str
    # What of the project is shown where a part places it.
    pages: Content = field(default_factory=lambda: Content("", _PAGES))
    # Whether a sentence stands in the project already.
    is_told: Callable[[str], bool] = lambda _sentence: False
    # Whether the tools behind the inputs looked for faults and found none.
    found_nothing: bool = False
    # What was answered, by part; later parts may read it.
    said: dict[str, str] = field(default_factory=dict[str, str])
    # Options that were picked and are not offered again.
    _used: set[str] = field(default_factory=set[str])

    async def compose(self) -> str | None:
        """Return the text of all parts together; None if there is nothing to say."""
        nothing = next((part for part in self.template.parts if part.name == _NOTHING), None)
        if nothing is not None and self.found_nothing and self.is_constrained:
            return self._rendered(nothing)
        texts: list[str] = []
        each = [part for part in self.template.parts if part.name.startswith(_EACH)]
        for part in self.template.parts:
            if part.name in (EVIDENCE, _NOTHING) or part in each[1:] or not self._is_for(part):
                continue
            if part.name == _GIVEN:
                texts.append(self._rendered(part))
            elif part.name.startswith(_EACH):
                texts += [await self._paragraph(each, *line) for line in enumerate(self._lines())]
            else:
                self.said[part.name] = await self._answer(part, part.name)
                if part.name == TRIAGE and declines(self.said[TRIAGE]):
                    return None
                if part.name.startswith(FINDING):
                    texts.append(self.said[part.name])
        text = cut_reply("\n\n".join(each for each in texts if each)).body
        return with_verdict(text, self.said[VERDICT]) if VERDICT in self.said else text

    @property
    def is_pieced(self) -> bool:
        """Whether code pieces the text together line by line, for a model that cannot."""
        return self.is_constrained and any(
            part.name.startswith(_EACH) for part in self.template.parts
        )

    def _is_for(self, part: TemplatePart) -> bool:
        _, mark, archetype = part.name.rpartition(_AS)
        return not mark or archetype == self.archetype

    def shows(self, slot: str) -> bool:
        """Say whether any part shows a slot: what nobody saw is nobody's evidence."""
        placed = self._placed(None)
        return not placed.isdisjoint((slot, f"{slot}{LINES}", "inputs"))

    def framing(
        self, part: str | None, more: Mapping[str, Content] | None = None
    ) -> dict[str, Content]:
        """Return the task, earlier answers, and the lists a part asks for.

        A small model is not told the task where the part does not place it: it would repeat it.
        """
        placed = self._placed(part)
        own = {
            name: Content(text, self.origin, Trust.UNTRUSTED) for name, text in self.said.items()
        }
        framing = {**own, **(more or {})}
        if _PAGES in placed:
            framing[_PAGES] = self.pages
        if TARGET in placed:
            framing[TARGET] = Content(self.target(), TARGET, Trust.UNTRUSTED)
        if not self.is_constrained or "task" in placed:
            framing["task"] = self.task
        for name in placed:
            slot = name.removesuffix(LINES)
            source = self._first if slot == "inputs" else self.inputs.get(slot)
            if name.endswith(LINES) and source is not None:
                framing[name] = replace(source, text=as_options(source.text))
        return framing

    @property
    def _first(self) -> Content | None:
        return next(iter(self.inputs.values()), None)

    def _placed(self, part: str | None) -> set[str]:
        parts = (each for each in self.template.parts if part is None or each.name == part)
        return {placeholder.name for each in parts for placeholder in each.body.placeholders}

    async def _paragraph(self, parts: list[TemplatePart], index: int, line: str) -> str:
        more = {EACH: Content(as_sentence(line), self.origin, Trust.UNTRUSTED)}
        pieces: list[str] = []
        for part in _in_turn(parts, index):
            if part.name == _EACH + _GIVEN:
                pieces.append(self._rendered(part, more))
                continue
            name = f"{part.name}/{index + 1}"
            pieces.append(await self._answer(part, name, more))
        return " ".join(piece for piece in pieces if piece)

    async def _answer(
        self, part: TemplatePart, name: str, more: Mapping[str, Content] | None = None
    ) -> str:
        form = self._form(part, more) if self.is_constrained else None
        if form is not None:
            return await self._formed(part, name, form, more)
        schema = choice_schema(part.name) if self.is_constrained else None
        short = _CHOICE_TOKENS if part.name in (TRIAGE, VERDICT) else None
        framing = self.framing(part.name, more)
        output = await self.ask(PartQuestion(name, part.name, schema, framing, short))
        if schema is not None:
            return choice_of(output)
        text = _text_of(output)
        if not self.is_constrained:
            return text
        return clean_reply(text, self._rendered(part, more))

    async def _formed(
        self, part: TemplatePart, name: str, form: Form, more: Mapping[str, Content] | None
    ) -> str:
        offered = form.without(self._used)
        if not any(name.endswith(LINES) for name in self._placed(part.name)):
            # Of what the template offers, other sentences for other material.
            offered = offered.turned(digest(self._material(more)), self.is_told)
        if len(offered.options) == 1:
            chosen = offered.options[0]
        else:
            material = self._material(more)
            longest = max(map(self.count_tokens, offered.options or (form.before,)))
            limit = longest + _FRAME_TOKENS
            framing = self.framing(part.name, more)
            schema = offered.schema(material)
            chosen = form.chosen(
                await self.ask(PartQuestion(name, part.name, schema, framing, limit))
            )
        self._used.add(chosen)
        return form.filled(chosen, self._material(more), self.count_tokens)

    def _form(self, part: TemplatePart, more: Mapping[str, Content] | None) -> Form | None:
        if not any("…" in piece for piece in part.body.pieces if isinstance(piece, str)):
            return None
        return form_of(self._rendered(part, more))

    def _rendered(self, part: TemplatePart, more: Mapping[str, Content] | None = None) -> str:
        """Return a part with everything in its place, as text and not as a prompt."""
        values = {**self.inputs, **self.framing(part.name, more), "task": self.task}
        bare = {name: replace(value, trust=Trust.TRUSTED) for name, value in values.items()}
        inputs = "\n\n".join(content.text for content in self.inputs.values())
        bare["inputs"] = Content(inputs, "inputs", Trust.TRUSTED)
        bare.setdefault("role_contract", Content("", self.origin, Trust.TRUSTED))
        return render(part.body, bare).strip()

    def _material(self, more: Mapping[str, Content] | None) -> str:
        if more is not None:
            return "\n".join(content.text for content in more.values())
        return "\n".join(content.text for content in self.inputs.values())

    def _lines(self) -> tuple[str, ...]:
        """Return the lines of the first input: its beats if it names them, else its items."""
        text = self._first.text if self._first is not None else ""
        beats = _BEATS.search(text)
        if beats is not None:
            rest = text[beats.end() :]
            end = _HEADING.search(rest)
            found = items_of(rest[: end.start()] if end is not None else rest)
            if found:
                return found[:_MOST_LINES]
        return items_of(text)[:_MOST_LINES]


def _text_of(output: Json) -> str:
    """Return what was said; a human may have put a bare text in its place."""
    return str(cast("dict[str, Any]", output)["text"] if isinstance(output, dict) else output)


def _in_turn(parts: list[TemplatePart], index: int) -> list[TemplatePart]:
    """Return the parts that are asked for a line; of those that take turns, one."""
    turns: dict[str, list[TemplatePart]] = {}
    for part in parts:
        turns.setdefault(_TURN.sub("", part.name), []).append(part)
    return [group[index % len(group)] for group in turns.values()]
