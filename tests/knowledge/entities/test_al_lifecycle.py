"""What becomes of things a conversation is about, turn by turn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.vocabulary import BatchKind, Entity, EntitySource, EntityState
from callboard.knowledge.entities import EntityRegistry, IllegalTransition, UnknownEntity

PENDING, ACTIVE, INACTIVE = EntityState.PENDING, EntityState.ACTIVE, EntityState.INACTIVE
ALLOWED = {
    (PENDING, ACTIVE),
    (PENDING, INACTIVE),
    (ACTIVE, INACTIVE),
    (INACTIVE, ACTIVE),
}


def recipe(entity_id: str, state: EntityState = ACTIVE, **changes: object) -> Entity:
    return Entity(entity_id, "recipe", entity_id.title(), state=state, **changes)  # type: ignore[arg-type]


def ids(registry: EntityRegistry, *states: EntityState) -> list[str]:
    return [each.id for each in registry.in_state(*states)]


@pytest.mark.req("AL-07", "AL-08")
def test_a_thing_of_turn_1_is_put_away_after_turn_6_and_gone_after_turn_8():
    registry = EntityRegistry()
    registry.add(recipe("soup"), 1)
    seen: dict[int, str] = {}
    for turn in range(1, 10):
        registry.end_of_turn(turn)
        found = registry.find("soup")
        seen[turn] = found.state.value if found else "gone"
    assert seen == {
        1: "active",
        2: "active",
        3: "active",
        4: "active",
        5: "active",
        6: "inactive",
        7: "inactive",
        8: "gone",
        9: "gone",
    }


@pytest.mark.req("AL-08")
def test_a_thing_rejected_in_turn_3_can_be_revived_in_turns_4_and_5_and_is_gone_after_5():
    registry = EntityRegistry()
    registry.add(recipe("salad", PENDING), 2)
    registry.transition("salad", INACTIVE, 3, "rejected")
    for turn in (3, 4):
        registry.end_of_turn(turn)
        assert registry.get("salad").state is INACTIVE
    registry.end_of_turn(5)
    with pytest.raises(UnknownEntity, match="salad"):
        registry.get("salad")


@pytest.mark.req("AL-06")
def test_a_revived_thing_lives_on_from_the_turn_of_its_revival():
    registry = EntityRegistry()
    registry.add(recipe("salad"), 1)
    registry.transition("salad", INACTIVE, 2)
    registry.end_of_turn(2)
    registry.transition("salad", ACTIVE, 3)
    for turn in range(3, 8):
        registry.end_of_turn(turn)
        assert registry.get("salad").state is ACTIVE
    registry.end_of_turn(8)
    assert registry.get("salad").state is INACTIVE


@pytest.mark.req("AL-01", "AL-02")
@pytest.mark.parametrize("start", list(EntityState))
@pytest.mark.parametrize("wanted", list(EntityState))
def test_only_listed_transitions_happen(start: EntityState, wanted: EntityState):
    registry = EntityRegistry([recipe("soup", start, turn_created=1, turn_last_ref=1)])
    if start is wanted or (start, wanted) in ALLOWED:
        assert registry.transition("soup", wanted, 4).state is wanted
        if start is wanted:
            assert registry.get("soup").turn_last_ref == 4
    else:
        before = registry.get("soup")
        with pytest.raises(IllegalTransition, match="cannot become"):
            registry.transition("soup", wanted, 4)
        assert registry.get("soup") == before


@pytest.mark.req("AL-05", "AL-17")
def test_a_new_thing_in_the_slot_of_an_old_one_puts_it_away():
    registry = EntityRegistry()
    registry.add(recipe("one", PENDING, slot="recipe:draft:1"), 1)
    registry.add(recipe("two", PENDING, slot="recipe:draft:1"), 2)
    assert ids(registry, PENDING) == ["two"]
    assert ids(registry, INACTIVE) == ["one"]


@pytest.mark.req("AL-17")
def test_alternatives_of_one_batch_do_not_replace_each_other():
    registry = EntityRegistry()
    for number in (1, 2, 3):
        registry.add(
            recipe(
                f"draft{number}",
                PENDING,
                slot="recipe:draft:1",
                batch_id="b1",
                batch_kind=BatchKind.ALTERNATIVES,
            ),
            1,
        )
    assert ids(registry, PENDING) == ["draft1", "draft2", "draft3"]
    assert [each.id for each in registry.newest_batch()] == ["draft1", "draft2", "draft3"]


@pytest.mark.req("AL-15")
def test_a_saved_thing_keeps_its_place_and_answers_to_both_ids():
    registry = EntityRegistry()
    temp = registry.new_temp_id("recipe")
    registry.add(recipe(temp, PENDING, source=EntitySource.GENERATE), 1)
    registry.add(recipe("other"), 1)
    promoted = registry.promote(temp, "uuid-1", 3)
    assert temp == "temp_recipe_1"
    assert [each.id for each in registry.all()] == ["uuid-1", "other"]
    assert registry.get(temp) == registry.get("uuid-1") == promoted
    assert (promoted.state, promoted.source, promoted.persisted) == (
        ACTIVE,
        EntitySource.DB_CREATE,
        True,
    )
    assert (promoted.turn_created, promoted.label) == (1, "Temp_Recipe_1")
    assert registry.new_temp_id("recipe") == "temp_recipe_2"


@pytest.mark.req("AL-75")
def test_what_is_pinned_does_not_age():
    registry = EntityRegistry()
    registry.add(recipe("curry"), 1)
    registry.pin("curry", 1)
    for turn in range(1, 30):
        registry.end_of_turn(turn)
    assert registry.get("curry").state is ACTIVE
    registry.unpin("curry", 30)
    for turn in range(30, 36):
        registry.end_of_turn(turn)
    assert registry.get("curry").state is INACTIVE


@pytest.mark.req("AL-09")
def test_every_change_is_told_with_its_reason_and_none_is_told_twice():
    registry = EntityRegistry()
    registry.add(recipe("soup", PENDING), 1)
    registry.transition("soup", INACTIVE, 2, "no soups")
    told = [(each.turn, each.change, each.reason) for each in registry.drain_events()]
    assert told == [(1, "added pending", "user_input"), (2, "pending to inactive", "no soups")]
    assert registry.drain_events() == ()


@pytest.mark.req("AL-18")
def test_a_mention_of_something_put_away_does_not_bring_it_back():
    registry = EntityRegistry()
    registry.add(recipe("soup"), 1)
    registry.transition("soup", INACTIVE, 2)
    registry.touch(["soup", "never heard of"], 3)
    assert registry.get("soup").state is INACTIVE
    assert registry.get("soup").turn_last_ref == 1


class Rules:
    """The rules in their plainest form: a thing is its state, last mention, and when put away."""

    def __init__(self) -> None:
        self.things: dict[str, tuple[EntityState, int, int | None]] = {}

    def add(self, name: str, state: EntityState, turn: int) -> None:
        self.things[name] = (state, turn, None)

    def allows(self, name: str, state: EntityState) -> bool:
        return self.things[name][0] is state or (self.things[name][0], state) in ALLOWED

    def go(self, name: str, state: EntityState, turn: int) -> None:
        old, mention, away = self.things[name]
        if old is state:
            self.things[name] = (old, turn, away)
        elif state is INACTIVE:
            self.things[name] = (state, mention, turn)
        else:
            self.things[name] = (state, turn, None)

    def touch(self, name: str, turn: int) -> None:
        state, mention, away = self.things[name]
        self.things[name] = (state, mention if state is INACTIVE else turn, away)

    def end(self, turn: int) -> None:
        kept = {k: v for k, v in self.things.items() if v[2] is None or turn - v[2] < 2}
        for name, (state, mention, away) in kept.items():
            if state is not INACTIVE and turn - mention >= 5:
                kept[name] = (INACTIVE, mention, turn)
            else:
                kept[name] = (state, mention, away)
        self.things = kept


NAMES = st.sampled_from([f"e{number}" for number in range(5)])


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), NAMES, st.sampled_from([PENDING, ACTIVE])),
            st.tuples(st.just("go"), NAMES, st.sampled_from(list(EntityState))),
            st.tuples(st.just("touch"), NAMES, st.just(ACTIVE)),
            st.tuples(st.just("turn"), NAMES, st.just(ACTIVE)),
        ),
        max_size=60,
    )
)
def test_ageing_follows_the_rules_whatever_happens(events: list[tuple[str, str, EntityState]]):
    registry, rules, turn = EntityRegistry(), Rules(), 1
    for kind, name, state in events:
        is_known = name in rules.things
        if kind == "turn":
            registry.end_of_turn(turn)
            rules.end(turn)
            turn += 1
        elif kind == "add" and not is_known:
            registry.add(recipe(name, state), turn)
            rules.add(name, state, turn)
        elif kind == "touch" and is_known:
            registry.touch([name], turn)
            rules.touch(name, turn)
        elif kind == "go" and is_known and rules.allows(name, state):
            registry.transition(name, state, turn)
            rules.go(name, state, turn)
        seen = {e.id: (e.state, e.turn_last_ref, e.turn_inactivated) for e in registry.all()}
        assert seen == rules.things
