"""Sound books have no red bar; a flaw planted in one is found and named where it is."""

from random import Random

import pytest
from qf_planter import FLAWS, plant

from callboard.packs.questfoundry.bars.checks import bar_checks
from callboard.packs.questfoundry.bars.judging import judge
from callboard.packs.questfoundry.book.model import Book
from callboard.packs.questfoundry.growing.shapes import GrowthPlan, StoryShape, grow
from callboard.packs.questfoundry.verdict import BarStatus, GateDecision
from sizes import size

SOUND = size(60, 1_000)
SEEDS = range(size(3, 200))
# Only built files, a report that was cut short, or undecidable ways can break these.
NOT_PLANTED = {
    "broken_anchor",
    "build_differs",
    "build_missing",
    "build_once",
    "built_alt",
    "built_not_read",
    "choice_undecided",
    "gateway_undecided",
    "heading_order",
    "loop_undecided",
    "soft_lock_undecided",
    "unreachable_undecided",
}

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(1800)]


def any_book(seed: int) -> Book:
    chance = Random(seed)
    shapes = tuple(chance.sample(list(StoryShape), chance.randint(1, 4)))
    gateways = chance.randint(1, 5)
    endings = chance.randint(1, 5)
    sections = endings + 1 + 6 * max(gateways, len(shapes)) + chance.randint(0, 60)
    choices = chance.choice([0, sections * 2, sections * 3])
    return grow(GrowthPlan(shapes, sections, gateways, endings, choices, seed))


@pytest.mark.req("QF-96")
def test_sound_books_are_green_whatever_their_shape_and_seed() -> None:
    for seed in range(SOUND):
        report = judge(any_book(seed))
        assert report.decision is GateDecision.PASS, (seed, report.findings[:3])


def test_every_check_of_a_book_has_a_planted_flaw() -> None:
    named = {check for flaw in FLAWS for check in plant(any_book(1), flaw, 1).checks}
    assert named | NOT_PLANTED == set(bar_checks())


@pytest.mark.req("QF-96", "QF-97")
@pytest.mark.parametrize("flaw", FLAWS)
def test_a_planted_flaw_is_found_where_it_is(flaw: str) -> None:
    for seed in SEEDS:
        planted = plant(any_book(seed % 40), flaw, seed)
        report = judge(planted.book)
        hits = [each for each in report.findings if each.check in planted.checks]
        assert any(planted.place in f"{each.place} {each.evidence}" for each in hits), (seed, hits)
        assert report.decision is not GateDecision.PASS
        for each in report.findings:
            assert each.evidence and each.smallest_fix and each.owner_role and each.target_step
            assert each.status in (BarStatus.YELLOW, BarStatus.RED, BarStatus.UNKNOWN)
