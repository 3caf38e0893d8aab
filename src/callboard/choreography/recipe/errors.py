"""What can go wrong with a recipe, by who must act. Every code has one meaning."""

from dataclasses import dataclass

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, Conflict, ErrorTier, InvalidInput, NotFound


class RecipeNotFound(NotFound):
    """There is no recipe of that name."""

    code = "unknown_recipe"


class RecipeInvalid(InvalidInput):
    """A recipe cannot be used as it is written."""

    code = "recipe_invalid"


class RefSyntaxError(InvalidInput):
    """A reference is not written as references are."""

    code = "ref_syntax"


class RefResolutionError(CallboardError):
    """A reference leads nowhere: something on its way is absent or null."""

    code = "ref_unresolved"
    tier = ErrorTier.PERMANENT

    def __init__(self, path: str, segment: str, reason: str) -> None:
        """Name the whole path, the segment at which it ends, and why."""
        super().__init__(
            f"The reference {path!r} cannot be resolved: {segment!r} {reason}",
            fix="Look at the slots of the run, or correct the recipe.",
            path=path,
            segment=segment,
        )
        self.path = path
        self.segment = segment
        self.reason = reason


class MissingArgs(InvalidInput):
    """A recipe was started without something it needs, and nothing in the words gives it."""

    code = "missing_args"


class RecipeRunning(Conflict):
    """A run of the same recipe is still under way."""

    code = "recipe_running"


class AgentError(CallboardError):
    """An agent could not be asked, or its model failed."""

    code = "agent_error"

    def __init__(self, message: str, *, fix: str | None, tier: ErrorTier, **context: Json) -> None:
        """Keep the tier of what went wrong underneath."""
        super().__init__(message, fix=fix, **context)
        self.tier = tier


class AgentTimeout(CallboardError):
    """An agent took longer than the settings allow."""

    code = "agent_timeout"
    tier = ErrorTier.PERMANENT


class StopHook(CallboardError):
    """An agent asked that the work be stopped."""

    code = "stop_hook"
    tier = ErrorTier.PERMANENT


class EvidenceInvalid(CallboardError):
    """A reply does not rest on what it cites."""

    code = "evidence_invalid"
    tier = ErrorTier.PERMANENT


class EmptyOutput(CallboardError):
    """An agent answered without saying anything."""

    code = "empty_output"
    tier = ErrorTier.PERMANENT


class InputAbstained(CallboardError):
    """A step needs the output of an agent who had nothing to say."""

    code = "input_abstained"
    tier = ErrorTier.PERMANENT


class CommitRefused(CallboardError):
    """A result may not be written where the recipe says."""

    code = "commit_refused"
    tier = ErrorTier.PERMANENT


class DodFailed(CallboardError):
    """The definition of done is not met, whatever the agents say."""

    code = "dod_failed"
    tier = ErrorTier.PERMANENT


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a recipe: the file, the field, and what it is."""

    file: str
    field: str
    message: str

    def __str__(self) -> str:
        """Render as one line for a report."""
        return f"{self.file}: {self.field}: {self.message}" if self.field else self._short

    @property
    def _short(self) -> str:
        return f"{self.file}: {self.message}"

    def to_json(self) -> dict[str, Json]:
        """Return the shape doors show."""
        return {"file": self.file, "field": self.field, "message": self.message}


def invalid(problems: list[Problem]) -> RecipeInvalid:
    """Return the error that tells all problems of a recipe."""
    return RecipeInvalid(
        "; ".join(str(problem) for problem in problems),
        fix="Correct the named fields.",
        problems=[problem.to_json() for problem in problems],
    )
