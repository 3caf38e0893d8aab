"""A branching book: 10,000 playthroughs of 100 sections, all formats of 1,000 sections.

The book is drawn from a seed: three choices to a section, of which one asks for a key. PDF is
built where its maker is installed.
"""

import asyncio
import random
import time

from bench.report import Measured, Result
from callboard.packs.questfoundry.book.model import (
    Book,
    KeyChange,
    KeyTest,
    Section,
    SectionKind,
    StoryChoice,
)
from callboard.packs.questfoundry.formats.export import PATHS, build
from callboard.packs.questfoundry.formats.writing.paper import can_print
from callboard.packs.questfoundry.playtest.bot import PlaytestBot

MOST_PLAY_SECONDS = 10.0
MOST_BUILD_SECONDS = 30.0
WORDS = ("the", "old", "ferry", "lies", "at", "the", "quay", "and", "nobody", "knows", "why")


def measure(*, quick: bool) -> Measured:
    """Play a small book and build a large one."""
    playthroughs, sections = (1_000, 100) if quick else (10_000, 1_000)
    started = time.perf_counter()
    bot = PlaytestBot(_book(100))
    bot.report(bot.sample(playthroughs))
    played = time.perf_counter() - started
    formats = [each for each in PATHS if each != "pdf" or can_print()]
    started = time.perf_counter()
    files = asyncio.run(build(_book(sections), formats))
    built = time.perf_counter() - started
    assert len(files) >= len(formats)
    return Measured(
        (
            _line(f"{playthroughs:,} playthroughs of 100 sections (s)", played, MOST_PLAY_SECONDS),
            _line(
                f"{sections:,} sections in {len(formats)} formats (s)", built, MOST_BUILD_SECONDS
            ),
        )
    )


def _line(name: str, seconds: float, most: float) -> Result:
    return Result(name, seconds, None, "", None, f"at most {most:g} s", seconds <= most)


def _book(count: int) -> Book:
    chance = random.Random(1)
    return Book("Bench", "s0", tuple(_section(number, count, chance) for number in range(count)))


def _section(number: int, count: int, chance: random.Random) -> Section:
    text = "\n\n".join(" ".join(chance.choices(WORDS, k=60)) for _ in range(3))
    if number >= count - 5:
        return Section(f"s{number}", f"Part {number}", text, SectionKind.TERMINAL)
    choices = tuple(
        StoryChoice(
            f"s{number}-{way}",
            f"Take the way number {way}",
            f"s{chance.randrange(number + 1, min(count, number + 20))}",
            requires=(KeyTest(f"k{chance.randrange(12)}", negated=True),) if way == 2 else (),
        )
        for way in range(3)
    )
    effects = (KeyChange("set", f"k{number % 12}"),) if number % 10 == 0 else ()
    return Section(f"s{number}", f"Part {number}", text, choices=choices, effects=effects)
