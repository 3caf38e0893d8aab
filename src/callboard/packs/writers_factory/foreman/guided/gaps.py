"""The next gap: what the book lacks most, known by code from the state, and what would fill it."""

import dataclasses
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import Json
from callboard.packs.writers_factory.bible.shapes import beat_point
from callboard.packs.writers_factory.foreman.state import ForemanState, TemplateLine
from callboard.packs.writers_factory.model import (
    ARCHITECT,
    DIRECTOR,
    EDITOR,
    VOICE_CALIBRATION,
)
from callboard.packs.writers_factory.voice.voice import STEPS
from callboard.replies import Action

_PACKAGE: Final = "callboard.packs.writers_factory"


@dataclass(frozen=True, slots=True)
class GapWords:
    """How one gap is spoken of."""

    title: str
    why: str
    ask: str
    examples: tuple[str, ...]


class _KnownWords(dict[str, str]):
    """Values for a text; a name nobody gave stays as it is."""

    def __missing__(self, key: str) -> str:
        return f"{{{key}}}"


@dataclass(frozen=True)
class Wording:
    """Everything that is said without a model."""

    gaps: Mapping[str, GapWords]
    beats: Mapping[int, str]
    says: Mapping[str, str]
    sentences: Mapping[str, str]

    def say(self, name: str, **values: str) -> str:
        """Return one of the sentences with its values in place."""
        return fill(self.says[name], values)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values into a text in one pass; what they contain is not read again."""
    return text.format_map(_KnownWords(values))


@cache
def load_wording() -> Wording:
    """Read the words that come with the pack."""
    loaded: dict[str, Any] = bundled_yaml(_PACKAGE, "prompts/guided.yaml")
    gaps = {
        name: GapWords(each["title"], each["why"], each["ask"], tuple(map(str, each["examples"])))
        for name, each in loaded["gaps"].items()
    }
    beats = {int(number): str(role) for number, role in loaded["beats"].items()}
    return Wording(gaps, beats, loaded["says"], loaded["sentences"])


_RULES: Final = "fundamental_rules"
_MIDPOINT: Final = "midpoint_type"
_SCENE: Final = re.compile(r"ch(\d+)-sc(\d+)")
_STRATEGY: Final = re.compile(
    r"\b(ACTION(?:_EMPHASIS)?|CHARACTER(?:_DEPTH)?|DIALOGUE(?:_FOCUS)?|BALANCED|ATMOSPHERIC)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class BookGap:
    """Something the book lacks: how to ask for it, and what an answer or a nod leads to."""

    id: str
    words: GapWords
    template: str = ""
    field: str = ""
    # Done when the writer says to go on.
    action: Action | None = None
    # Why what is there does not hold, if something is there.
    fault: str = ""
    values: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])

    @property
    def decision(self) -> tuple[str, str]:
        """The category and key under which an answer would be a decision."""
        if self.field == _RULES:
            return "world", "rule"
        category = "structure" if self.template == "beat_sheet" else "character"
        return category, self.field

    @property
    def is_judged(self) -> bool:
        """Whether an answer can be weak."""
        return bool(self.template) and self.field not in ("name", _MIDPOINT, "central_theme")

    @property
    def title(self) -> str:
        """What is missing, in words."""
        return fill(self.words.title, self.values)

    @property
    def why(self) -> str:
        """Why it matters."""
        return fill(self.words.why, self.values)

    @property
    def ask(self) -> str:
        """The question."""
        return fill(self.words.ask, self.values)

    @property
    def examples(self) -> tuple[str, ...]:
        """Answers of the kind that holds."""
        return tuple(fill(each, self.values) for each in self.words.examples)


@dataclass(frozen=True)
class Gaps:
    """Finds gaps in a state."""

    wording: Wording
    # The agents of a tournament where nobody names any.
    agents: tuple[str, ...] = ()

    def next_gap(
        self,
        state: ForemanState,
        done: frozenset[str] = frozenset(),
        skipped: Collection[str] = (),
    ) -> BookGap:
        """Return what the book lacks most; `done` works are started, `skipped` fields come last."""
        if state.mode == EDITOR:
            return self._revision(state, done)
        if state.mode == ARCHITECT:
            found = self._foundation(state, skipped) or self._foundation(state)
            return found or self._gate(state)
        finder = {VOICE_CALIBRATION: self._voice, DIRECTOR: self._draft}.get(state.mode)
        found = finder(state) if finder is not None else None
        return found or self._gate(state)

    def _gate(self, state: ForemanState) -> BookGap:
        if state.next_mode and not state.unmet:
            action = Action("advance_mode", {"to": state.next_mode})
            return self._gap("advance", state, action=action, mode=_named(state.next_mode))
        unmet = "; ".join(state.unmet[:3]) or "the book"
        return self._gap("other.work", state, unmet=unmet)

    def names_winner(self, gap: BookGap, said: str) -> bool:
        """Say whether a message names what only a choice of the winning voice can mean."""
        return gap.id == "voice.winner" and _STRATEGY.search(said) is not None

    def action_for(self, gap: BookGap, said: str) -> Action | None:
        """Return what an answer asks for."""
        if gap.id == "voice.test_passage":
            agents: Json = list(self.agents)
            return Action("start_tournament", {"test_prompt": said, "agents": agents})
        if gap.id == "voice.winner":
            strategy = _STRATEGY.search(said)
            agent = next((each for each in self.agents if each in said), "")
            if strategy is None or not (agent or self.agents):
                return None
            chosen = {"agent_id": agent or self.agents[0], "strategy": strategy[1].upper()}
            return Action("select_winner", {**chosen, "voice_notes": said})
        if not gap.template:
            return None
        source = "writer_stated"
        if gap.field == _RULES:
            key = "rule_" + "_".join(re.findall(r"[a-z]+", said.lower())[:6])
            return Action(
                "save_decision",
                {"category": "world", "key": key, "value": said, "source": source},
            )
        content: dict[str, Json] = {gap.field: _field_value(gap.field, said)}
        return Action(
            "write_template", {"template": gap.template, "content": content, "source": source}
        )

    def _foundation(self, state: ForemanState, skipped: Collection[str] = ()) -> BookGap | None:
        if not state.project.protagonist and "protagonist.name" not in skipped:
            return self._field("protagonist", "name", state)
        for template in state.templates:
            if template.status == "complete":
                continue
            fields = (each for each in template.missing if each)
            missing = next((f for f in fields if f"{template.name}.{f}" not in skipped), None)
            if missing:
                return self._field(template.name, missing, state)
            if template.open_checks and not any(template.missing):
                return self._faulty(template, state)
        return None

    def _faulty(self, template: TemplateLine, state: ForemanState) -> BookGap:
        name, why = template.open_checks[0]
        known = f"{template.name}.{name}" in self.wording.gaps or name.startswith("beat_")
        field_name = name if known or template.name == "beat_sheet" else _RULES
        return self._field(template.name, field_name, state, fault=why)

    def _field(self, template: str, name: str, state: ForemanState, fault: str = "") -> BookGap:
        number = re.fullmatch(r"beat_(\d+)", name)
        gap_id = f"{template}.{name}"
        more: dict[str, str] = {}
        if number is not None:
            point = beat_point(int(number[1]))
            gap_id = "beat_sheet.beat"
            more = {
                "number": number[1],
                "beat": point.name if point is not None else "",
                "role": self.wording.beats.get(int(number[1]), ""),
            }
        if gap_id not in self.wording.gaps:
            gap_id = "other.work"
            more = {"unmet": f"{template.replace('_', ' ')}: {name.replace('_', ' ')}"}
        gap = self._gap(gap_id, state, None, **more)
        return replace(gap, template=template, field=name, fault=fault)

    def _voice(self, state: ForemanState) -> BookGap | None:
        left = [step for step in STEPS if step not in state.voice.steps]
        if not left:
            return None
        action = Action("generate_bundle", {}) if left[0] == "bundle" else None
        return self._gap(f"voice.{left[0]}", state, action=action)

    def _draft(self, state: ForemanState) -> BookGap | None:
        outline = state.outline
        if not outline.planned:
            return self._gap("director.outline", state, action=Action("plan_scenes", {}))
        if not outline.next_scene:
            return None
        scene = outline.next_scene
        place = _SCENE.match(scene)
        values: dict[str, Json] = {"title": scene}
        if place is not None:
            values |= {"chapter": int(place[1]), "scene": int(place[2])}
        step = {
            "planned": ("director.scaffold", Action("generate_scaffold", values)),
            "scaffolded": ("director.draft", Action("write_scene", {"scaffold_id": scene})),
            "variants_ready": ("director.choice", None),
        }.get(outline.next_status, ("director.accept", None))
        return self._gap(step[0], state, action=step[1], scene=scene)

    def _revision(self, state: ForemanState, done: frozenset[str]) -> BookGap:
        for work, gap_id in (
            ("run_health_check", "editor.health"),
            ("continuity_audit", "editor.audit"),
            ("voice_report", "editor.report"),
        ):
            if work not in done:
                if gap_id == "editor.audit" and state.alerts:
                    return self._alert(state)
                return self._gap(gap_id, state, action=Action(work, {}))
        return self._alert(state) if state.alerts else self._gap("editor.finish", state)

    def _alert(self, state: ForemanState) -> BookGap:
        worst = state.alerts[0]
        return self._gap(
            "editor.alert",
            state,
            action=Action("continuity_audit", {}),
            finding=_sentence(worst.finding),
            recommendation=_sentence(worst.recommendation),
        )

    def _gap(
        self, gap_id: str, state: ForemanState, action: Action | None = None, **values: str
    ) -> BookGap:
        name = state.project.protagonist or "your protagonist"
        words = self.wording.gaps[gap_id]
        return BookGap(gap_id, words, action=action, values={"name": name, **values})


def _field_value(name: str, said: str) -> str:
    if name != _MIDPOINT:
        return said
    if re.search(r"defeat|loss|lose|lost|fail", said, re.IGNORECASE):
        return "false_defeat"
    # Neither word: the text goes on as it is, and is refused with the two that count.
    return "false_victory" if re.search(r"victor|win|won|triumph", said, re.IGNORECASE) else said


def _named(mode: str) -> str:
    return mode.replace("_", " ")


def _sentence(text: str) -> str:
    bare = " ".join(text.split())
    return bare if not bare or bare[-1] in ".!?…" else f"{bare}."
