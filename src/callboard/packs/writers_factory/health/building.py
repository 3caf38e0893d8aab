"""Building: the view of the manuscript from the Story Bible, the scene files and the graph."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.knowledge import Graph, Node
from callboard.library.story.contradiction import states_of
from callboard.packs.writers_factory.bible import Bible, beat_points
from callboard.packs.writers_factory.health.records import HealthRecords, symbols_of
from callboard.packs.writers_factory.health.values import FlawChallenge
from callboard.packs.writers_factory.health.view import (
    CausedEvent,
    CharacterView,
    Death,
    ManuscriptView,
    SceneView,
    Setup,
    SymbolView,
)
from callboard.packs.writers_factory.manuscript import WRITTEN, Manuscript, parse_scene_id
from callboard.packs.writers_factory.model import SceneMeta, scene_id
from callboard.packs.writers_factory.workspace import Workspace

_DOMAIN: Final = "story"
_SCENE_NODE: Final = "scene:"
_LIFE: Final = ("status", "life_status", "vital_status", "life", "alive", "dead", "fate")
_DEAD: Final = frozenset({"dead", "deceased", "died", "killed", "murdered", "false", "slain"})
_NOT_NAMED: Final = ("background:", "extra:", "extras:")
_NEW: Final = "new:"


def build_view(workspace: Workspace) -> ManuscriptView:
    """Read everything the checks look at, once."""
    return _Building(workspace).view()


class _Building:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.bible = Bible(workspace)
        self.manuscript = Manuscript(workspace)
        self.kept = HealthRecords(workspace)
        self.graph: Graph = workspace.studio.knowledge.graph(_DOMAIN)
        self.nodes = {node.id: node for node in self.graph.nodes()}
        self.edges = self.graph.edges()

    def view(self) -> ManuscriptView:
        project, hero = self.bible.project(), self.bible.protagonist
        flaw = _text(hero.get("fatal_flaw"))
        metas = [meta for meta in self.manuscript.scenes() if meta.status in WRITTEN]
        scenes = tuple(self._scenes(metas, flaw))
        return ManuscriptView(
            scenes=scenes,
            beats=beat_points(),
            planned_words=self.manuscript.planned_words(),
            protagonist=project.protagonist_name,
            flaw=flaw,
            lie=_text(hero.get("the_lie")),
            theme_statement=_text(self.bible.theme.get("theme_statement")),
            characters=tuple(self._characters(scenes)),
            symbols=tuple(self._symbols(scenes)),
            places=tuple(node.name for node in self._typed("location")),
            within=self._within(),
            rules=self.bible.rules,
            corrections=tuple(self._corrections()),
            setups=tuple(self._setups()),
            causes=tuple(self._causes()),
            deaths=tuple(self._deaths(scenes)),
            overrides=self.kept.overrides(),
        )

    def _scenes(self, metas: Iterable[SceneMeta], flaw: str) -> Iterator[SceneView]:
        judgements, corrections = self.kept.judgements(), self.kept.corrections()
        challenges = self.kept.writer_challenges()
        for meta in metas:
            name = meta.scene_id
            scene = _plain(meta, self.manuscript.text(name))
            told = _holding(judgements.get(name), scene.content_hash)
            right = corrections.get(name, {})
            tags = {use.name.casefold(): use for use in symbols_of(told.get("symbols"))}
            tags |= {use.name.casefold(): use for use in meta.symbols}
            tension = right.get("tension", meta.tension)
            is_asked = bool(told) and told.get("flaw") == flaw
            found = told.get("challenge") if is_asked else None
            challenge = None if found is None else FlawChallenge.from_json(found)
            yield replace(
                scene,
                tension=tension if tension is not None else told.get("tension"),
                symbols=symbols_of(right["symbols"]) if "symbols" in right else (*tags.values(),),
                challenge=challenges.get(name, challenge),
                is_judged=is_asked or name in challenges,
            )

    def _characters(self, scenes: Iterable[SceneView]) -> Iterator[CharacterView]:
        ranks = self.graph.ranks()
        given = self.kept.functions()
        around: dict[str, set[str]] = {}
        for edge in self.edges:
            if not edge.dst_domain:
                around.setdefault(edge.src, set()).add(edge.dst)
                around.setdefault(edge.dst, set()).add(edge.src)
        known: set[str] = set()
        for node in self._typed("character"):
            known.update(name.casefold() for name in node.answers_to())
            beside = (self.nodes.get(each) for each in around.get(node.id, ()))
            yield CharacterView(
                node.name,
                node.aliases,
                *_function(given.get(node.name.casefold()), node.attrs),
                rank=ranks.get(node.id, 0.0),
                neighbours=frozenset(each.name for each in beside if each is not None),
            )
        listed = dict.fromkeys(name for scene in scenes for name in scene.characters)
        hero = self.bible.project().protagonist_name
        for name in dict.fromkeys((*([hero] if hero else ()), *listed)):
            if name.casefold() not in known:
                yield CharacterView(name, (), *_function(given.get(name.casefold()), {}))

    def _symbols(self, scenes: Iterable[SceneView]) -> Iterator[SymbolView]:
        found: dict[str, SymbolView] = {}
        for node in (*self._typed("symbol"), *self._typed("motif")):
            found.setdefault(node.name.casefold(), SymbolView(node.name, node.aliases))
        declared = self.bible.theme.get("symbols") or ()
        names = [declared] if isinstance(declared, str) else list(declared)
        names += [use.name for scene in scenes for use in scene.symbols]
        aliases = {a.casefold() for each in found.values() for a in each.aliases}
        for name in names:
            if name.strip() and name.casefold() not in aliases:
                found.setdefault(name.casefold(), SymbolView(name.strip()))
        yield from found.values()

    def _within(self) -> dict[str, str]:
        return {
            self.nodes[edge.src].name: self.nodes[edge.dst].name
            for edge in self.edges
            if edge.type in ("located_in", "part_of")
            and all(self._is_place(node_id) for node_id in (edge.src, edge.dst))
        }

    def _is_place(self, node_id: str) -> bool:
        node = self.nodes.get(node_id)
        return node is not None and node.type == "location"

    def _corrections(self) -> Iterator[str]:
        facts = self.workspace.studio.knowledge.facts(_DOMAIN)
        for entry in facts.list(("correction", "continuity")):
            key = entry.key.replace("_", " ")
            is_named = any(word in entry.value.casefold() for word in key.casefold().split())
            yield entry.value if is_named else f"{key}: {entry.value}"

    def _setups(self) -> Iterator[Setup]:
        paid = {edge.dst: _scene_of(edge.src) for edge in self.edges if edge.type == "pays_off"}
        for edge in self.edges:
            planted, node = _scene_of(edge.src), self.nodes.get(edge.dst)
            if edge.type == "plants" and planted and node is not None:
                yield Setup(node.name, planted, paid.get(edge.dst))

    def _causes(self) -> Iterator[CausedEvent]:
        for edge in self.edges:
            cause, effect = self.nodes.get(edge.src), self.nodes.get(edge.dst)
            if edge.type != "causes" or cause is None or effect is None:
                continue
            where, then = self._scene_of_event(cause), self._scene_of_event(effect)
            if where and then:
                yield CausedEvent(cause.name, where, effect.name, then)

    def _scene_of_event(self, node: Node) -> str:
        for named in (node.attrs.get("scene"), node.first_seen, node.attrs.get("since_scene")):
            if isinstance(named, str) and parse_scene_id(named):
                return named
        return next(
            (
                scene
                for edge in self.edges
                if node.id in (edge.src, edge.dst)
                and (scene := _scene_of(edge.src) or _scene_of(edge.dst))
            ),
            "",
        )

    def _deaths(self, scenes: tuple[SceneView, ...]) -> Iterator[Death]:
        for node in self._typed("character"):
            for attribute in _LIFE:
                for state in states_of(node.attrs, attribute):
                    since = state.scope.since
                    if since is None or not _tells_death(attribute, state.value):
                        continue
                    until = [s.scene_id for s in scenes if since.last >= (s.chapter, s.scene)]
                    named = scene_id(since.chapter, since.scene) if since.scene else until[-1:]
                    yield from (Death(node.name, each) for each in _listed(named))

    def _typed(self, kind: str) -> list[Node]:
        return [node for node in self.nodes.values() if node.type == kind]


def _tells_death(attribute: str, value: Json) -> bool:
    said = str(value).strip().casefold()
    return said == "true" if attribute == "dead" else said in _DEAD


def _listed(named: str | list[str]) -> list[str]:
    return [named] if isinstance(named, str) else named


def _plain(meta: SceneMeta, text: str) -> SceneView:
    return SceneView(
        scene_id=meta.scene_id,
        chapter=meta.chapter,
        scene=meta.scene,
        text=text,
        word_count=meta.word_count or len(text.split()),
        title=meta.title,
        story_time=meta.story_time,
        location=meta.location,
        characters=tuple(_named(meta.characters)),
        beat_number=meta.beat_number,
        callbacks=meta.callbacks,
        foreshadowing=meta.foreshadowing,
    )


def _named(listed: Iterable[str]) -> Iterator[str]:
    """Go through the people who are there by name; extras are not."""
    for name in listed:
        lower = name.strip().casefold()
        if lower and not lower.startswith(_NOT_NAMED):
            yield name.strip()[len(_NEW) :].strip() if lower.startswith(_NEW) else name.strip()


def _holding(stored: dict[str, Any] | None, content_hash: str) -> dict[str, Any]:
    """Return a judgement if it is of this very text."""
    return stored if stored is not None and stored["content_hash"] == content_hash else {}


def _function(given: Mapping[str, Any] | None, attrs: Mapping[str, Json]) -> tuple[str, str]:
    """Return what somebody is for: the writer's word, the graph's, a model's."""
    own = attrs.get("function") or attrs.get("role")
    if given is not None and (given["by"] == "writer" or not own):
        return str(given["function"]), str(given["note"])
    word = str(own or "").strip().casefold().replace(" ", "_").replace("-", "_")
    return word, ""


def _scene_of(node_id: str) -> str:
    name = node_id.removeprefix(_SCENE_NODE)
    return name if node_id.startswith(_SCENE_NODE) and parse_scene_id(name) else ""


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
