"""Failures of remote providers, sorted into tiers by what pydantic-ai knows about them."""

from typing import Any, Final, cast

from callboard.core.classify import Classifier, status_of
from callboard.core.errors import CallboardError, ProviderError
from callboard.core.tiers import ErrorTier
from callboard.models.credentials import Scrubber, Secret
from callboard.models.errors import PromptTooLong, kept_headers

_MAX_WORDS: Final = 600


def provider_error(
    error: Exception, model: str, secret: Secret | None, classifier: Classifier
) -> CallboardError:
    """Return a provider error with status, headers and tier, and without the key."""
    from pydantic_ai.exceptions import ModelContextWindowExceededError, UnexpectedModelBehavior

    rubbish = (UnexpectedModelBehavior, ValueError, TypeError, AttributeError, LookupError)
    if isinstance(error, CallboardError):
        return error
    is_too_long = isinstance(error, ModelContextWindowExceededError)
    tier = _tier(error) or classifier.tier_of(error)
    words = _words(error)
    if isinstance(error, rubbish):
        words = f"its answer makes no sense: {words}"
    scrubber = Scrubber(() if secret is None else (secret,))
    headers = kept_headers(getattr(error, "headers", None))
    kind = PromptTooLong if is_too_long else ProviderError
    return kind(
        f"Model {model!r} failed: {scrubber.scrub(words)[:_MAX_WORDS]}",
        status=status_of(error),
        headers={name: scrubber.scrub(value) for name, value in headers.items()},
        tier=tier,
        fix=_way_out(tier, is_too_long=is_too_long),
        type=type(error).__name__.lstrip("_"),
    )


def quotes_key(error: BaseException, secret: Secret | None) -> bool:
    """Say whether an error, or one behind it, would show the key to whoever prints it."""
    if secret is None:
        return False
    scrubber = Scrubber((secret,))
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        if scrubber.finds_in(f"{link!r} {link} {vars(link)!r}"):
            return True
        link = link.__cause__ or link.__context__
    return False


def _tier(error: Exception) -> ErrorTier | None:
    """Sort by category; what pydantic-ai has no category for is left to the classifier."""
    from pydantic_ai import exceptions as known

    if isinstance(error, known.ModelTimeoutError | known.ModelRequestTimeout):
        return ErrorTier.TRANSIENT
    if isinstance(error, known.ModelConnectionError):
        # Nobody answered the door, against: the line broke while we were talking.
        is_unreachable = error.phase == "connect"
        return ErrorTier.EXTERNAL_DEGRADING if is_unreachable else ErrorTier.TRANSIENT
    if isinstance(error, known.ModelAuthenticationError | known.ModelQuotaExceededError):
        return ErrorTier.USER_FIXABLE
    if isinstance(error, known.ModelRateLimitError):
        return ErrorTier.EXTERNAL_RATE_LIMIT
    if isinstance(error, known.ModelUnavailableError | known.ModelServerError):
        return ErrorTier.EXTERNAL_DEGRADING
    return None


def _words(error: Exception) -> str:
    body: Any = getattr(error, "body", None)
    said: Any = cast("dict[str, Any]", body).get("message") if isinstance(body, dict) else None
    status = status_of(error)
    text = str(said) if said else str(error) or type(error).__name__
    return (f"HTTP {status}: " if status else "") + text


def _way_out(tier: ErrorTier, *, is_too_long: bool) -> str | None:
    if is_too_long:
        return "Shorten the prompt, or choose a model with a larger window."
    if tier is ErrorTier.USER_FIXABLE:
        return "Check the provider's key, its rights and its credit, then retry the run."
    if tier is ErrorTier.EXTERNAL_DEGRADING:
        return "Wait until the provider is back, or choose another model, then retry the run."
    return None
