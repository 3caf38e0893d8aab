"""Memory: the Foreman's decisions, and what of them a prompt is given. Never forgets the flaw.

What is computed is kept for one version of the facts and the graph; whatever changes either, in
this process or another, makes it new.
"""

from dataclasses import dataclass
from typing import Final

from callboard.knowledge.fact_rows import KBEntry
from callboard.knowledge.facts import SoftFacts
from callboard.knowledge.graph import Graph, Subgraph
from callboard.library.story.contradiction import Names, ScenePoint, read_rules
from callboard.packs.writers_factory.bible.project import ProjectRecord
from callboard.packs.writers_factory.memory.decisions import (
    MemoryCategory,
    read_category,
    read_decision,
)
from callboard.packs.writers_factory.memory.hard_facts import (
    HardFact,
    KnownDecisions,
    choose_lines,
    facts_of,
    find_disagreements,
)
from callboard.packs.writers_factory.memory.ledger import ConflictLedger
from callboard.packs.writers_factory.memory.scenery import (
    FOUNDATION,
    RECENT,
    KnowledgeLine,
    RecalledLine,
    Scenery,
    TimelineItem,
    present_ids,
    rank_foundation,
    scene_subgraph,
    take,
)
from callboard.packs.writers_factory.model import SceneMeta
from callboard.packs.writers_factory.workspace import Workspace

DOMAIN: Final = "story"
DEFAULT_LIMIT: Final = 20
GRAPH_FACTS: Final = 5
MEMORY_LINES: Final = 10
_REMEMBERED: Final = 32
_TIMELINE: Final = 500


@dataclass(frozen=True, slots=True)
class _Recalling:
    """Everything a context depends on."""

    facts: int
    graph: int
    protagonist: str
    limit: int
    graph_facts: int
    all_foundational: bool
    scene: SceneMeta | None


