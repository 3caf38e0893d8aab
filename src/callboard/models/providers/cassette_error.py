"""Failures on a cassette: written down so that they fail the same way when played."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from callboard.core.canonical import Json
from callboard.core.classify import Classifier, status_of
from callboard.core.errors import CallboardError, ProviderError
from callboard.core.tiers import ErrorTier
from callboard.models import errors
from callboard.models.errors import as_provider_error

_KINDS: Final = {
    kind.code: kind
    for kind in (
        errors.InvalidReply,
        errors.PromptTooLong,
        errors.ProviderTimeout,
        errors.ScriptExhausted,
    )
}
_NEVER_ASKED: Final = (errors.UnknownModel, errors.MissingKey, errors.WeightsUnusable)
"""Failures on this side: no model was asked, so there is nothing to play again."""


def is_recordable(error: Exception) -> bool:
    """Say whether a failure is the provider's word, and not something missing here."""
    is_ours = isinstance(error, CallboardError)
    return not isinstance(error, _NEVER_ASKED) and (
        not is_ours or isinstance(error, ProviderError | errors.SchemaRefused)
    )


def error_shape(
    error: Exception, model: str, classifier: Classifier, scrub: Callable[[str], str]
) -> dict[str, Json]:
    """Return a failure as it is recorded."""
    known = error
    if not isinstance(known, CallboardError):
        known = as_provider_error(error, model=model, partial="", classifier=classifier)
    headers: Mapping[str, str] = getattr(known, "headers", {})
    return {
        "code": known.code,
        "message": scrub(known.message),
        "tier": classifier.tier_of(known).name.lower(),
        "status": status_of(known),
        "headers": {name: scrub(value) for name, value in headers.items()},
        "fix": None if known.fix is None else scrub(known.fix),
    }


def error_of(shape: Mapping[str, Any]) -> CallboardError:
    """Return a recorded failure, to be raised again."""
    if shape["code"] == errors.SchemaRefused.code:
        return errors.SchemaRefused(shape["message"], fix=shape["fix"])
    kind = _KINDS.get(shape["code"], ProviderError)
    return kind(
        shape["message"],
        status=shape["status"],
        headers=dict(shape["headers"]),
        tier=ErrorTier[shape["tier"].upper()],
        fix=shape["fix"],
    )
