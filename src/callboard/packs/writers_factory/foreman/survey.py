"""The survey: gathers the session state from the rooms, anew for each turn; opens the Foreman.

Only what a mode is shown is asked for, so that a turn costs no more than it needs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from callboard.core.canonical import Json
from callboard.packs.writers_factory.bible.orders import WorkOrder
from callboard.packs.writers_factory.bible.shapes import act_at, beat_point
from callboard.packs.writers_factory.foreman.foreman import Foreman
from callboard.packs.writers_factory.foreman.state import (
    BundleLine,
    ForemanState,
    MemoryLine,
    NotebookLine,
    OutlineLine,
    OverrideLine,
    PatternLine,
    ProjectLine,
    SceneLine,
    TemplateLine,
    VoiceLine,
)
from callboard.packs.writers_factory.model import SceneMeta, SceneStatus
from callboard.packs.writers_factory.modes import FactoryMode
from callboard.packs.writers_factory.rooms import Rooms
from callboard.packs.writers_factory.scenes.scaffolds import SmartScaffold
from callboard.packs.writers_factory.voice.bundle.reading import (
    GOLD_FILE,
    GUIDE_FILE,
    SHEET_FILE,
    VoiceBundle,
)
from callboard.packs.writers_factory.workspace import Workspace
from callboard.studio.studio import Studio

_ENTRIES: Final = 10
_GRAPH_FACTS: Final = 5
_MEMORY: Final = 10
_ALERTS: Final = 5
_NOTES: Final = 3
_WRITTEN: Final = frozenset({SceneStatus.DRAFTED, SceneStatus.POLISHED})


@dataclass(frozen=True, slots=True)
class Survey:
    """Looks at a project through its rooms."""

    rooms: Rooms
    # What is remembered, for one version of the decisions; sorting thousands takes its time.
    _remembered: dict[int, tuple[tuple[MemoryLine, ...], tuple[str, ...]]] = field(
        default_factory=dict[int, tuple[tuple[MemoryLine, ...], tuple[str, ...]]], repr=False
    )

    def __call__(self, active: Mapping[str, str]) -> ForemanState:
        """Return the state as it is now; `active` is what the writer has open."""
        rooms = self.rooms
        spec = rooms.modes.spec()
        shown = _shown(spec)
        order = rooms.bible.work_order()
        following = rooms.modes.next_mode() or ""
        scenes = rooms.manuscript.scenes() if "voice_bundle" in shown else ()
        scene = _scene_at_work(scenes, active)
        scaffold = rooms.scenes.active_scaffold() if "active_scaffold" in shown else None
        bundle = rooms.voice.bundle() if "voice_context" in shown else None
        return ForemanState(
            mode=spec.id,
            sections=tuple(sorted(shown)),
            rules=spec.file,
            completion_pct=rooms.modes.completion_pct(),
            project=ProjectLine(
                order.project_title, order.protagonist_name, order.genre, order.tone
            ),
            templates=_templates(order),
            unmet=rooms.modes.gate(following).unmet if following else (),
            next_mode=following,
            active=_active(active, scene, scaffold),
            voice=self._voice(spec, bundle, scene, scaffold),
            bundle=_bundle(bundle) if "voice_bundle" in shown else None,
            scene=_scene(scene, rooms) if "scene_context" in shown else None,
            scaffold=_scaffold(scaffold),
            knowledge=rooms.memory.context(_ENTRIES, scene=scene, graph_facts=_GRAPH_FACTS),
            notebooks=tuple(
                NotebookLine(each.id, each.role, each.title) for each in rooms.notebooks.list()
            ),
            memory=self._memory()[0],
            alerts=rooms.health.open_alerts(_ALERTS) if "health_alerts" in shown else (),
            overrides=tuple(
                OverrideLine(each.from_mode, each.to_mode, each.unmet, each.risk)
                for each in rooms.modes.overrides()
                if each.is_active
            ),
            outline=_outline(scenes, rooms) if scenes else OutlineLine(),
        )

    def _voice(
        self,
        spec: FactoryMode,
        bundle: VoiceBundle | None,
        scene: SceneMeta | None,
        scaffold: SmartScaffold | None,
    ) -> VoiceLine:
        rooms = self.rooms
        status = rooms.voice.status()
        patterns = () if bundle is None else bundle.patterns.patterns
        note = "" if scaffold is None else scaffold.emotional_note
        act = "1" if scene is None else act_at(rooms.manuscript.position(scene.scene_id))
        return VoiceLine(
            locked=status.locked,
            winning_agent=status.winning_agent,
            winning_strategy=status.winning_strategy,
            voice_state="" if bundle is None else bundle.voice_state(act, note),
            patterns=tuple(PatternLine(each.name, each.severity.value) for each in patterns),
            steps=status.steps,
            notes=self._memory()[1] if "voice_context" in _shown(spec) else (),
        )

    def _memory(self) -> tuple[tuple[MemoryLine, ...], tuple[str, ...]]:
        """Return what the writer wants remembered, and what was decided about the voice."""
        memory = self.rooms.memory
        version = memory.facts.version()
        if version not in self._remembered:
            self._remembered.clear()
            lines = memory.agent_memory(_MEMORY)
            self._remembered[version] = (
                tuple(MemoryLine(each.kind, each.text) for each in lines),
                tuple(each.text for each in memory.voice_notes(_NOTES)),
            )
        return self._remembered[version]


def _shown(spec: FactoryMode) -> frozenset[str]:
    return frozenset((*spec.always, *spec.if_relevant))


def _templates(order: WorkOrder) -> tuple[TemplateLine, ...]:
    return tuple(
        TemplateLine(
            each.name.value,
            each.status.value,
            each.completed_fields,
            each.missing_fields,
            tuple((check.field, check.reason) for check in each.failed_checks),
        )
        for each in order.templates
    )


def _scene_at_work(scenes: tuple[SceneMeta, ...], active: Mapping[str, str]) -> SceneMeta | None:
    """Return the scene the writer has open, else the first that is not drafted."""
    wanted = (active.get("scene") or "").strip()
    named = next((each for each in scenes if each.scene_id == wanted), None)
    return named or next((each for each in scenes if each.status not in _WRITTEN), None)


def _active(
    given: Mapping[str, str], scene: SceneMeta | None, scaffold: SmartScaffold | None
) -> dict[str, str]:
    active = dict(given)
    if scene is not None:
        active.setdefault("scene", scene.scene_id)
        active.setdefault("chapter", str(scene.chapter))
    number = scaffold.beat_number if scaffold is not None else scene and scene.beat_number
    point = beat_point(number) if number else None
    if point is not None:
        active.setdefault("beat", point.title)
    return active


def _scene(scene: SceneMeta | None, rooms: Rooms) -> SceneLine | None:
    if scene is None:
        return None
    point = beat_point(scene.beat_number) if scene.beat_number else None
    return SceneLine(
        scene.scene_id,
        point.title if point is not None else "",
        scene.pov,
        rooms.manuscript.word_target(scene.scene_id),
        scene.callbacks,
        scene.foreshadowing,
    )


def _scaffold(scaffold: SmartScaffold | None) -> dict[str, Json] | None:
    if scaffold is None:
        return None
    fields = scaffold.to_json()
    fields["callbacks"] = [str(each) for each in scaffold.callbacks]
    fields["foreshadowing"] = [str(each) for each in scaffold.foreshadowing]
    return fields


def _bundle(bundle: VoiceBundle | None) -> BundleLine | None:
    if bundle is None:
        return None
    return BundleLine(
        f"{bundle.path}/{GOLD_FILE}",
        f"{bundle.path}/{SHEET_FILE}",
        f"{bundle.path}/{GUIDE_FILE}",
        bundle.summary,
        bundle.gold_excerpt,
        bundle.antipattern_excerpt,
        bundle.one_line,
    )


def _outline(scenes: tuple[SceneMeta, ...], rooms: Rooms) -> OutlineLine:
    coming = next((each for each in scenes if each.status not in _WRITTEN), None)
    status = "" if coming is None else coming.status.value
    if coming is not None and coming.status is SceneStatus.PLANNED:
        waiting = rooms.scenes.scaffold(coming.scene_id)
        status = "scaffolded" if waiting is not None else status
    return OutlineLine(
        planned=len(scenes),
        drafted=sum(each.status in _WRITTEN for each in scenes),
        polished=sum(each.status is SceneStatus.POLISHED for each in scenes),
        next_scene="" if coming is None else coming.scene_id,
        next_status=status,
    )


def open_foreman(workspace: Workspace, rooms: Rooms | None = None) -> Foreman:
    """Return the Foreman of a project; rooms that are open already are shared."""
    opened = rooms or Rooms.open(workspace)
    modes = {mode.id: mode.file for mode in opened.modes.table.modes}
    return Foreman(workspace, Survey(opened), opened, modes)


def foreman_of(studio: Studio) -> Foreman:
    """Return the Foreman of an open project."""
    return open_foreman(Workspace(studio))