class Memory:
    """What was decided about a book and how its writer likes to work."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project; reads nothing yet."""
        self._workspace = workspace
        self._ledger = ConflictLedger(workspace.records)
        self._project = ProjectRecord(workspace)
        self._contexts: dict[_Recalling, tuple[KnowledgeLine, ...]] = {}
        self._names: tuple[int, Names] = (-1, Names())

    @property
    def graph(self) -> Graph:
        """The hard facts of the story."""
        return self._workspace.studio.knowledge.graph(DOMAIN)

    @property
    def facts(self) -> SoftFacts:
        """The decisions as the knowledge room keeps them."""
        return self._workspace.studio.knowledge.facts(DOMAIN)

    async def save_decision(self, category: str, key: str, value: str, source: str = "") -> KBEntry:
        """Remember a decision; one of the same category and key is replaced and kept in history.

        Saying the same again changes nothing.
        """
        decision = read_decision(category, key, value, source)
        known = self.facts.get(decision.category, decision.key)
        if known is not None and known.value == decision.value and known.source == decision.source:
            return known
        return await self.facts.save(
            decision.category, decision.key, decision.value, decision.source
        )

    async def forget(self, category: str, key: str) -> bool:
        """Forget a decision and its history; say whether there was one."""
        return await self.facts.delete(read_category(category).value, key)

    def decisions(
        self, category: str | None = None, limit: int | None = None
    ) -> tuple[KBEntry, ...]:
        """Return what was decided, newest first."""
        chosen = None if category is None else read_category(category).value
        return self.facts.list(chosen, limit)

    def context(
        self,
        limit: int = DEFAULT_LIMIT,
        *,
        scene: SceneMeta | None = None,
        graph_facts: int = GRAPH_FACTS,
        all_foundational: bool = True,
    ) -> tuple[KnowledgeLine, ...]:
        """Return what a prompt is to know: the foundation, then the newest, then hard facts.

        With `all_foundational` no character or constraint is ever left out, whatever the limit;
        without it the first `limit` lines are taken, the protagonist's flaw and lie first of all.
        Where a decision contradicts the graph the decision is shown and a conflict is raised.
        """
        asked = _Recalling(
            self.facts.version(),
            self.graph.version(),
            self._project.read().protagonist_name,
            limit,
            graph_facts,
            all_foundational,
            scene,
        )
        known = self._contexts.get(asked)
        if known is None:
            if len(self._contexts) >= _REMEMBERED:
                self._contexts.clear()
            known = self._contexts[asked] = self._compute(asked)
        return known

    def _compute(self, asked: _Recalling) -> tuple[KnowledgeLine, ...]:
        scene, graph = asked.scene, self.graph
        present = () if scene is None else present_ids(graph, scene.characters)
        scenery = Scenery(asked.protagonist, present, graph.ranks(), self.names())
        categories = [category.value for category in FOUNDATION]
        foundation = rank_foundation(self.facts.list(categories), scenery)
        room = max(0, asked.limit - (len(foundation) if asked.all_foundational else 0))
        recent = self.facts.list([category.value for category in RECENT], room) if room else ()
        chosen = take(foundation, recent, asked.limit, all_foundational=asked.all_foundational)
        lines = tuple(
            KnowledgeLine(entry.category, entry.key, entry.value, entry.source) for entry in chosen
        )
        if asked.graph_facts <= 0:
            return lines
        return (*lines, *self._hard_lines(asked, (*foundation, *recent)))

    def _hard_lines(
        self, asked: _Recalling, entries: tuple[KBEntry, ...]
    ) -> tuple[KnowledgeLine, ...]:
        around = self._around(asked)
        if not around.nodes:
            return ()
        scene = asked.scene
        point = None if scene is None else ScenePoint(scene.chapter, scene.scene)
        names = self.names()
        facts = tuple(facts_of(around, point))
        # Newest last, so that of two decisions about one thing the newer one counts.
        ordered = sorted((*entries, *self._others(entries)), key=lambda each: each.updated_at)
        about = {
            (node_id, attribute): entry
            for entry in ordered
            for node_id, attribute in (names.split_key(entry.key),)
            if node_id is not None and attribute
        }
        known = KnownDecisions(about, frozenset(entry.key for entry in ordered))
        self._raise(known, facts)
        return choose_lines(facts, known, asked.graph_facts)

    def _others(self, entries: tuple[KBEntry, ...]) -> tuple[KBEntry, ...]:
        """Return recent decisions that found no slot but still speak about the story."""
        seen = {entry.id for entry in entries}
        names = [category.value for category in (*RECENT, MemoryCategory.CONTINUITY)]
        return tuple(each for each in self.facts.list(names, _TIMELINE) if each.id not in seen)

    def _around(self, asked: _Recalling) -> Subgraph:
        if asked.scene is not None:
            return scene_subgraph(self.graph, asked.scene)
        hero = self.graph.find(asked.protagonist, "character") if asked.protagonist else None
        return Subgraph((), ()) if hero is None else self.graph.subgraph((hero.id,), hops=1)

    def _raise(self, known: KnownDecisions, facts: tuple[HardFact, ...]) -> None:
        studio = self._workspace.studio
        rules = read_rules(studio.project.folder)
        found = find_disagreements(facts, known, rules, studio.clock.now_ms())
        fresh = [each for each in found if self._ledger.find(each.id) is None]
        for conflict in fresh:
            # Not waited for: whoever assembles a prompt must not wait for a disk.
            studio.database.submit(
                lambda connection, each=conflict: self._ledger.raise_in(connection, each)
            )

    def agent_memory(self, limit: int = MEMORY_LINES) -> tuple[RecalledLine, ...]:
        """Return how the writer wants to work: corrections first, then the newest of the rest."""
        room = max(0, limit)
        first = self.facts.list(MemoryCategory.CORRECTION.value, room)
        others = [MemoryCategory.CONTINUITY.value, MemoryCategory.PREFERENCE.value]
        rest = self.facts.list(others, room - len(first))
        return tuple(_memory_line(entry) for entry in (*first, *rest))

    def corrections(self, limit: int = MEMORY_LINES) -> tuple[RecalledLine, ...]:
        """Return what the writer put right, newest first."""
        return self._lines(MemoryCategory.CORRECTION, limit)

    def preferences(self, limit: int = MEMORY_LINES) -> tuple[RecalledLine, ...]:
        """Return what the writer likes, newest first."""
        return self._lines(MemoryCategory.PREFERENCE, limit)

    def voice_notes(self, limit: int = MEMORY_LINES) -> tuple[RecalledLine, ...]:
        """Return what was decided about the voice, newest first."""
        return self._lines(MemoryCategory.VOICE, limit)

    def _lines(self, category: MemoryCategory, limit: int) -> tuple[RecalledLine, ...]:
        return tuple(_memory_line(each) for each in self.facts.list(category.value, max(0, limit)))

    def timeline(self, limit: int = _TIMELINE) -> tuple[TimelineItem, ...]:
        """Return every decision with its source, newest first, also those that were replaced."""
        items: list[TimelineItem] = []
        for entry in self.facts.list(limit=max(0, limit)):
            items.append(
                TimelineItem(
                    entry.updated_at,
                    entry.category,
                    entry.key,
                    entry.value,
                    entry.source,
                    entry.state.value,
                    True,
                )
            )
            items += [
                TimelineItem(
                    old.since,
                    entry.category,
                    entry.key,
                    old.value,
                    old.source,
                    old.state.value,
                    False,
                )
                for old in self.facts.history(entry.id)
            ]
        return tuple(sorted(items, key=lambda item: item.at, reverse=True))

    def scene_subgraph(self, scene: SceneMeta) -> Subgraph:
        """Return the part of the graph a scene is written from."""
        return scene_subgraph(self.graph, scene)

    def names(self) -> Names:
        """Return what everything in the story is called."""
        version = self.graph.version()
        if self._names[0] != version:
            self._names = version, Names(self.graph.nodes())
        return self._names[1]


def _memory_line(entry: KBEntry) -> RecalledLine:
    return RecalledLine(entry.category, entry.value, entry.key, entry.source)
