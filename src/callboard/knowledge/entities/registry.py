"""Registry: the things a conversation is about, with a lifecycle that code alone decides."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from callboard.core.errors import Conflict, NotFound
from callboard.core.vocabulary import Entity, EntitySource, EntityState


class IllegalTransition(Conflict):
    """A thing was to go into a state it cannot go into from where it is."""

    code = "illegal_transition"


class UnknownEntity(NotFound):
    """No such thing is being talked about."""

    code = "unknown_entity"


_ALLOWED: Final = {
    (EntityState.PENDING, EntityState.ACTIVE),
    (EntityState.PENDING, EntityState.INACTIVE),
    (EntityState.ACTIVE, EntityState.INACTIVE),
    (EntityState.INACTIVE, EntityState.ACTIVE),
}


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """How many turns a thing lives: unmentioned until it is put away, put away until it is gone."""

    ttl_turns: int = 5
    gc_turns: int = 2


@dataclass(frozen=True, slots=True)
class EntityEvent:
    """Something that happened to a thing; reasons are for people who look, not for the rules."""

    turn: int
    entity_id: str
    label: str
    change: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Aged:
    """What the end of a turn did."""

    deactivated: tuple[str, ...] = ()
    collected: tuple[Entity, ...] = ()


class EntityRegistry:
    """The things of one session, in the order in which they came up."""

    def __init__(
        self,
        entities: Iterable[Entity] = (),
        aliases: Mapping[str, str] | None = None,
        *,
        lifetimes: Lifetimes = Lifetimes(),  # noqa: B008 - a frozen value
        counters: Mapping[str, int] | None = None,
    ) -> None:
        """Take what is known from earlier turns."""
        self._entities = {entity.id: entity for entity in entities}
        self._aliases = dict(aliases or {})
        self._counters = dict(counters or {})
        self._lifetimes = lifetimes
        # Filled by every change, drained by whoever stores the registry.
        self._events: list[EntityEvent] = []

    @property
    def lifetimes(self) -> Lifetimes:
        """How long things live here."""
        return self._lifetimes

    @property
    def aliases(self) -> Mapping[str, str]:
        """Old ids that still mean something."""
        return dict(self._aliases)

    @property
    def counters(self) -> Mapping[str, int]:
        """How many temporary ids were given out, by type."""
        return dict(self._counters)

    def all(self) -> tuple[Entity, ...]:
        """Return everything, put away or not, oldest first."""
        return tuple(self._entities.values())

    def in_state(self, *states: EntityState) -> tuple[Entity, ...]:
        """Return what is in one of some states, oldest first."""
        return tuple(each for each in self._entities.values() if each.state in states)

    def in_play(self) -> tuple[Entity, ...]:
        """Return what may be shown: pending and active, the most recently mentioned first."""
        shown = self.in_state(EntityState.PENDING, EntityState.ACTIVE)
        ranked = sorted(enumerate(shown), key=lambda each: (each[1].turn_last_ref, each[0]))
        return tuple(entity for _, entity in reversed(ranked))

    def find(self, entity_id: str) -> Entity | None:
        """Return a thing by its id, or by one it had before."""
        return self._entities.get(self._aliases.get(entity_id, entity_id))

    def get(self, entity_id: str) -> Entity:
        """Do the same; an unknown id is an error."""
        found = self.find(entity_id)
        if found is None:
            raise UnknownEntity(
                f"Nothing called {entity_id!r} is being talked about",
                fix="It may have been put away; mention it by name.",
                entity_id=entity_id,
            )
        return found

    def new_temp_id(self, entity_type: str) -> str:
        """Return an id for something that no database knows yet."""
        number = self._counters.get(entity_type, 0) + 1
        self._counters[entity_type] = number
        return f"temp_{entity_type}_{number}"

    def add(self, entity: Entity, turn: int) -> Entity:
        """Take up a thing; what had its slot is put away, what is known is only mentioned again."""
        known = self.find(entity.id)
        if known is not None:
            return self._take_up_again(known, entity, turn)
        if entity.slot is not None:
            self._vacate(entity, turn)
        added = replace(entity, turn_created=turn, turn_last_ref=turn)
        self._entities[added.id] = added
        self._tell(turn, added, f"added {added.state.value}", added.source.value)
        return added

    def transition(self, entity_id: str, state: EntityState, turn: int, reason: str = "") -> Entity:
        """Bring a thing into a state; the same state only counts as a mention."""
        entity = self.get(entity_id)
        if entity.state is state:
            return self._keep(replace(entity, turn_last_ref=turn))
        if (entity.state, state) not in _ALLOWED:
            raise IllegalTransition(
                f"{entity.label!r} is {entity.state.value} and cannot become {state.value}",
                fix="Generate it anew, or go by way of another state.",
                entity_id=entity.id,
                state=entity.state.value,
                wanted=state.value,
            )
        is_put_away = state is EntityState.INACTIVE
        changed = replace(
            entity,
            state=state,
            # Being rejected is no mention: it must not look fresh if it is revived and dropped.
            turn_last_ref=entity.turn_last_ref if is_put_away else turn,
            turn_inactivated=turn if is_put_away else None,
            pinned=entity.pinned and not is_put_away,
        )
        self._tell(turn, changed, f"{entity.state.value} to {state.value}", reason)
        return self._keep(changed)

    def touch(self, entity_ids: Iterable[str], turn: int) -> None:
        """Note that things were mentioned; what is put away or unknown stays as it is."""
        for entity_id in entity_ids:
            entity = self.find(entity_id)
            if entity is not None and entity.state is not EntityState.INACTIVE:
                self._keep(replace(entity, turn_last_ref=turn))

    def pin(self, entity_id: str, turn: int) -> Entity:
        """Hold a thing in focus: it does not age until it is let go."""
        entity = self.get(entity_id)
        if entity.state is EntityState.INACTIVE:
            entity = self.transition(entity_id, EntityState.ACTIVE, turn, "pinned")
        return self._keep(replace(entity, pinned=True, turn_last_ref=turn))

    def unpin(self, entity_id: str, turn: int) -> Entity:
        """Let a thing go; it ages from now on."""
        return self._keep(replace(self.get(entity_id), pinned=False, turn_last_ref=turn))

    def promote(self, temp_id: str, db_id: str, turn: int) -> Entity:
        """Give a thing the id its database gave it; the old id goes on meaning it."""
        entity = self.get(temp_id)
        promoted = replace(
            entity,
            id=db_id,
            source=EntitySource.DB_CREATE,
            state=EntityState.ACTIVE,
            turn_last_ref=turn,
            turn_inactivated=None,
            persisted=True,
        )
        # Built anew to keep its place in the order of things.
        self._entities = {
            (db_id if each.id == entity.id else each.id): (
                promoted if each.id == entity.id else each
            )
            for each in self._entities.values()
        }
        for old, meant in list(self._aliases.items()):
            if meant == entity.id:
                self._aliases[old] = db_id
        if entity.id != db_id:
            self._aliases[entity.id] = db_id
        self._tell(turn, promoted, f"saved as {db_id}")
        return promoted

    def forget(self, entity_id: str, turn: int, reason: str = "") -> None:
        """Take a thing out because its record is gone."""
        entity = self.get(entity_id)
        del self._entities[entity.id]
        self._drop_aliases(entity.id)
        self._tell(turn, entity, "forgotten", reason)

    def newest_batch(self) -> tuple[Entity, ...]:
        """Return what is pending of the newest batch; a thing without one is its own batch."""
        pending = self.in_state(EntityState.PENDING)
        if not pending:
            return ()
        last = pending[-1]
        if last.batch_id is None:
            return (last,)
        return tuple(each for each in pending if each.batch_id == last.batch_id)

    def end_of_turn(self, turn: int) -> Aged:
        """Remove what was put away long enough, then put away what nobody mentioned.

        In this order nothing is put away and removed at once.
        """
        gone = tuple(
            each
            for each in self.in_state(EntityState.INACTIVE)
            if turn - (each.turn_inactivated or 0) >= self._lifetimes.gc_turns
        )
        for entity in gone:
            del self._entities[entity.id]
            self._drop_aliases(entity.id)
            self._tell(turn, entity, "collected")
        stale = [
            each
            for each in self.in_state(EntityState.PENDING, EntityState.ACTIVE)
            if not each.pinned and turn - each.turn_last_ref >= self._lifetimes.ttl_turns
        ]
        for entity in stale:
            self.transition(entity.id, EntityState.INACTIVE, turn, "not mentioned for a while")
        return Aged(tuple(each.id for each in stale), gone)

    def drain_events(self) -> tuple[EntityEvent, ...]:
        """Return what happened since this was last asked."""
        events, self._events = tuple(self._events), []
        return events

    def _take_up_again(self, known: Entity, entity: Entity, turn: int) -> Entity:
        state = known.state
        if state is not entity.state and (state, entity.state) in _ALLOWED:
            self.transition(known.id, entity.state, turn, "came up again")
        again = replace(self.get(known.id), turn_last_ref=turn, label=entity.label or known.label)
        return self._keep(again)

    def _vacate(self, entity: Entity, turn: int) -> None:
        """Put away what has the slot, unless both were made together."""
        for other in self.in_state(EntityState.PENDING, EntityState.ACTIVE):
            shares_slot = other.type == entity.type and other.slot == entity.slot
            is_of_batch = entity.batch_id is not None and other.batch_id == entity.batch_id
            if shares_slot and not is_of_batch:
                self.transition(other.id, EntityState.INACTIVE, turn, f"replaced by {entity.id}")

    def _drop_aliases(self, entity_id: str) -> None:
        self._aliases = {old: meant for old, meant in self._aliases.items() if meant != entity_id}

    def _keep(self, entity: Entity) -> Entity:
        self._entities[entity.id] = entity
        return entity

    def _tell(self, turn: int, entity: Entity, change: str, reason: str = "") -> None:
        self._events.append(EntityEvent(turn, entity.id, entity.label, change, reason))
