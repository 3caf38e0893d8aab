"""The run of a consolidation: gather, ask, judge, merge. Each part is journaled.

Decisions are mapped without a model. Only conversations and rules of the world are asked about.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from callboard.choreography.guards import is_interrupted, only_one
from callboard.choreography.stage import Stage
from callboard.core.canonical import Json, digest
from callboard.core.errors import Conflict
from callboard.engine.errors import StepFailed
from callboard.engine.run import Run
from callboard.knowledge.facts import SoftFacts
from callboard.knowledge.graph import Graph
from callboard.library.story.contradiction import Names, read_rules
from callboard.models.traffic.priority import Priority
from callboard.packs.writers_factory.bible import Bible
from callboard.packs.writers_factory.memory.consolidation.judging import find_pairs, judge_pairs
from callboard.packs.writers_factory.memory.consolidation.merging import Digestion, Merger, Report
from callboard.packs.writers_factory.memory.consolidation.turns import (
    ChatTurn,
    in_batches,
    open_beats,
    open_scenes,
    open_turns,
)
from callboard.packs.writers_factory.memory.extraction import (
    Claiming,
    FoundGraph,
    FoundNode,
    TextInterview,
    find_in_text,
    interview_on,
    is_mentioned,
)
from callboard.packs.writers_factory.memory.found import since_scene
from callboard.packs.writers_factory.memory.ingestion import Ingestor
from callboard.packs.writers_factory.memory.mapping import Offer, Origin, OriginKind
from callboard.packs.writers_factory.model import PACK
from callboard.packs.writers_factory.operations import keep_in_run
from callboard.packs.writers_factory.workspace import Workspace, judge_on
from callboard.replies.evidence import normalise
from callboard.store.connection import Connection
from callboard.studio.runnable import Prepared
from callboard.studio.studio import Studio

CONSOLIDATE: Final = f"{PACK}/consolidate"
DOMAIN: Final = "story"
_MOST_ENTRIES: Final = 20_000
_MOST_TURNS: Final = 200


class AlreadyRunning(Conflict):
    """A second consolidation was asked for."""

    code = "already_running"


class Consolidate:
    """The choreography: decisions and conversations become part of the graph."""

    summary = "Bring decisions and conversations into the graph; contradictions wait for you."

    @property
    def parameters(self) -> Mapping[str, str]:
        """The arguments it takes."""
        return {"conversations": "bool, default True: also ask about what was said in chats"}

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check the arguments; only one at a time may start."""
        wanted = bool(raw.get("conversations", True))
        return Prepared(
            {"conversations": wanted}, title="Consolidate memory", guard=one_consolidation(studio)
        )

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Execute one run of it."""
        return await _Consolidation(Stage(studio, run).at(Priority.BACKGROUND)).perform()


def one_consolidation(studio: Studio) -> Callable[[Connection], None]:
    """Return what objects to a second run while one is under way.

    A run whose process has died and which nobody has taken up blocks nothing: what it has merged
    is marked, and what it has not is merged by the next one.
    """
    return only_one(
        CONSOLIDATE,
        lambda run: AlreadyRunning(
            f"A consolidation is already running as {run.id}",
            fix="Wait for it or cancel it.",
            run_id=run.id,
        ),
        lambda run: not is_interrupted(studio, run),
    )


class _Consolidation:
    """One run while it is performed."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.workspace = Workspace(stage.studio)
        self.rules = read_rules(stage.studio.project.folder)
        self.warnings = [self.rules.warning] if self.rules.warning else []

    @property
    def graph(self) -> Graph:
        return self.stage.studio.knowledge.graph(DOMAIN)

    @property
    def facts(self) -> SoftFacts:
        return self.stage.studio.knowledge.facts(DOMAIN)

    async def perform(self) -> Json:
        await keep_in_run(self.stage, "story_bible", "facts of the Story Bible", self._ingest)
        gathered = cast("dict[str, Any]", await self.stage.step("gather", self._gather))
        entry_ids = frozenset(cast("list[str]", gathered["entries"]))
        turns = self._turns(cast("list[str]", gathered["turns"]))
        names = cast("list[str]", gathered["names"])
        interview = interview_on(self.workspace, self.graph, names)
        entries = [each for each in self.facts.unpromoted() if each.id in entry_ids]
        pairs = find_pairs(self.graph, entries, self.rules)
        judge = judge_on(self.stage)
        clashes, unjudged = await judge_pairs(judge, pairs)
        if unjudged:
            # Not judged is not compatible: these decisions stay for the next run.
            told = f"{len(unjudged)} rules of the world wait for a judge: {judge.why}"
            self.warnings.append(told)
            entries = [each for each in entries if each.id not in unjudged]
        found = await self._ask(turns, interview)
        read = [turn for batch, said in found if said is not None for turn in batch]
        digestion = Digestion(
            run_id=self.stage.run.id,
            entries={each.id: each.value for each in entries},
            turn_ids=tuple(turn.run_id for turn in read),
            offers=lambda names: self._offers(found, names),
            rule_clashes=clashes,
            seen=Report(
                events_seen=sum(not turn.is_beat_sheet for turn in turns),
                entries_seen=len(entry_ids),
                skipped=sum(said.dropped for _, said in found if said is not None),
                unread=len(turns) - len(read),
                warnings=tuple(self.warnings),
            ),
            started_ms=int(gathered["at"]),
        )
        return await keep_in_run(
            self.stage, "take_in", "consolidated facts", lambda: self._merge(digestion)
        )

    async def _ingest(self) -> Json:
        """Bring the templates in first: decisions are about the people they name."""
        report = await Ingestor(self.workspace).ingest()
        return {"nodes_added": report.nodes_added, "nodes_updated": report.nodes_updated}

    def _gather(self) -> Json:
        database = self.stage.studio.database
        wants_talk = bool(self.stage.run.args.get("conversations", True))
        turns = (
            database.read(lambda connection: self._open_turns(connection, _MOST_TURNS))
            if wants_talk
            else ()
        )
        return {
            "entries": [each.id for each in self.facts.unpromoted(_MOST_ENTRIES)],
            "turns": [turn.run_id for turn in turns],
            "names": [node.name for node, _ in self.graph.central(60)] if turns else [],
            "at": self.stage.studio.clock.now_ms(),
        }

    def _turns(self, run_ids: Sequence[str]) -> list[ChatTurn]:
        """Return the gathered turns; a run that goes on after its merge finds them marked."""
        if not run_ids:
            return []
        wanted = set(run_ids)
        found = self.stage.studio.database.read(self._open_turns)
        return [turn for turn in found if turn.run_id in wanted]

    def _open_turns(self, connection: Connection, limit: int | None = None) -> tuple[ChatTurn, ...]:
        """Return the turns that wait; before them the beats, if they are new, and scenes."""
        records = self.workspace.records
        text = "\n".join(beat.content for beat in Bible(self.workspace).beats() if beat.content)
        beats = open_beats(connection, records, text)
        scenes = open_scenes(connection, records)[:limit]
        turns = open_turns(connection, limit=limit)
        return (*(() if beats is None else (beats,)), *scenes, *turns)

    async def _ask(
        self, turns: Sequence[ChatTurn], interview: TextInterview
    ) -> list[tuple[list[ChatTurn], FoundGraph | None]]:
        alone = [[turn] for turn in turns if not turn.is_talk]
        talk = [turn for turn in turns if turn.is_talk]
        batches = alone + (
            [[turn] for turn in talk] if interview.is_constrained else in_batches(talk)
        )
        found: list[tuple[list[ChatTurn], FoundGraph | None]] = []
        for batch in batches:
            # Code leads the talk with a small model: only what the writer says is worth asking.
            texts = (turn.message if interview.is_constrained else turn.text for turn in batch)
            text = "\n\n".join(texts)
            key = f"extract/{digest(text)[:16]}"
            try:
                said = await find_in_text(self.stage, key, text, interview)
            except StepFailed as error:
                # What needs no model must not wait for one; the turns stay for the next run.
                self.warnings.append(f"No model could be asked: {error}")
                said = None
            found.append((batch, said))
            if said is not None:
                interview = interview.knowing(each.name for each in said.nodes)
        return found

    def _offers(
        self, found: Sequence[tuple[list[ChatTurn], FoundGraph | None]], names: Names
    ) -> Iterator[Offer]:
        """Make offers one by one: what an earlier turn names, a later one may be about."""
        claiming = Claiming(names, self.rules)
        for batch, said in found:
            for turn, part in share_out(batch, said or FoundGraph()):
                if turn.is_beat_sheet:
                    part = only_people(part)
                elif turn.scene_id:
                    part = since_scene(part, turn.scene_id)
                claims = claiming.claims(part, turn.text, turn.source)
                if said is not None:
                    yield Offer(Origin(OriginKind.TURN, turn.run_id), claims)

    async def _merge(self, digestion: Digestion) -> Json:
        studio = self.stage.studio
        merger = Merger(studio.database, self.workspace.records, self.graph, self.facts)
        report = await merger.merge(digestion, self.rules, studio.clock.now_ms)
        return report.to_json()


def only_people(found: FoundGraph) -> FoundGraph:
    """Return the characters of a finding, without what is said about them."""
    people = (node for node in found.nodes if node.type == "character")
    return FoundGraph(tuple(FoundNode(node.type, node.name) for node in people))


def share_out(batch: Sequence[ChatTurn], found: FoundGraph) -> list[tuple[ChatTurn, FoundGraph]]:
    """Give each finding to the first turn that names it; a relation goes with its first end."""
    plain = [normalise(turn.text).casefold() for turn in batch]

    def home(name: str) -> int:
        return next((at for at, text in enumerate(plain) if is_mentioned(text, name)), 0)

    return [
        (
            turn,
            FoundGraph(
                tuple(node for node in found.nodes if home(node.name) == at),
                tuple(edge for edge in found.edges if max(home(edge.src), home(edge.dst)) == at),
            ),
        )
        for at, turn in enumerate(batch)
    ]
