"""Question and Answer: what a run asks the human and what it gets, perhaps days later."""

from dataclasses import dataclass

from callboard.core.canonical import Json
from callboard.core.patterns import compile_pattern


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the human.

    With `choices`, only one of them is an answer, or a text that matches the regular expression
    `pattern` as a whole.
    """

    text: str
    choices: tuple[str, ...] = ()
    default: str | None = None
    detail: Json = None
    pattern: str | None = None

    def allows(self, value: Json) -> bool:
        """Say whether something is an answer to this question."""
        if not self.choices or value in self.choices:
            return True
        if self.pattern is None or not isinstance(value, str):
            return False
        return compile_pattern(self.pattern).fullmatch(value)


@dataclass(frozen=True, slots=True)
class Answer:
    """A question as stored, with its answer once somebody gave it."""

    id: str
    run_id: str
    key: str
    question: Question
    asked_at: int
    value: Json = None
    answered_at: int | None = None
    answered_by: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has answered yet."""
        return self.answered_at is None
