"""A QuestFoundry project whose roles are a script, and a small story that passes every bar.

Without other orders the script follows the playbook and makes what is asked for: the story of the
lighthouse, or the smallest thing that fits.
"""

import copy
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callboard.choreography.loop import LoopResult, LoopStep
from callboard.core.vocabulary import RunRecord, RunState
from callboard.models import Line, ModelRequest, Script
from callboard.packs.questfoundry.artifacts.catalog import smallest
from callboard.packs.questfoundry.foundry import Foundry, foundry_of, read_registry
from callboard.store.journal.events import read_events
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing.opening import open_scripted
from callboard.testing.witness import finish
from loop_decisions import decide_as_usual

DECISIONS = ("next", "stable", "block", "next_loop", "again")
PACK = "questfoundry"


def _choice(name: str, to: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "from": name.split(".")[0], "to": to, **more}


TOPOLOGY: dict[str, Any] = {
    "start": "pier",
    "sections": [
        {"id": "pier", "title": "The pier"},
        {"id": "room", "title": "The lamp room", "kind": "hub", "keystone": True},
        {"id": "box", "title": "The box", "effects": [{"op": "set", "key": "has_lamp"}]},
        {"id": "cliff", "title": "The cliff", "effects": [{"op": "set", "key": "saw_boat"}]},
        {"id": "store", "title": "The store"},
        {"id": "relit", "title": "Light", "kind": "terminal", "keystone": True},
        {"id": "hailed", "title": "The boat", "kind": "terminal"},
        {"id": "dark", "title": "Dark", "kind": "terminal"},
    ],
    "choices": [
        _choice("pier.up", "room"),
        _choice("pier.home", "dark"),
        _choice("room.box", "box"),
        _choice("room.cliff", "cliff"),
        _choice("room.store", "store", gateway="bolt"),
        _choice("box.back", "room"),
        _choice("cliff.back", "room"),
        _choice("store.light", "relit"),
        _choice("store.leave", "dark"),
        _choice("store.call", "hailed", requires=[{"key": "saw_boat"}]),
    ],
    "loops": [{"entry": "cliff", "return_to": "room", "difference": "You know of the boat now."}],
    "gateways": [
        {
            "id": "bolt",
            "at": "room",
            "condition_key": "has_lamp",
            "diegetic_phrase": "The lantern shows you the bolt.",
            "refusal": "In the dark your fingers find no bolt.",
            "granted_at": ["box"],
        }
    ],
    "endings": [
        {"section": "relit", "title": "The light burns"},
        {"section": "hailed", "title": "The boat comes in"},
        {"section": "dark", "title": "The light stays out"},
    ],
}
TEXTS = {
    "pier": "You stand on the pier. The tower is dark. Water slaps at the second step.",
    "room": "You stand under the great glass. A door, a box and a window wait for you.",
    "box": "You lift the lid. A lantern lies there, still warm. You take it with you.",
    "cliff": "You look down. A boat with no light turns below you. You step back inside.",
    "store": "You slide the bolt. Oil stands in rows. You have a match and little time.",
    "relit": "You light the wick. The beam goes out over the water, and a horn answers.",
    "hailed": "You swing the match from side to side. Out there somebody rows harder.",
    "dark": "You walk away. Behind you the sea goes on without a light.",
}
LABELS = {
    "pier.up": "Climb the stairs of the tower",
    "pier.home": "Go home before the rain",
    "room.box": "Open the wooden box",
    "room.cliff": "Look out of the window",
    "room.store": "Try the door to the oil",
    "box.back": "Carry the lantern back",
    "cliff.back": "Turn to the glass again",
    "store.light": "Fill the great lamp",
    "store.leave": "Leave the oil where it is",
    "store.call": "Signal the boat with the match first",
}


def drafts(**other: str) -> dict[str, Any]:
    """Return the prose of the story, with other words for some sections."""
    texts = {**TEXTS, **other}
    return {
        "sections": [
            {
                "section_id": name,
                "text_md": text,
                "choices": [
                    {"choice_id": each, "label": label}
                    for each, label in LABELS.items()
                    if each.split(".")[0] == name
                ],
            }
            for name, text in texts.items()
        ]
    }


def hook(title: str, kind: str = "narrative", **more: Any) -> dict[str, Any]:
    """Return the card of a story hook."""
    return {"title": title, "kind": kind, "player_safe_summary": f"{title}.", **more}


USUAL: dict[str, Any] = {
    "topology_notes": TOPOLOGY,
    "section_briefs": {
        "briefs": [{"section_id": name, "intent": f"What happens at {name}"} for name in TEXTS]
    },
    "scene_drafts": drafts(),
    "hooks": {"hooks": [hook("Who lit the lamp last?")]},
    "gatecheck_report": {"mode": "pre_gate", "decision": "pass"},
    "merge_decision": {"action": "merge"},
    "binding_request": {"snapshot": "the newest"},
    "front_matter": {"title": "The Lamp"},
    "style_feedback": {"verdict": "ok"},
    "feasibility_notes": {"verdict": "ok"},
    "spoiler_report": {"verdict": "ok"},
    "pn_phrasing_feedback": {"verdict": "ok"},
}


