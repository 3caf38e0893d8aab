"""Closing a turn: ageing, and everything a session remembers stored in one transaction."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from callboard.choreography.turn.remembering.rows import finish_turn, save_state
from callboard.choreography.turn.remembering.state import SessionState
from callboard.choreography.turn.shapes import TurnOutcome
from callboard.core.canonical import Json
from callboard.core.vocabulary import EntityState
from callboard.knowledge.entities import (
    Aged,
    Registry,
    StoredContent,
    archive_content,
    save_content,
    save_registry,
)
from callboard.store.connection import Connection


@dataclass(frozen=True, slots=True)
class Closing:
    """What is stored at the end of a turn."""

    session_id: str
    turn: int
    registry: Registry
    state: SessionState
    contents: tuple[StoredContent, ...]
    outcome: TurnOutcome
    trace: dict[str, Json]
    aged: Aged
    interrupted: tuple[int, ...] = ()

    def writer(self, now: int) -> Callable[[Connection], None]:
        """Return the work that stores all of it, or nothing."""

        def work(connection: Connection) -> None:
            for content in self.contents:
                save_content(connection, self.session_id, content, now)
            for entity in self.aged.collected:
                for name in (entity.id, *_old_ids(self.registry, entity.id)):
                    archive_content(connection, self.session_id, name, now)
            save_registry(connection, self.session_id, self.registry, now)
            save_state(connection, self.session_id, self.state, now)
            for turn in self.interrupted:
                finish_turn(connection, self.session_id, turn, None, now, "interrupted")
            document: dict[str, Json] = {
                "outcome": self.outcome.model_dump(mode="json"),
                "trace": self.trace,
            }
            finish_turn(connection, self.session_id, self.turn, document, now)

        return work


def age(registry: Registry, state: SessionState, turn: int, held: Iterable[str]) -> Aged:
    """Let a turn pass over what is talked about; what an open question holds stays fresh."""
    registry.touch(held, turn)
    aged = registry.end_of_turn(turn)
    state.forget_names([each.label for each in aged.collected])
    for entity in registry.in_state(EntityState.PENDING, EntityState.ACTIVE):
        state.take_back_name(entity.label)
    return aged


def _old_ids(registry: Registry, entity_id: str) -> list[str]:
    return [old for old, meant in registry.aliases.items() if meant == entity_id]
