"""The pure rules of the memory: keys, scopes, meanings, rankings, readings."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.core.errors import InvalidInput
from callboard.knowledge import FactState, KBEntry, Node, node_id
from callboard.library.story.contradiction import (
    ALWAYS,
    ClashKind,
    GraphClaim,
    GraphDraft,
    Names,
    ScenePoint,
    SceneRange,
    ScopedValue,
    excludes,
    find_clash,
    find_point,
    key_form,
    read_range,
    read_rules,
    split_scope,
    states_of,
    value_at,
    with_state,
)
from callboard.packs.writers_factory.memory.extraction import (
    find_candidates,
    keep_mentioned,
    read_found,
)
from callboard.packs.writers_factory.memory.mapping import PROJECT_NODE, map_entry
from callboard.packs.writers_factory.memory.scenery import Scenery, rank_foundation, take

RULES = read_rules()
WORDS = st.lists(
    st.text(string.ascii_lowercase, min_size=1, max_size=6), min_size=1, max_size=3
).map(tuple)
POINTS = st.builds(ScenePoint, st.integers(1, 6), st.none() | st.integers(1, 4))
RANGES = st.builds(SceneRange, st.none() | POINTS, st.none() | POINTS).filter(
    lambda each: each.first <= each.last
)


def entry(category: str, key: str, value: str = "x", at: int = 1) -> KBEntry:
    return KBEntry(f"id-{category}-{key}", category, key, value, "s", FactState.OPEN, at, at)


def claim_of(names: Names, category: str, key: str, value: str = "x") -> GraphClaim:
    offer = map_entry(entry(category, key, value), names, RULES.known_attributes, {"knows"})
    claim = offer.claims[0]
    assert isinstance(claim, GraphClaim)
    return claim


@pytest.mark.req("WF-G58")
@given(st.lists(WORDS, min_size=1, max_size=5, unique=True), WORDS)
def test_a_key_belongs_to_the_longest_name_that_begins_it(
    people: list[tuple[str, ...]], attribute: tuple[str, ...]
) -> None:
    names = Names()
    for words in people:
        names.add(f"character:{'-'.join(words)}", "character", [" ".join(words).title()])
    for words in people:
        key = "_".join((*words, *attribute))
        found, rest = names.split_key(key)
        assert found is not None
        begun = [each for each in people if key.split("_")[: len(each)] == list(each)]
        longest = max(begun, key=len)
        assert found == f"character:{'-'.join(longest)}"
        assert rest == "_".join(key.split("_")[len(longest) :])


@pytest.mark.req("WF-G58")
def test_names_and_aliases_match_whatever_their_case() -> None:
    names = Names(
        [
            Node("character:mickey-barlow", "character", "Mickey Barlow", ("Mick",)),
            Node("character:sam-stone", "character", "Sam Stone", ("Sam",)),
            Node("location:sam", "location", "Sam's"),
        ]
    )
    assert names.find("MICKEY  barlow") == "character:mickey-barlow"
    assert names.split_key("mick_fatal_flaw") == ("character:mickey-barlow", "fatal_flaw")
    assert names.find("sam", "character") == "character:sam-stone"
    assert names.find("sam") is None
    assert names.split_key("sams_bar") == (None, "sams_bar")


@pytest.mark.req("WF-G58")
def test_what_names_nobody_becomes_a_node_of_its_category() -> None:
    names = Names([Node("character:mickey", "character", "Mickey")])
    assert claim_of(names, "character", "mickey_fatal_flaw").node_id == "character:mickey"
    danny = claim_of(names, "character", "danny_fatal_flaw", "greed")
    assert (danny.node_id, danny.attribute) == ("character:danny", "fatal_flaw")
    rule = claim_of(names, "world", "magic_cost", "Magic costs blood.")
    assert (rule.type, rule.attribute, rule.value) == ("world_rule", "text", "Magic costs blood.")
    assert claim_of(names, "structure", "ending").type == "event"
    for category in ("preference", "correction", "voice"):
        told = claim_of(names, category, "mickey_tone")
        assert (told.node_id, told.attribute) == (PROJECT_NODE, f"{category}_mickey_tone")
    assert claim_of(names, "constraint", "no_prologue").node_id == PROJECT_NODE


@pytest.mark.parametrize(
    ("key", "value", "kept", "since"),
    [
        ("mickey_status", "dead since chapter 9", "dead", ScenePoint(9)),
        ("mickey_status", "dead (ch9-sc2)", "dead", ScenePoint(9, 2)),
        ("mickey_status_ch9", "dead", "dead", ScenePoint(9)),
        ("mickey_status", "dead", "dead", None),
    ],
)
def test_a_decision_may_say_from_which_scene_it_holds(
    key: str, value: str, kept: str, since: ScenePoint | None
) -> None:
    names = Names([Node("character:mickey", "character", "Mickey")])
    told = claim_of(names, "character", key, value)
    assert (told.attribute, told.value, told.scope.since) == ("status", kept, since)


@given(POINTS)
def test_a_point_reads_as_it_is_written(point: ScenePoint) -> None:
    assert find_point(str(point)) == point


@given(st.text(max_size=60))
def test_no_text_breaks_a_scope_or_a_key(text: str) -> None:
    rest, scope = split_scope(text)
    assert scope.first <= scope.last
    assert rest or not text
    assert set(key_form(text)) <= set(key_form(text).casefold())


def test_a_range_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no range"):
        read_range({"since_scene": "soon"})
    with pytest.raises(InvalidInput, match="before it begins"):
        read_range({"since_scene": "ch9", "until_scene": "ch2"})
    assert read_range({"since_scene": "ch9"}).since == ScenePoint(9)


@pytest.mark.req("WF-G56")
@given(RANGES, RANGES, st.booleans(), st.booleans(), st.booleans())
def test_whether_two_values_exclude_each_other_has_no_direction(
    old: SceneRange, new: SceneRange, changes: bool, one: bool, other: bool
) -> None:
    forth = excludes(old, new, changes=changes, old_is_final=one, new_is_final=other)
    back = excludes(new, old, changes=changes, old_is_final=other, new_is_final=one)
    assert forth == back
    if not old.overlaps(new):
        assert not forth
    if old == new:
        assert forth


@given(RANGES, RANGES)
def test_ranges_overlap_both_ways(one: SceneRange, other: SceneRange) -> None:
    assert one.overlaps(other) == other.overlaps(one)
    assert not (one.begins_after(other) and other.begins_after(one))
    assert SceneRange.from_json(one.to_json()) == one


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9)), max_size=6))
def test_states_read_back_by_scene(changes: list[tuple[str, int]]) -> None:
    attrs: dict[str, object] = {}
    for value, chapter in changes:
        attrs = with_state(attrs, "life", ScopedValue(value, SceneRange(ScenePoint(chapter))))
    latest = {chapter: value for value, chapter in changes}
    for chapter in range(1, 11):
        begun = [each for each in latest if each <= chapter]
        expected = latest[max(begun)] if begun else None
        assert value_at(attrs, "life", ScenePoint(chapter, 1)) == expected
    if latest:
        assert attrs["life"] == latest[max(latest)]


def test_a_plain_attribute_holds_everywhere() -> None:
    assert states_of({"age": 34}, "age") == (ScopedValue(34, ALWAYS),)
    assert value_at({"age": 34}, "age", ScenePoint(3)) == 34


def clash_of(existing: dict[str, object], attribute: str, value: object, scope: SceneRange) -> str:
    node = Node("character:danny", "character", "Danny", (), existing)
    draft = GraphDraft({node.id: node}, lambda _src: (), Names([node]))
    claim = GraphClaim(node.id, "character", "Danny", attribute, value, scope)
    found = find_clash(draft, RULES, claim)
    return "" if found is None else found.kind.value


def since(chapter: int, scene: int | None = None) -> SceneRange:
    return SceneRange(ScenePoint(chapter, scene))


@pytest.mark.req("WF-G56", "WF-82")
@pytest.mark.parametrize(
    ("existing", "attribute", "value", "scope", "kind"),
    [
        ({"alive": True}, "status", "dead", ALWAYS, "functional_attribute"),
        ({"alive": True}, "status", "dead", since(9), ""),
        ({"status": "dead"}, "alive", "yes", since(9), "functional_attribute"),
        ({"status": "a boxer"}, "status", "dead", ALWAYS, ""),
        ({"eyes": "green"}, "eye_colour", "a deep green", ALWAYS, ""),
        ({"eyes": "green"}, "eye_color", "brown", since(9), "functional_attribute"),
        ({"age": 34}, "age", "34 years old", ALWAYS, ""),
        ({"age": 34}, "age", "35", ALWAYS, "functional_attribute"),
        ({"age": 34}, "age", "35", since(9), ""),
        ({"temper": "brave"}, "temper", "rather cowardly", ALWAYS, "antonym"),
        ({"temper": "brave"}, "temper", "calm", ALWAYS, ""),
        ({"fatal_flaw": "pride"}, "fatal_flaw", "cowardice", ALWAYS, ""),
    ],
)
def test_what_contradicts_and_what_only_changes(
    existing: dict[str, object], attribute: str, value: object, scope: SceneRange, kind: str
) -> None:
    assert clash_of(existing, attribute, value, scope) == kind


@pytest.mark.req("WF-G56")
def test_alive_early_and_dead_late_is_a_change_but_the_same_chapter_is_not() -> None:
    living = with_state({}, "status", ScopedValue("alive", since(2)))
    assert clash_of(living, "status", "dead", since(9)) == ""
    assert clash_of(living, "status", "dead", since(2)) == ClashKind.FUNCTIONAL
    in_scene = with_state({}, "status", ScopedValue("alive", since(2, 1)))
    assert clash_of(in_scene, "status", "dead", since(2, 3)) == ""
    dead = with_state({}, "status", ScopedValue("dead", since(3)))
    assert clash_of(dead, "status", "alive", since(5)) == ClashKind.FUNCTIONAL


@pytest.mark.req("WF-G51", "WF-G50")
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["character", "constraint"]),
            st.sampled_from(
                ["mickey_fatal_flaw", "mickey_the_lie", "mickey_arc_start", "danny_job", "tense"]
            ),
            st.integers(0, 99),
        ),
        unique_by=lambda each: each[:2],
    ),
    st.integers(-5, 12),
    st.booleans(),
)
def test_the_ranking_never_puts_anything_before_flaw_and_lie(
    rows: list[tuple[str, str, int]], limit: int, whole: bool
) -> None:
    entries = [entry(category, key, at=at) for category, key, at in rows]
    ranked = rank_foundation(entries, Scenery(protagonist="Mickey Barlow"))
    assert sorted(each.id for each in ranked) == sorted(each.id for each in entries)
    keys = [each.key for each in ranked if each.category == "character"]
    core = [key for key in ("mickey_fatal_flaw", "mickey_the_lie") if key in keys]
    assert [each.key for each in ranked][: len(core)] == core
    recent = [entry("structure", f"turn_{number}") for number in range(20)]
    taken = take(ranked, recent, limit, all_foundational=whole)
    assert len(taken) == (max(len(ranked), limit) if whole else max(0, limit))
    assert taken[: len(core)] == ranked[: len(core)][: len(taken)]


XML = """<graph>
<node type="character" name="Danny" status="dead" since_scene="ch4"/>
<node type='location' name='The &quot;Anchor&quot;'/>
<node type="character" name="Ghost Writer"/>
<edge src="Danny" dst="The &quot;Anchor&quot;" type="located_in"/>
<edge src="Danny" dst="Nobody" type="knows"/>
<action type="save_decision"><category>voice</category></action>
</graph>"""
JSON = """Here you are:
```json
{"nodes": [{"type": "character", "name": "Danny", "attrs": {"status": "dead"}},
 {"type": "dragon", "name": "Danny"}],
 "edges": [{"source": "Danny", "target": "Rosa", "type": "loves"},]}
```"""
TEXT = 'Danny is dead, they say at The "Anchor". Rosa loved him.'


@pytest.mark.req("WF-G57", "WF-82")
def test_elements_and_json_are_read_and_the_invented_is_dropped() -> None:
    types, edges = {"character", "location"}, {"located_in", "knows", "loves"}
    read = read_found(XML)
    assert read is not None
    kept = keep_mentioned(read, TEXT, types, edges)
    assert [node.name for node in kept.nodes] == ["Danny", 'The "Anchor"']
    assert kept.nodes[0].attrs == {"status": "dead", "since_scene": "ch4"}
    assert [edge.type for edge in kept.edges] == ["located_in"]
    assert kept.dropped == 2
    said = read_found(JSON)
    assert said is not None
    clean = keep_mentioned(said, TEXT, types, edges)
    assert [node.name for node in clean.nodes] == ["Danny"]
    assert [(edge.src, edge.dst) for edge in clean.edges] == [("Danny", "Rosa")]
    assert read_found("<none/>") is not None
    assert read_found("I found Danny and Rosa.") is None
    assert read_found('{"answer": 42}') is None


@pytest.mark.req("WF-G57")
@given(st.text(max_size=200))
def test_no_reply_breaks_the_reading(text: str) -> None:
    for each in (text, f"<node {text}/>", f'{{"nodes": [{text}]}}', f"<edge src='{text}'/>"):
        found = read_found(each)
        if found is not None:
            keep_mentioned(found, text, {"character"}, {"knows"})


def test_names_are_found_by_code_for_models_that_cannot() -> None:
    text = "We met Rosa Lind on Tuesday. Danny knows her. Later Danny left for Port Vell."
    assert find_candidates(text) == ("Danny", "Rosa Lind", "Port Vell")
    assert find_candidates("The end. Then nothing.") == ()
    spoken = "“You’re late,” said Jun. “You’re always late.” I know You're tired."
    assert find_candidates(spoken) == ("Jun",)
    assert find_candidates("Don't go. Don't. Water is water. Water.") == ()


def test_node_ids_are_those_of_the_knowledge_room() -> None:
    names = Names()
    told = claim_of(names, "character", "danny_fatal_flaw")
    assert told.node_id == node_id("character", "Danny")
