"""What the bot tries, counts and says of a book."""

from dataclasses import replace

from hypothesis import given

from callboard.packs.questfoundry.book.model import (
    Book,
    Gateway,
    KeyChange,
    KeyTest,
    Section,
    SectionKind,
    StoryChoice,
)
from callboard.packs.questfoundry.book.playing import CannotPlay, begin, offers, take
from callboard.packs.questfoundry.playtest.bot import PlaytestBot
from callboard.packs.questfoundry.playtest.ground import Ground
from callboard.packs.questfoundry.playtest.paths import count_paths, paths
from callboard.packs.questfoundry.playtest.transcript import ModelPlayer, play
from quest_random_books import books


def _ladder(rungs: int) -> Book:
    """Return a book with two ways at every rung: two to the power of rungs paths."""
    sections = [
        Section(
            f"r{n}",
            text=f"Rung {n}",
            choices=tuple(StoryChoice(f"r{n}-{side}", side, f"r{n + 1}") for side in "ab"),
        )
        for n in range(rungs)
    ]
    end = Section(f"r{rungs}", kind=SectionKind.TERMINAL)
    return Book("Ladder", "r0", (*sections, end))


LOCK = Book(
    "Lock",
    "hall",
    (
        Section(
            "hall",
            choices=(
                StoryChoice("cellar", "Cellar", "cellar"),
                StoryChoice("door", "Door", "out", gateway="lock"),
                StoryChoice("attic", "Attic", "missing", requires=(KeyTest("key"),)),
            ),
        ),
        Section(
            "cellar",
            effects=(KeyChange("set", "key"),),
            choices=(StoryChoice("up", "Up", "hall"),),
        ),
        Section("out", kind=SectionKind.TERMINAL),
        Section("lost"),
    ),
    gateways=(Gateway("lock", "hall", "key", refusal="It is shut."),),
)


def test_every_choice_is_taken_and_every_gateway_is_met_and_refused() -> None:
    report = PlaytestBot(LOCK).report()
    assert report.covers == "all paths" and report.is_whole and report.is_path_count_exact
    assert report.gateways_met == report.gateways_refused == ("lock",)
    assert report.never_seen == ("lost",) and report.never_taken == ("attic",)
    assert report.unwritten == ("attic",)
    assert report.section_hits["hall"] > report.section_hits["out"] > 0
    assert report.choice_hits["door"] > 0


def test_paths_are_counted_also_where_nobody_could_go_them_all() -> None:
    bot = PlaytestBot(_ladder(60))
    assert bot.count.told() == f"{2**60:,}"
    report = bot.report()
    assert report.covers == "pairs of choices"
    assert report.playthroughs < 1000 and not report.never_taken


def test_a_book_of_few_paths_is_played_to_the_last() -> None:
    bot = PlaytestBot(_ladder(8))
    assert len(set(bot.playthroughs())) == 256 == bot.count.number


def test_ways_that_come_back_are_counted_from_below_where_they_are_many() -> None:
    book = _ladder(30)
    last = replace(book.sections[29], choices=(StoryChoice("again", "Again", "r0"),))
    ring = replace(book, sections=(*book.sections[:29], last, book.sections[30]))
    told = PlaytestBot(ring).count.told()
    assert told.startswith("more than 100,000")


def test_every_two_choices_that_can_follow_each_other_do() -> None:
    bot = PlaytestBot(_ladder(20))
    seen: set[tuple[str, str]] = set()
    for moves in bot.playthroughs():
        at, before = 0, ""
        for number in moves:
            move = bot.ground.moves(at)[number]
            seen.add((before, move.choice))
            at, before = move.to, move.choice
    wanted = {(f"r{n}-{one}", f"r{n + 1}-{two}") for n in range(19) for one in "ab" for two in "ab"}
    assert wanted <= seen


def test_a_seed_draws_the_same_playthroughs_and_each_can_be_drawn_alone() -> None:
    book = _ladder(40)
    first = list(PlaytestBot(book, seed=3).sample(50))
    assert list(PlaytestBot(book, seed=3).sample(50)) == first
    assert PlaytestBot(book, seed=3).draw(17) == first[17]
    assert list(PlaytestBot(book, seed=4).sample(50)) != first


@given(books(are_written=False))
def test_the_bot_moves_only_as_the_book_allows(book: Book) -> None:
    bot = PlaytestBot(book)
    for moves in [*bot.sample(5)]:
        position = begin(book)
        for number in moves:
            position = take(book, position, offers(book, position)[number].choice.id)
        assert len(play(ModelPlayer(book), moves).sights) == len(moves) + 1


@given(books())
def test_what_the_bot_takes_is_all_that_can_be_taken(book: Book) -> None:
    report = PlaytestBot(book).report()
    reached, waiting, taken = {begin(book)}, [begin(book)], set[str]()
    while waiting:
        position = waiting.pop()
        if book.by_id[position.section].kind is SectionKind.TERMINAL:
            continue
        for offered in offers(book, position):
            if not offered.is_open:
                continue
            taken.add(offered.choice.id)
            try:
                further = take(book, position, offered.choice.id)
            except CannotPlay:
                continue
            if further not in reached:
                reached.add(further)
                waiting.append(further)
    assert {each for each, hits in report.choice_hits.items() if hits} == taken
    sections = {each for each, hits in report.section_hits.items() if hits}
    assert sections == {each.section for each in reached}


@given(books(most=4))
def test_the_count_is_the_number_of_paths(book: Book) -> None:
    ground = Ground(book)
    count = count_paths(ground, ground.explore(100_000))
    if count.is_exact and count.number < 2000:
        gone = list(paths(ground))
        assert len(gone) == len(set(gone)) == count.number
