"""The state as an XML tree for one mode and one tier, and its shorter forms.

Values are data: they are cut to size here and escaped where the tree is written. Refuses nothing;
what has no value is left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from callboard.core.vocabulary import Content, ModelTier
from callboard.packs.writers_factory.foreman.state.scenery import (
    bundle_tree,
    choose_entries,
    scaffold_tree,
    scene_tree,
    voice_tree,
)
from callboard.packs.writers_factory.foreman.state.session import GRAPH, ForemanState, TemplateLine
from callboard.packs.writers_factory.foreman.state.sizes import (
    SIZES,
    Bundle,
    Clipper,
    Scaffold,
    Sizes,
    StateSection,
    sections_of,
    some_of,
)
from callboard.prompts import Reduction, TokenCounter, state_content

ROOT: Final = "session_state"

# In the order in which they give way.
FEWER_ENTRIES: Final = "foundational_only"
SHORT_SCAFFOLD: Final = "essential_scaffold"
VOICE_SUMMARY: Final = "voice_summary"
NO_ALERTS: Final = "no_alerts"
BARE: Final = "bare"

_KEY: Final = re.compile(r"[a-z_]+")
_ALWAYS_ACTIVE: Final = ("file", "chapter", "scene", "beat")

Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StateMarkup:
    """Writes a state for a tier."""

    counter: TokenCounter
    # tier -> the state that was written last for it: most turns change little or nothing.
    _latest: dict[ModelTier, tuple[ForemanState, Content]] = field(
        default_factory=dict[ModelTier, tuple[ForemanState, Content]], repr=False, compare=False
    )

    def content(self, state: ForemanState, tier: ModelTier) -> Content:
        """Return the state as a layer of a prompt holds it."""
        known = self._latest.get(tier)
        if known is None or known[0] != state:
            known = self._latest[tier] = (state, self._written(state, SIZES[tier]))
        return known[1]

    def reductions(self, state: ForemanState, tier: ModelTier) -> tuple[Reduction, ...]:
        """Return the shorter forms of the state, each shorter than the one before."""
        sizes = SIZES[tier]
        made: list[Reduction] = []
        for name, change in (
            (FEWER_ENTRIES, {"entries": 0, "graph_facts": 0}),
            (SHORT_SCAFFOLD, {"scaffold": _shorter_scaffold(sizes.scaffold)}),
            (VOICE_SUMMARY, {"bundle": _shorter_bundle(sizes.bundle)}),
            (NO_ALERTS, {"alerts": 0}),
            (BARE, _bare(sizes)),
        ):
            sizes = replace(sizes, **change)
            made.append(Reduction(name, partial(self._written, state, sizes)))
        return tuple(made)

    def budget(self, state: ForemanState, tier: ModelTier, own_tokens: int) -> int:
        """Return what the state may cost: its own share, and room for what is loaded."""
        sizes, sections = SIZES[tier], sections_of(state)
        total = own_tokens
        if state.bundle is not None and StateSection.BUNDLE in sections:
            total += sizes.bundle_tokens
        if state.scaffold is not None and StateSection.SCENE in sections:
            total += sizes.scaffold_tokens
        if state.alerts and StateSection.ALERTS in sections:
            total += sizes.alerts_tokens
        foundational = sum(1 for each in state.knowledge if each.is_foundational)
        if sizes.all_foundational and foundational > sizes.entries:
            total += sizes.entries_tokens
        return total

    def _written(self, state: ForemanState, sizes: Sizes) -> Content:
        return state_content(ROOT, _Tree(state, sizes, Clipper(self.counter)).build())


class _Tree:
    def __init__(self, state: ForemanState, sizes: Sizes, clipper: Clipper) -> None:
        self.state = state
        self.sizes = sizes
        self.clipper = clipper
        self.sections = sections_of(state)

    def build(self) -> Tree:
        state = self.state
        tree: Tree = {
            "current_mode": self.clip(state.mode.upper()),
            "completion_pct": int(state.completion_pct),
        }
        parts = self.bare() if self.sizes.is_bare else self.whole()
        tree.update({name: part for name, part in parts.items() if part})
        return tree

    def bare(self) -> Tree:
        state = self.state
        active = state.active
        return {
            "active_file": self.clip(active.get("file", "")),
            "voice_locked": "true" if state.voice.locked else "false",
            "current_beat": self.clip(active.get("beat", "")),
            "gate_override": self.overrides(1),
            **self.scenery(),
            "knowledge_context": self.knowledge(),
            "agent_memory": self.memory(),
        }

    def whole(self) -> Tree:
        return {
            "project": self.filled(self.state.project),
            "next_gate": self.gate(),
            "gate_override": self.overrides(3),
            "active_context": self.active(),
            "work_order": self.work_order(),
            "outline": self.outline(),
            **self.scenery(),
            "health_alerts": self.alerts(),
            "knowledge_context": self.knowledge(),
            "notebooks": self.notebooks(),
            "agent_memory": self.memory(),
        }

    def scenery(self) -> Tree:
        state, sizes = self.state, self.sizes
        tree: Tree = {}
        if StateSection.VOICE in self.sections and not sizes.is_bare:
            tree["voice_context"] = voice_tree(state.voice, sizes, self.clipper)
        if StateSection.BUNDLE in self.sections and state.bundle is not None:
            tree["voice_bundle"] = bundle_tree(state, sizes, self.clipper)
        if StateSection.SCENE in self.sections and state.scaffold is not None:
            tree["active_scaffold"] = scaffold_tree(state.scaffold, sizes, self.clipper)
        elif StateSection.SCENE in self.sections and state.scene is not None and not sizes.is_bare:
            tree["scene_context"] = scene_tree(state.scene, sizes, self.clipper)
        return tree

    def active(self) -> Tree:
        given: Mapping[str, str] = self.state.active
        names = [*_ALWAYS_ACTIVE, *sorted(given.keys() - set(_ALWAYS_ACTIVE))]
        return {
            name: self.clip(given[name])
            for name in names[:12]
            if given.get(name) and _KEY.fullmatch(name)
        }

    def work_order(self) -> Tree:
        if StateSection.WORK_SUMMARY in self.sections:
            done = sum(1 for each in self.state.templates if each.status == "complete")
            total = len(self.state.templates)
            return {"#text": f"{done} of {total} templates complete"} if total else {}
        if StateSection.WORK_ORDER not in self.sections:
            return {}
        return {"template": [self.template(each) for each in self.state.templates]}

    def gate(self) -> Tree:
        state = self.state
        if not state.next_mode:
            return {}
        tree: Tree = {"@to": self.clip(state.next_mode), "@open": not state.unmet}
        # The work order names what is missing in it already.
        if state.unmet and StateSection.WORK_ORDER not in self.sections:
            tree["unmet"] = [self.clip(each) for each in state.unmet[:3]]
        return tree

    def template(self, template: TemplateLine) -> Tree:
        shows_completed = self.sizes.all_foundational
        return {
            "@name": self.clip(template.name),
            "@status": template.status,
            "@completed": some_of(template.completed) if shows_completed else None,
            "@missing": some_of(template.missing),
            "open_check": [
                {"@field": self.clip(name), "#text": self.clip(reason)}
                for name, reason in template.open_checks[:3]
            ],
        }

    def outline(self) -> Tree:
        outline = self.state.outline
        if StateSection.OUTLINE not in self.sections or not outline.planned:
            return {}
        return {
            "@planned": outline.planned,
            "@drafted": outline.drafted,
            "@polished": outline.polished,
            "next_scene": self.clip(f"{outline.next_scene} {outline.next_status}".strip()) or None,
        }

    def knowledge(self) -> Tree:
        chosen = choose_entries(self.state.knowledge, self.sizes, self.clipper)
        return (
            {
                "entry": [
                    {
                        "@category": self.clip(each.category),
                        "@key": self.clip(each.key),
                        "@origin": GRAPH if each.origin == GRAPH else None,
                        "#text": each.value,
                    }
                    for each in chosen
                ]
            }
            if chosen
            else {}
        )

    def memory(self) -> Tree:
        tree: dict[str, list[str]] = {}
        for each in self.state.memory[: self.sizes.memory]:
            kind = each.kind if _KEY.fullmatch(each.kind) else "preference"
            tree.setdefault(kind, []).append(self.clip(each.text))
        return dict(tree)

    def notebooks(self) -> Tree:
        listed = self.state.notebooks[: self.sizes.notebooks]
        rows = [
            {
                "@id": self.clip(each.id),
                "@role": self.clip(each.role),
                "#text": self.clip(each.title),
            }
            for each in listed
        ]
        return {"notebook": rows} if rows else {}

    def alerts(self) -> Tree:
        if StateSection.ALERTS not in self.sections:
            return {}
        rows = [
            {
                "@severity": self.clip(each.severity),
                "@check": self.clip(each.check),
                "finding": self.clip(each.finding),
                "recommendation": self.clip(each.recommendation) or None,
            }
            for each in self.state.alerts[: self.sizes.alerts]
        ]
        return {"alert": rows} if rows else {}

    def overrides(self, most: int) -> list[Tree]:
        return [
            {
                "@from": self.clip(each.left),
                "@to": self.clip(each.entered),
                "@unmet": self.clip(some_of(each.unmet) or "") or None,
                "#text": self.clip(each.risk),
            }
            for each in self.state.overrides[-most:]
        ]

    def filled(self, project: Any) -> Tree:
        values = ((name, getattr(project, name)) for name in project.__dataclass_fields__)
        return {name: self.clip(value) for name, value in values if value}

    def clip(self, text: str) -> str:
        return self.clipper.clip(text, self.sizes.value_tokens)


def _bare(sizes: Sizes) -> dict[str, Any]:
    return {
        "is_bare": True,
        "memory": min(3, sizes.memory),
        "entries_tokens": min(200, sizes.entries_tokens),
        "patterns": min(3, sizes.patterns),
        "bundle": Bundle.LINE,
        "scaffold": Scaffold.CORE,
    }


def _shorter_scaffold(shown: Scaffold) -> Scaffold:
    return Scaffold.ESSENTIAL if shown is Scaffold.ALL else Scaffold.CORE


def _shorter_bundle(shown: Bundle) -> Bundle:
    return Bundle.SUMMARY if shown is Bundle.EXCERPTS else Bundle.LINE
