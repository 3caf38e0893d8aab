"""What is said to be reachable can be played, and what is said to be impossible cannot."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.packs.questfoundry.bars.brackets import bracket
from callboard.packs.questfoundry.bars.locks import endless_sections, find_locks
from callboard.packs.questfoundry.bars.ways import Effort, WayNet, net_of
from callboard.packs.questfoundry.book.model import (
    Book,
    Gateway,
    KeyChange,
    KeyTest,
    Section,
    SectionKind,
    StoryChoice,
)
from callboard.packs.questfoundry.book.playing import (
    ReaderPosition,
    begin,
    enter,
    is_end,
    offers,
    take,
)
from sizes import size

KEYS = ("has_rope", "has_lamp", "met_king", "is_wet")
PLAY_WHOLE, ONLY_BRACKETS = 200_000, 0

tests = st.lists(
    st.builds(KeyTest, st.sampled_from(KEYS), st.booleans()), max_size=2, unique_by=lambda t: t.key
)
changes = st.lists(
    st.builds(KeyChange, st.sampled_from(["set", "set", "clear"]), st.sampled_from(KEYS)),
    max_size=2,
)


@st.composite
def books(draw: st.DrawFn) -> Book:
    count = draw(st.integers(2, 9))
    ids = [f"s{number}" for number in range(count)]
    gateways = tuple(
        Gateway(f"g{number}", "s0", draw(st.sampled_from(KEYS)), draw(st.booleans()))
        for number in range(2)
    )
    sections: list[Section] = []
    for name in ids:
        choices = tuple(
            StoryChoice(
                f"{name}_{number}",
                "Go",
                draw(st.sampled_from(ids)),
                tuple(draw(tests)),
                tuple(draw(changes)) if draw(st.integers(0, 3)) == 0 else (),
                draw(st.sampled_from([None, None, None, "g0", "g1"])),
            )
            for number in range(draw(st.integers(0, 3)))
        )
        kind = SectionKind.TERMINAL if draw(st.integers(0, 4)) == 0 else SectionKind.NORMAL
        effects = tuple(draw(changes)) if draw(st.integers(0, 2)) == 0 else ()
        sections.append(Section(name, choices=choices, kind=kind, effects=effects))
    return Book("Any", "s0", tuple(sections), gateways=gateways)


def open_choices(book: Book, position: ReaderPosition) -> Iterator[str]:
    if not is_end(book.by_id[position.section]):
        yield from (each.choice.id for each in offers(book, position) if each.is_open)


def played_out(book: Book) -> dict[ReaderPosition, set[ReaderPosition]]:
    """Return every position there is, and the positions that follow each; by playing only."""
    followed: dict[ReaderPosition, set[ReaderPosition]] = {}
    waiting = [begin(book)]
    while waiting:
        position = waiting.pop()
        if position in followed:
            continue
        followed[position] = {take(book, position, each) for each in open_choices(book, position)}
        waiting += followed[position]
    return followed


def locked(book: Book, followed: dict[ReaderPosition, set[ReaderPosition]]) -> set[ReaderPosition]:
    can_end = {each for each in followed if is_end(book.by_id[each.section])}
    while True:
        more = {each for each, after in followed.items() if after & can_end} - can_end
        if not more:
            return set(followed) - can_end
        can_end |= more


def net(book: Book) -> WayNet:
    numbered = net_of(book)
    assert numbered is not None
    return numbered


@pytest.mark.parametrize("whole_steps", [PLAY_WHOLE, ONLY_BRACKETS])
@settings(max_examples=size(150, 5_000), deadline=None)
@given(book=books())
def test_brackets_never_contradict_playing_every_position(book: Book, whole_steps: int) -> None:
    truth = {position.section for position in played_out(book)}
    proof = bracket(net(book), Effort(), whole_steps=whole_steps)
    ids = proof.net.ids
    reached = {ids[each] for each in proof.reached}
    never = {ids[each] for each in proof.never}
    undecided = {ids[each] for each in proof.undecided}
    assert reached <= truth
    assert not never & truth
    assert reached | never | undecided == set(ids)
    if whole_steps:
        assert not undecided
    for section in proof.reached:
        position = begin(book)
        for choice in proof.witness(section):
            position = take(book, position, choice)
        assert position.section == ids[section]


@pytest.mark.parametrize("whole_steps", [PLAY_WHOLE, ONLY_BRACKETS])
@settings(max_examples=size(150, 5_000), deadline=None)
@given(book=books())
def test_locks_never_contradict_playing_every_position(book: Book, whole_steps: int) -> None:
    truth = locked(book, played_out(book))
    effort = Effort()
    proof = bracket(net(book), effort, whole_steps=whole_steps)
    endless = endless_sections(proof.net)
    found = find_locks(proof, endless, effort)
    ids = proof.net.ids
    for lock in found.locks:
        position = begin(book)
        for choice in lock.path:
            position = take(book, position, choice)
        assert position.section == ids[lock.section]
        assert position in truth
    # Whoever is locked is in an endless section, or can come there by a lock that is named.
    named = {ids[each] for each in endless} | {ids[each] for each in found.undecided}
    if truth and not found.locks:
        assert {each.section for each in truth} & named
    if whole_steps:
        assert not found.undecided
        assert bool(found.locks) == any(ids.index(each.section) not in endless for each in truth)


@settings(max_examples=size(150, 5_000), deadline=None)
@given(book=books())
def test_ways_said_to_be_open_or_shut_are(book: Book) -> None:
    taken = {choice for position in played_out(book) for choice in open_choices(book, position)}
    proof = bracket(net(book), Effort(), whole_steps=ONLY_BRACKETS)
    names = proof.net.choices
    assert {n for n, flag in zip(names, proof.played.taken, strict=True) if flag} <= taken
    assert not {names[each] for each in proof.never_ways} & taken


@settings(max_examples=size(100, 2_000), deadline=None)
@given(book=books(), keys=st.frozensets(st.sampled_from(KEYS)))
def test_any_offered_choice_can_be_taken_anywhere(book: Book, keys: frozenset[str]) -> None:
    for section in book.sections:
        position = enter(book, section.id, keys)
        for offered in offers(book, position):
            if offered.is_open:
                assert take(book, position, offered.choice.id).section == offered.choice.to


def a_book_of_locks_that_need_all_keys(count: int) -> Book:
    """Return a book whose only hard door asks for one of 2**count sets of keys."""
    sections = [
        Section(
            f"s{n}",
            choices=(
                StoryChoice(f"a{n}", "Left", f"s{n + 1}", effects=(KeyChange("set", f"k_{n}"),)),
                StoryChoice(f"b{n}", "Right", f"s{n + 1}", effects=(KeyChange("clear", f"k_{n}"),)),
            ),
        )
        for n in range(count)
    ]
    # Turned over again afterwards, so that no order of playing meets it by chance.
    sections += [
        Section(
            f"s{count + n}",
            choices=(
                StoryChoice(
                    f"c{n}",
                    "Turn",
                    f"s{count + n + 1}",
                    (KeyTest(f"k_{n}"), KeyTest(f"k_{(n * 7 + 3) % count}", n % 2 == 0)),
                    (KeyChange("clear", f"k_{n}"),),
                ),
                StoryChoice(
                    f"d{n}",
                    "Leave",
                    f"s{count + n + 1}",
                    (KeyTest(f"k_{n}", negated=True),),
                    (KeyChange("set", f"k_{n}"),),
                ),
            ),
        )
        for n in range(count)
    ]
    door = tuple(KeyTest(f"k_{n}", negated=n % 3 == 0) for n in range(count))
    sections.append(
        Section(
            f"s{2 * count}",
            choices=(StoryChoice("open", "Open", "vault", door), StoryChoice("go", "Go", "end")),
        )
    )
    sections.append(Section("vault", choices=(StoryChoice("out", "Go out", "end"),)))
    sections.append(Section("end", kind=SectionKind.TERMINAL))
    return Book("Explode", "s0", tuple(sections))


def test_a_book_built_to_explode_is_left_undecided_by_name_and_the_same_each_time() -> None:
    book = a_book_of_locks_that_need_all_keys(30)
    first, second = (bracket(net(book), Effort(300_000).begin()) for _ in range(2))
    assert first.undecided
    assert first.undecided == second.undecided
    assert first.reached == second.reached


def test_time_is_a_last_stop() -> None:
    ticks = iter(range(0, 10**9, 10))
    effort = Effort(10**9, seconds=30.0, clock=lambda: float(next(ticks))).begin()
    proof = bracket(net(a_book_of_locks_that_need_all_keys(30)), effort)
    assert proof.stopped == "time"
    assert "vault" in [proof.net.ids[each] for each in proof.undecided]
