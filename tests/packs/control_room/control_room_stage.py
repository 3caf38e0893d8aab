"""The fortress, a scripted staff that answers every prompt of Control Room, and a real server."""

import re
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from callboard.api.app import create_app
from callboard.models import Line, ModelRequest, Script
from callboard.studio.opening import Opening
from callboard.studio.project import Project
from callboard.studio.studio import Studio
from callboard.testing import SCRIPTED
from door_receipts import watch_receipts
from door_server import served

FORTRESS = Path(__file__).parents[2] / "fortress"
SCENE_5 = "Story/Scenes/SCN-the-envoy.md"
PROSE = "The envoy rode up to the gate alone, and Kael went down to meet him without a helmet."
POLISHED = f"{PROSE} Neither of them raised his voice."

Answers = dict[str, Any]


def receipt_of(request: ModelRequest) -> str:
    """Return the first receipt a prompt shows."""
    found = re.search(r"receipt_id: (rcpt_\w+)", request.prompt_text)
    return found[1] if found else "rcpt_none"


def with_receipt(text: str) -> Callable[[ModelRequest], str]:
    """Return an answer that cites the first receipt its prompt shows."""
    return lambda request: f"{text}\n\nEvidence: receipt_id: {receipt_of(request)}"


def staff(**changes: Any) -> Callable[[ModelRequest], Line | str]:
    """Return a staff that answers by prompt type; a change is a text, a line or a function."""
    usual: Answers = {
        "refine_brief": with_receipt("Kael meets an envoy at the gate and refuses to surrender."),
        "draft_scene": f'{PROSE}\n\nEvidence: slot:scene_brief "Kael meets an envoy at the gate"',
        "polish_draft": f'{POLISHED}\n\nEvidence: slot:draft "The envoy rode up to the gate"',
        "check_continuity": "No fact is broken.\n\nVerdict: PASS\n\n"
        "Evidence: scope: checked scenes 1-4",
        "evaluate_reader_experience": "He goes without a helmet, and it holds.\n\n"
        'Evidence: slot:edited_draft "without a helmet"',
        "report_inconsistencies": with_receipt(
            "Mira and the eyes of Kael weigh most.\n\nVerdict: FAIL"
        ),
        "propose_fixes": "Change the word for the eyes of Kael.\n\n"
        'Evidence: slot:continuity_report "the eyes of Kael weigh most."',
        "respond_to_metrics": "Shorten what comes after the open wall.\n\n"
        'Evidence: Story/Scenes/SCN-02-the-breach.md "The wall was already open."',
        "review_pacing": with_receipt("The breach hurries where it should."),
        "audit_foreshadowing": with_receipt("The key is planted and never paid."),
        "plan_foreshadowing": with_receipt("Scene 4: a glance at the key."),
        "draft_inserts": "At a glance he knew the key.\n\n"
        'Evidence: slot:foreshadow_plan "a glance at the key"',
        "assess_beat_match": with_receipt("The beats are there.\n\nVerdict: PASS"),
        "propose_canon_update": with_receipt("Nothing new about Kael."),
        "file_canon_update": with_receipt("# Kael\n\nEyes: grey"),
        "restructure_outline": with_receipt("# The Winter Fortress\n\n### Scene 1: The Gate"),
        "critique_outline": "Take this winter in the fortress.\n\n"
        'Evidence: slot:outline_proposal "The Winter Fortress"',
        "decompose": Line(
            json={
                "tasks": [
                    {
                        "id": 1,
                        "description": "Draft scene 5, The Envoy",
                        "deps": [],
                        "dod": "It is written.",
                    },
                    {"id": 2, "description": "Draft scene 6, The Thaw", "deps": [1]},
                    {"id": 3, "description": "Consistency check of scenes 1-4", "deps": [1, 2]},
                    {
                        "id": 4,
                        "description": "Audit the foreshadowing",
                        "deps": [],
                        "scoping_question": "Which threads?",
                    },
                ]
            },
            times=None,
        ),
        **changes,
    }

    def answer(request: ModelRequest) -> Line | str:
        said = usual[str(request.prompt_type)]
        return said(request) if callable(said) else said

    return answer


@dataclass
class Backstage:
    """A running server, a client for it, and everything behind it."""

    client: httpx.AsyncClient
    studio: Studio
    script: Script
    root: Path

    async def get(self, path: str, status: int = 200, **params: Any) -> Any:
        return _checked(await self.client.get(f"/api{path}", params=params), status)

    async def post(self, path: str, body: Any = None, status: int = 200, **params: Any) -> Any:
        answered = await self.client.post(f"/api{path}", json=body, params=params)
        return _checked(answered, status)

    async def patch(self, path: str, body: Any, status: int = 200) -> Any:
        return _checked(await self.client.patch(f"/api{path}", json=body), status)

    async def delete(self, path: str, status: int = 200, **params: Any) -> Any:
        return _checked(await self.client.delete(f"/api{path}", params=params), status)

    async def events(self, path: str, **headers: str) -> list[dict[str, str]]:
        """Read a stream of events to its end."""
        return [event async for event in self.follow(path, **headers)]

    async def follow(self, path: str, **headers: str) -> AsyncIterator[dict[str, str]]:
        """Follow a stream of events."""
        async with self.client.stream("GET", f"/api{path}", headers=headers) as response:
            assert response.status_code == 200, await response.aread()
            event: dict[str, str] = {}
            async for line in response.aiter_lines():
                if line.startswith(":"):
                    continue
                if line:
                    name, _, value = line.partition(": ")
                    event[name] = value
                elif event:
                    yield event
                    event = {}

    async def run_over(self, run_id: str) -> Any:
        """Wait until a run is over and return it."""
        await self.events(f"/runs/{run_id}/events")
        return await self.get(f"/runs/{run_id}")

    async def plan_until(self, plan_id: str, is_so: Callable[[Any], bool]) -> Any:
        """Wait, by events, until a plan is as wanted."""
        plan = await self.get(f"/plans/{plan_id}")
        if is_so(plan):
            return plan
        async for event in self.follow("/events"):
            if event["event"] == "plan.changed":
                plan = await self.get(f"/plans/{plan_id}")
                if is_so(plan):
                    return plan
        raise AssertionError("the stream of events ended")


def _checked(response: httpx.Response, status: int) -> Any:
    assert response.status_code == status, (response.status_code, response.text)
    return response.json()


@dataclass
class Theatre:
    """A copy of the fortress that servers can be opened on."""

    root: Path
    flags: dict[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def build(cls, root: Path, *, clean: bool = False) -> "Theatre":
        shutil.copytree(FORTRESS / ("clean" if clean else "project"), root)
        Project.init(root)
        return cls(root)

    def opening(self, script: Script) -> Opening:
        home = self.root.parent / "home"
        return Opening(
            providers={"script": script},
            flags={**SCRIPTED, **self.flags},
            environment={"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")},
        )

    @asynccontextmanager
    async def serve(self, script: Script | None = None, **options: Any) -> AsyncIterator[Backstage]:
        """Run a real server on a free port for as long as the context lasts."""
        chosen = script or Script(staff())
        app = create_app(self.root, self.opening(chosen), **options)
        async with served(app) as client:
            watch_receipts(client, app.state.studio)
            yield Backstage(client, app.state.studio, chosen, self.root)
