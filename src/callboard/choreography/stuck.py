"""A model call that nothing could save: what was tried, and what the human can choose from.

The gate has retried, waited and asked every stand-in by now. Only asked where the settings say so;
otherwise the step fails, and the run can be retried.
"""

from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.core.errors import CallboardError, ErrorTier, ProviderError, tier_views
from callboard.core.settings import Settings
from callboard.models.model_id import provider_of

TRY_AGAIN: Final = "try again"
ASK_PATTERN: Final = r"ask \S+ instead"
# How likely it is, by tier, that the same model answers next time, and that another one does.
_LIKELIHOODS: Final = {
    ErrorTier.TRANSIENT: (0.8, 0.6),
    ErrorTier.EXTERNAL_RATE_LIMIT: (0.9, 0.7),
    ErrorTier.EXTERNAL_DEGRADING: (0.5, 0.8),
    ErrorTier.USER_FIXABLE: (0.9, 0.6),
}


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something that may help: the answer that chooses it, and how likely it is to succeed."""

    answer: str
    likelihood: float

    def to_json(self) -> dict[str, Json]:
        """Return the shape the question's detail holds."""
        return {"answer": self.answer, "likelihood": self.likelihood}


def can_be_helped(error: ProviderError, settings: Settings) -> bool:
    """Say whether the human is asked about a failed call instead of failing its step."""
    return settings.errors.when_stuck == "ask" and error.tier in _LIKELIHOODS


def remedies(error: CallboardError, settings: Settings) -> tuple[Remedy, ...]:
    """Return what may help against a failed call, most promising first."""
    again, other = _LIKELIHOODS[error.tier]
    failed = {str(error.context.get("model", "")), *_also_tried(error)}
    down = {provider_of(model) for model in failed}
    stand_ins = dict.fromkeys((settings.models.default, *settings.models.fallback_default, "local"))
    found = [Remedy(TRY_AGAIN, again)]
    found += [
        Remedy(f"ask {model} instead", other)
        for model in stand_ins
        if model not in failed and provider_of(model) not in down
    ]
    return tuple(sorted(found, key=lambda remedy: -remedy.likelihood))


def told(error: CallboardError) -> str:
    """Return what failed and what was tried, in words."""
    view = tier_views[error.tier]
    tried: list[str] = []
    attempts = error.context.get("attempts")
    if isinstance(attempts, int) and attempts > 1:
        tried.append(f"asked {attempts} times")
    tried += [f"{model} asked in its place" for model in _also_tried(error)]
    done = f" Tried so far: {', '.join(tried)}." if tried else ""
    return f"{view.headline}: {error.message}{done} {error.fix or view.way_out}"


def model_named(answer: Json) -> str | None:
    """Return the model an answer wants to be asked instead, if it names one."""
    words = answer.split() if isinstance(answer, str) else []
    return words[1] if len(words) == 3 and words[0] == "ask" else None


def _also_tried(error: CallboardError) -> list[str]:
    listed = cast("list[dict[str, Any]]", error.context.get("also_tried") or [])
    return [str(each["model"]) for each in listed]
