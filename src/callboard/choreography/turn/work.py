"""Work: everything one turn has in its hands while it is performed. It decides nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from callboard.choreography.stage import Stage
from callboard.choreography.turn.asker import NodeAsker
from callboard.choreography.turn.domain import Domain, Row, Who
from callboard.choreography.turn.domain_parts import EntityType, ProfileView, TurnMode
from callboard.choreography.turn.memory import TalkState
from callboard.choreography.turn.sections import (
    CONSTRAINTS,
    PREFERENCES,
    SAFETY,
    Hidden,
    PromptSection,
)
from callboard.choreography.turn.shapes import Gesture, StepResult, ThinkOutput
from callboard.core.canonical import Json
from callboard.core.events import Emitted
from callboard.core.vocabulary import Entity
from callboard.knowledge.entities import EntityRegistry, StoredContent, load_content


@dataclass
class TurnWork:
    """One message being handled."""

    stage: Stage
    domain: Domain
    who: Who
    turn: int
    message: str
    mode: TurnMode
    registry: EntityRegistry
    state: TalkState
    asker: NodeAsker
    # What a button said, where the message only words it.
    gesture: Gesture | None = None
    # Drafts made or saved in this turn, by temporary id. Stored when the turn is closed.
    contents: dict[str, StoredContent] = field(default_factory=dict[str, StoredContent])
    results: dict[str, StepResult] = field(default_factory=dict[str, StepResult])
    plan: ThinkOutput | None = None
    assumptions: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    # What was planned and is not even tried.
    left_out: list[str] = field(default_factory=list[str])
    # Drafts that a new one takes the place of.
    revises: tuple[str, ...] = ()
    _profiles: dict[tuple[str, str], ProfileView] = field(
        default_factory=dict[tuple[str, str], ProfileView]
    )

    @property
    def hidden(self) -> Hidden:
        """What no prompt may show."""
        return Hidden.of(self.registry, self.state.gone)

    @property
    def calls_left(self) -> int:
        """How many model calls the mode still allows."""
        return self.mode.max_calls - self.asker.spent

    def show(self, name: str, **data: Json) -> None:
        """Tell whoever watches what happens; it is not stored, the steps themselves are."""
        self.stage.run.show(Emitted(name, {"turn": self.turn, **data}))

    def entity_type(self, table: str) -> EntityType | None:
        """Return the kind of thing a table's rows are, if they are tracked one by one."""
        return next((each for each in self.domain.entity_types() if each.table == table), None)

    def label(self, kind: str, row: Row) -> str:
        """Return how people name a row."""
        try:
            told = self.domain.label_for(kind, row)
        except (KeyError, StopIteration):
            told = ""
        named = (row.get(name) for name in ("name", "title", "label", "description"))
        return told or str(next((each for each in named if each), "") or "")

    def content(self, temp_id: str) -> StoredContent | None:
        """Return a draft of this turn or an earlier one."""
        if temp_id in self.contents:
            return self.contents[temp_id]
        entity = self.registry.find(temp_id)
        names = [temp_id, *([] if entity is None else [entity.id])]
        names += [old for old, meant in self.registry.aliases.items() if meant in names]
        database, session = self.stage.studio.database, self.who.session_id
        for name in names:
            found = database.read(
                lambda connection, name=name: load_content(connection, session, name)
            )
            if found is not None:
                return found
        return None

    async def profile(self, subdomain: str = "") -> ProfileView:
        """Return what prompts are told about the user, as much as the mode wants."""
        key = (self.mode.profile, subdomain)
        if key not in self._profiles:
            self._profiles[key] = await self.domain.profile(self.who, self.mode.profile, subdomain)
        return self._profiles[key]

    async def preference_sections(self, subdomain: str = "") -> list[PromptSection]:
        """Return what the user wants and never wants; the latter is not up for trimming."""
        view = await self.profile(subdomain)
        compact = view
        if self.mode.profile in ("full", "creative"):
            compact = await self.domain.profile(self.who, "compact", subdomain)
        return [
            PromptSection(SAFETY, view.pinned, is_pinned=True),
            # Shortened before rows are, and never left out.
            PromptSection(PREFERENCES, view.text, is_pinned=True, shorter=(lambda: compact.text,)),
            self.constraint_section(),
        ]

    def constraint_section(self) -> PromptSection:
        """Return what is avoided in this session."""
        lines = [f"- {each.replace(':', ': ')}" for each in self.state.constraints]
        return PromptSection(CONSTRAINTS, "\n".join(lines), is_pinned=True)

    def shown_entities(self) -> tuple[Entity, ...]:
        """Return the things in play as the mode shows them, held ones first, few per kind."""
        most = {each.name: each.in_context for each in self.domain.entity_types()}
        counts: dict[str, int] = {}
        shown: list[Entity] = []
        in_play = sorted(self.registry.in_play(), key=lambda each: not each.pinned)
        for entity in in_play:
            counts[entity.type] = counts.get(entity.type, 0) + 1
            cap = most.get(entity.type)
            if cap is None or counts[entity.type] <= cap or entity.pinned:
                shown.append(entity)
        return tuple(shown)

    def rows_by_table(self, results: Sequence[StepResult]) -> Mapping[str, list[dict[str, Any]]]:
        """Return the rows some results brought, by table."""
        tables: dict[str, list[dict[str, Any]]] = {}
        for result in results:
            table, rows = result.result.get("table"), result.result.get("rows")
            if isinstance(table, str) and isinstance(rows, list):
                tables.setdefault(table, []).extend(rows)  # pyright: ignore[reportUnknownArgumentType]
        return tables
