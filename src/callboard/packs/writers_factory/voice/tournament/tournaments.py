"""Tournaments as they are kept: what was asked, who took part, what came of it.

They are never overwritten: a new one stands beside the earlier ones, and all can be compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from callboard.core.canonical import Json, digest
from callboard.core.codec import Closed
from callboard.core.errors import Conflict, InvalidInput, NotFound
from callboard.core.vocabulary import RunState
from callboard.packs.writers_factory.voice.strategies import canonical_strategy
from callboard.packs.writers_factory.voice.tournament.variants import Variant, VariantState
from callboard.packs.writers_factory.workspace import Workspace

KIND: Final = "tournament"
LEAST_USABLE: Final = 2
_OVER: Final = {RunState.FAILED: "failed", RunState.CANCELLED: "cancelled"}


class TournamentState(StrEnum):
    """How far a tournament has come."""

    PENDING = "pending"
    RUNNING = "running"
    READY = "ready"
    WINNER_SELECTED = "winner_selected"
    BUNDLED = "bundled"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Pick(Closed):
    """How the writer names a variant: by its label, its id, or by agent and strategy."""

    # The id of a model may hold the paths of files.
    agent: Annotated[str, Field(max_length=2_000)] = ""
    strategy: Annotated[str, Field(max_length=60)] = ""
    variant_index: Annotated[int | None, Field(ge=1, le=1_000)] = None
    variant_id: Annotated[str, Field(max_length=2_300)] = ""
    label: Annotated[str, Field(max_length=4)] = ""


@dataclass(frozen=True, slots=True)
class Tournament:
    """One tournament; `unusable` says which agents could not take part, and why."""

    id: str
    run_id: str
    test_prompt: str
    context: str = ""
    agents: tuple[str, ...] = ()
    strategies: tuple[str, ...] = ()
    state: TournamentState = TournamentState.PENDING
    variants: tuple[Variant, ...] = ()
    unusable: Mapping[str, str] = field(default_factory=dict[str, str])
    seed: str = ""
    winner: str = ""
    notes: str = ""
    error: str = ""
    created_at: int = 0

    @property
    def usable(self) -> tuple[Variant, ...]:
        """The variants that can be chosen."""
        return tuple(each for each in self.variants if each.is_usable)

    @property
    def failed(self) -> tuple[Variant, ...]:
        """The variants that were given up."""
        return tuple(each for each in self.variants if each.state is VariantState.FAILED)

    @property
    def labels(self) -> dict[str, Variant]:
        """The usable variants under letters, in an order that tells nothing about them."""
        shuffled = sorted(self.usable, key=lambda each: digest([self.seed or self.id, each.id]))
        return {_letter(number): each for number, each in enumerate(shuffled)}

    @property
    def winning(self) -> Variant | None:
        """The variant the writer chose."""
        return next((each for each in self.variants if each.id == self.winner), None)

    def presented(self, *, reveal: bool | None = None) -> list[dict[str, Json]]:
        """Return the variants for the writer's eyes: shuffled, and nameless until one is chosen."""
        is_open = bool(self.winner) if reveal is None else reveal
        hidden = ("id", "agent", "strategy", "index", "judge")
        shown: list[dict[str, Json]] = []
        for label, variant in self.labels.items():
            told = variant.to_json()
            if not is_open:
                told = {name: value for name, value in told.items() if name not in hidden}
            shown.append({"label": label, **told})
        return shown

    def find(self, pick: Pick) -> Variant:
        """Return the variant that is meant, or say why it cannot be chosen."""
        found = self._named(pick)
        if not found.is_usable:
            raise Conflict(
                f"{found.id} cannot win: {found.error or found.state}",
                fix=f"Usable: {', '.join(each.id for each in self.usable) or 'none'}.",
                variant=found.id,
            )
        if pick.variant_index is not None and pick.variant_index != found.index:
            raise InvalidInput(
                f"Variant index {pick.variant_index} does not fit: {found.strategy} is number"
                f" {found.index} among the variants of {found.agent}",
                fix="Leave the index out, or name the strategy it belongs to.",
                variant=found.id,
            )
        return found

    def _named(self, pick: Pick) -> Variant:
        if pick.label:
            found = self.labels.get(pick.label.strip().upper())
        elif pick.variant_id:
            found = next((each for each in self.variants if each.id == pick.variant_id), None)
        else:
            wanted = canonical_strategy(pick.strategy)
            found = next(
                (
                    each
                    for each in self.variants
                    if each.strategy == wanted and _is_agent(each.agent, pick.agent)
                ),
                None,
            )
        if found is None:
            raise NotFound(
                f"Tournament {self.id} has no such variant",
                fix=f"Labels: {', '.join(self.labels)}; or name an agent of"
                f" {', '.join(self.agents)} and a strategy of {', '.join(self.strategies)}.",
                tournament=self.id,
            )
        return found

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {
            "id": self.id,
            "run_id": self.run_id,
            "test_prompt": self.test_prompt,
            "context": self.context,
            "agents": list(self.agents),
            "strategies": list(self.strategies),
            "state": self.state.value,
            "variants": [each.to_json() for each in self.variants],
            "unusable": dict(self.unusable),
            "seed": self.seed,
            "winner": self.winner,
            "notes": self.notes,
            "error": self.error,
            "created_at": self.created_at,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Tournament":
        """Read the stored shape."""
        read: dict[str, Any] = {
            "agents": tuple(data["agents"]),
            "strategies": tuple(data["strategies"]),
            "variants": tuple(Variant.from_json(each) for each in data["variants"]),
            "state": TournamentState(data["state"]),
        }
        return cls(**{**data, **read})


class Tournaments:
    """The tournaments of a project."""

    def __init__(self, workspace: Workspace) -> None:
        """Take the open project."""
        self._workspace = workspace

    def all(self) -> tuple[Tournament, ...]:
        """Return every tournament, oldest first."""
        held = self._workspace.records.all(KIND).values()
        return tuple(self._as_it_is(Tournament.from_json(body)) for body in held)

    def get(self, tournament_id: str) -> Tournament:
        """Return one tournament."""
        body = self._workspace.records.get(KIND, tournament_id)
        if body is None:
            known = ", ".join(self._workspace.records.all(KIND)) or "none"
            raise NotFound(
                f"There is no tournament {tournament_id!r}",
                fix=f"Tournaments: {known}.",
                tournament=tournament_id,
            )
        return self._as_it_is(Tournament.from_json(body))

    async def open(self, tournament: Tournament) -> None:
        """Store a new tournament; one that is there already stays as it is."""

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            return body or tournament.to_json()

        await self._workspace.records.change(KIND, tournament.id, work)

    async def keep(self, tournament_id: str, variant: Variant) -> None:
        """Store how far one variant has come."""

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            known = Tournament.from_json(body or {})
            others = {each.id: each for each in known.variants}
            others[variant.id] = variant
            return replace(known, variants=tuple(others.values())).to_json()

        await self._workspace.records.change(KIND, tournament_id, work)

    async def mark(self, tournament_id: str, **changes: Any) -> Tournament:
        """Store another state, or whatever else has changed."""

        def work(body: dict[str, Any] | None) -> dict[str, Json]:
            return replace(Tournament.from_json(body or {}), **changes).to_json()

        stored = await self._workspace.records.change(KIND, tournament_id, work)
        return Tournament.from_json(stored)

    def _as_it_is(self, tournament: Tournament) -> Tournament:
        """Return a tournament with the state its run has come to, told by nobody else."""
        if tournament.state not in (TournamentState.PENDING, TournamentState.RUNNING):
            return tournament
        run = self._workspace.studio.engine.load(tournament.run_id)
        ended = _OVER.get(run.state)
        if ended is None:
            return tournament
        why = run.error.message if run.error is not None else tournament.error
        return replace(tournament, state=TournamentState(ended), error=why)


def tournament_id_of(run_id: str) -> str:
    """Return the id of the tournament a run holds."""
    return f"tour_{run_id.partition('_')[2]}"


def planned_variants(agents: Sequence[str], strategies: Sequence[str]) -> tuple[Variant, ...]:
    """Return the variants of a tournament before anybody has written one."""
    return tuple(
        Variant(agent, strategy, number)
        for agent in agents
        for number, strategy in enumerate(strategies, start=1)
    )


def _is_agent(agent: str, named: str) -> bool:
    return agent == named or agent.partition(":")[2] == named


def _letter(number: int) -> str:
    first, second = divmod(number, 26)
    return (chr(64 + first) if first else "") + chr(65 + second)