def envelope(artifacts: Mapping[str, Any], **more: Any) -> str:
    """Return what a role says."""
    made = [{"type": kind, "format": "json", "content": each} for kind, each in artifacts.items()]
    return json.dumps({"artifacts": made, **more})


@dataclass
class Company:
    """Everybody's lines: what is said at a step by a role, else the usual."""

    # A step, or a step and a role, to what is said there, in order; the last is not repeated.
    says: dict[Any, list[Any]] = field(default_factory=dict[Any, list[Any]])
    # What is said of a kind wherever it is asked for.
    usual: dict[str, Any] = field(default_factory=lambda: copy.deepcopy(USUAL))
    # A kind of decision (next, stable, block, join, next_loop) to what is decided, in order.
    decides: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    calls: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    prompts: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    steps: dict[str, dict[str, LoopStep]] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        for loop in read_registry().loops():
            self.steps.update({f"{loop.id}/{step.id}": step for step in loop.steps})

    def speak(self, request: ModelRequest) -> Line | str:
        key, role = request.step_key or "", request.agent_id or ""
        self.calls.append((key, role))
        self.prompts.append((key, role, request.prompt_text))
        parts = key.split("/")
        if parts[-1] in DECISIONS or "join" in parts:
            return self._decide(parts, request.prompt_text)
        step = next((each for each in parts if each.startswith("step_")), "alone")
        lines = self.says.get((step, role)) or self.says.get(step) or []
        said = lines.pop(0) if lines else self._made(step, role)
        return said if isinstance(said, Line | str) else envelope(said)

    def _made(self, step: str, role: str) -> dict[str, Any]:
        found = [each for name, each in self.steps.items() if name.endswith(f"/{step}")]
        kinds = {kind for each in found if role in each.roles or not role for kind in each.produces}
        kinds = kinds or {kind for each in found for kind in each.produces}
        return {kind: self.usual.get(kind, smallest(kind)) for kind in sorted(kinds)}

    def _decide(self, parts: list[str], prompt: str) -> str:
        kind = "join" if "join" in parts else parts[-1] if parts[-1] != "again" else parts[-2]
        if self.decides[kind]:
            said = self.decides[kind].pop(0)
            return said if isinstance(said, str) else json.dumps(said)
        return decide_as_usual(kind, prompt)

    def asked(self, role: str | None = None) -> list[str]:
        """Return the keys of the calls to one role, or to everybody but the Showrunner."""
        return [k for k, who in self.calls if (who == role if role else who != "showrunner")]


@dataclass
class Ran:
    """A run that is over."""

    run: RunRecord
    told: list[tuple[str, Any]]
    unit: Any

    @property
    def result(self) -> LoopResult:
        assert self.run.state is RunState.DONE, self.run.error
        return LoopResult.from_json(self.run.result)

    def events(self, name: str) -> list[Any]:
        """Return what was told under a name."""
        return [data for each, data in self.told if each == f"loop.{name}"]


@dataclass
class House:
    """An open project with its script."""

    studio: Studio
    company: Company

    @property
    def foundry(self) -> Foundry:
        return foundry_of(self.studio)

    async def run(self, loop: str, answers: Mapping[str, Any] | None = None, **args: Any) -> Ran:
        """Play a loop by the playbook to its end, unless told otherwise."""
        given = {"is_interactive": answers is not None, "policy": "playbook", **args}
        started = await self.studio.start(f"{PACK}/{loop}", given)
        run = await finish(self.studio, started.id, answers or {})
        return self.ran(run)

    def ran(self, run: RunRecord) -> Ran:
        events = self.studio.database.read(lambda c: read_events(c, run_id=run.id))
        told = [(e.body.name, e.body.data) for e in events if e.type == "emitted"]
        unit = self.foundry.units.of_run(run.id)
        return Ran(run, told, None if unit is None else self.foundry.units.find(unit))

    async def success(self, loop: str, **args: Any) -> Ran:
        """Play a loop that must succeed."""
        ran = await self.run(loop, **args)
        assert ran.run.state is RunState.DONE, ran.run.error
        assert ran.result.success, (ran.result.error, ran.result.steps, ran.result.revisions)
        return ran

    def content(self, ran: Ran, kind: str) -> Any:
        return self.foundry.shelf.body(ran.result.artifacts[kind].sha256)


@asynccontextmanager
async def open_house(
    root: Path, company: Company | None = None, **more: Any
) -> AsyncIterator[House]:
    """Open a project of QuestFoundry; it is made if there is none."""
    lines = company or Company()
    Project.init(root, pack=PACK)
    async with open_scripted(root, Script(lines.speak), **more) as studio:
        yield House(studio, lines)


def changed(content: Any, *path: Any, value: Any) -> Any:
    """Return a content with one place changed."""
    made = copy.deepcopy(content)
    at = made
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return made


__all__: Sequence[str] = ("Company", "House", "changed", "drafts", "envelope", "hook", "open_house")
