"""What remote providers say when they fail, sorted into tiers, and HTTP logs kept free of keys.

A server may repeat a key in its headers, and the libraries log those at their most talkative
level. Only their loggers are touched, and only for as long as a connection is open.
"""

import logging
import traceback
from typing import Any, Final, cast

from callboard.core.classify import Classifier, status_of
from callboard.core.errors import CallboardError, ErrorTier, ProviderError
from callboard.models.credentials import Secret
from callboard.models.credentials.secret import Scrubber
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


_TALKERS: Final = (
    "anthropic",
    "google_genai",
    "groq",
    "httpcore",
    "httpcore2",
    "httpx",
    "httpx2",
    "mistralai",
    "openai",
    "pydantic_ai",
)


class WireLog(logging.Filter):
    """A filter on the loggers of those who carry keys."""

    def __init__(self) -> None:
        """Start without a key and without a logger."""
        super().__init__()
        self._scrubber = Scrubber()
        self._loggers: list[logging.Logger] = []

    def watch(self, secret: Secret | None) -> None:
        """Cut a key out of everything that is logged from now on."""
        if secret is None:
            return
        self._scrubber.add(secret)
        # A filter holds for one logger and not for those below it, so each gets its own.
        for name in list(logging.Logger.manager.loggerDict):
            logger = logging.getLogger(name) if name.partition(".")[0] in _TALKERS else None
            if logger is not None and self not in logger.filters:
                logger.addFilter(self)
                self._loggers.append(logger)

    def release(self) -> None:
        """Leave the loggers as they were."""
        for logger in self._loggers:
            logger.removeFilter(self)
        self._loggers.clear()

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite a record that holds a key; let every record pass."""
        text = record.getMessage()
        if self._scrubber.finds_in(text):
            record.msg, record.args = self._scrubber.scrub(text), ()
        if record.exc_info and record.exc_info[1] is not None:
            told = "".join(traceback.format_exception(record.exc_info[1]))
            if self._scrubber.finds_in(told):
                record.exc_info, record.exc_text = None, self._scrubber.scrub(told)
        return True
