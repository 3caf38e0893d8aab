"""Onboarding: five questions and two more for who likes, one at a time.

Every question may be skipped, and the whole may be left and taken up again: what was answered is
in the profile itself.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from callboard.choreography.turn.domain_parts import OnboardingQuestion
from callboard.choreography.turn.requests import WriteOp, WriteRequest
from callboard.core.bundled import bundled_yaml
from callboard.core.errors import InvalidInput

SKIP: Final = "skip"
_SKIPPING: Final = frozenset({"skip", "next", "pass", "later", "no answer", ""})
_NUMBER: Final = re.compile(r"\d+")
_WEEKEND: Final = ["sat", "sun"]
_WEEKDAYS: Final = ["mon", "tue", "wed", "thu", "fri"]
_NUMBER_WORDS: Final = {
    "once": 1, "one": 1, "twice": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "every day": 7, "daily": 7, "most days": 5,
}  # fmt: skip


class UnclearAnswer(InvalidInput):
    """An answer that is none of the options."""

    code = "unclear_answer"


@cache
def questions() -> tuple[OnboardingQuestion, ...]:
    """Return what is asked, in order."""
    return tuple(
        OnboardingQuestion(
            name, entry["text"], tuple(entry["options"]), bool(entry.get("optional", False))
        )
        for name, entry in _read().items()
    )


@dataclass(frozen=True, slots=True)
class Onboarding:
    """How far somebody is: their answers by question, a skipped one as `skip`."""

    answers: Mapping[str, str]

    @classmethod
    def of(cls, state: Sequence[str]) -> "Onboarding":
        """Return how far a profile says somebody is."""
        pairs = (str(each).partition("=") for each in state)
        known = {question.id for question in questions()}
        return cls({name: answer for name, _, answer in pairs if name in known})

    @property
    def state(self) -> list[str]:
        """How far this is, as the profile keeps it."""
        return [f"{name}={answer}" for name, answer in self.answers.items()]

    @property
    def next(self) -> OnboardingQuestion | None:
        """The next question, or None if all were answered or skipped."""
        return next(iter(self.open), None)

    @property
    def open(self) -> list[OnboardingQuestion]:
        """What was neither answered nor skipped."""
        return [each for each in questions() if each.id not in self.answers]

    @property
    def is_done(self) -> bool:
        """Whether nothing that is not optional is left."""
        return all(each.is_optional or each.id in self.answers for each in questions())

    def answer(self, question_id: str, text: str) -> "Onboarding":
        """Return how far somebody is after an answer; one that is none of the options raises."""
        question = next((each for each in questions() if each.id == question_id), None)
        if question is None:
            raise InvalidInput(
                f"There is no question {question_id!r}",
                fix=f"Questions are {', '.join(each.id for each in questions())}.",
            )
        return Onboarding({**self.answers, question_id: read_answer(question, text)})

    def skip_rest(self) -> "Onboarding":
        """Return how far somebody is who wants no more questions."""
        skipped = {each.id: SKIP for each in questions() if each.id not in self.answers}
        return Onboarding({**self.answers, **skipped})

    def request(self) -> WriteRequest:
        """Return the write that keeps all of this in the profile."""
        record = {**profile_values(self.answers), "onboarding_state": self.state}
        return WriteRequest(op=WriteOp.UPSERT, table="user_profile", records=[record])


def read_answer(question: OnboardingQuestion, text: str) -> str:
    """Return which option somebody means."""
    said = " ".join(text.casefold().split()).strip(" .!")
    if said in _SKIPPING:
        return SKIP
    if said in question.options:
        return said
    found = _days(said) if question.id == "days" else _worded(question.id, said)
    if found is None:
        raise UnclearAnswer(
            f"{text.strip()[:60]!r} is none of {', '.join(question.options)}",
            fix="Choose one of them, or say skip.",
        )
    return found


def profile_values(answers: Mapping[str, str]) -> dict[str, Any]:
    """Return what answers mean for a profile; what was skipped means nothing."""
    values: dict[str, Any] = {}
    when = answers.get("when", SKIP)
    if when in _DAYS_OF:
        values["cooking_days"] = list(_DAYS_OF[when])
    frequency = _frequency(answers.get("days", SKIP), when)
    if frequency:
        values["cooking_frequency"] = frequency
    for name, (column, meanings) in _MEANINGS.items():
        meant = meanings.get(answers.get(name, SKIP))
        if meant is not None:
            values[column] = meant
    return values


_DAYS_OF: Final = {"weekends": _WEEKEND, "weekdays": _WEEKDAYS, "both": []}
_MEANINGS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "recipes": ("recipe_storage", {"full": "full", "links": "links_only", "both": "mixed"}),
    "tasks": (
        "task_granularity",
        {"detailed": "detailed", "reminders": "reminders", "minimal": "minimal"},
    ),
    "shopping": (
        "list_organization",
        {"aisle": "by_aisle", "category": "by_category", "neither": "unorganized"},
    ),
    "batch": ("batch_cooking", {"yes": True, "no": False}),
    "ahead": (
        "planning_horizon",
        {"week": "week", "few days": "few_days", "same day": "day_of"},
    ),
}


def _frequency(days: str, when: str) -> str | None:
    match days:
        case "1-2":
            return "weekends_only" if when != "weekdays" else "3x_week"
        case "3-5":
            return "3x_week"
        case "6-7":
            return "daily"
        case _:
            return None


def _days(said: str) -> str | None:
    numbers = [int(each) for each in _NUMBER.findall(said)]
    numbers += [number for word, number in _NUMBER_WORDS.items() if re.search(rf"\b{word}\b", said)]
    if not numbers or not 1 <= max(numbers) <= 7:
        return None
    most = max(numbers)
    return "1-2" if most <= 2 else "3-5" if most <= 5 else "6-7"


def _worded(question_id: str, said: str) -> str | None:
    words: Mapping[str, list[str]] = _read()[question_id]["words"]
    found = [
        option
        for option, parts in words.items()
        if any(re.search(rf"\b{re.escape(part)}", said) for part in parts)
    ]
    return found[0] if len(found) == 1 else None


def _read() -> dict[str, dict[str, Any]]:
    return bundled_yaml("callboard.packs.alfred.kitchen", "questions.yaml")
