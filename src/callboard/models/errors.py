"""The ways a model call fails that have a name of their own; all are provider errors."""

from collections.abc import Mapping

from callboard.core.classify import Classifier, status_of
from callboard.core.errors import CallboardError, ErrorTier, Fault, InvalidInput, ProviderError

_KEPT_HEADERS = ("retry-after", "x-ratelimit", "anthropic-ratelimit", "x-request-id", "request-id")


class UnknownModel(InvalidInput):
    """The model id names no provider."""

    code = "unknown_model"
    fault = Fault.MISSING


class FileModelRefused(UnknownModel):
    """The model is a file, and the user has not named it."""

    code = "file_model_refused"
    fault = Fault.UNUSABLE


class ProviderTimeout(ProviderError):
    """The provider was silent or busy for too long."""

    code = "provider_timeout"
    tier = ErrorTier.TRANSIENT


class SchemaRefused(InvalidInput):
    """The provider cannot work with the JSON schema of the request."""

    code = "schema_refused"


class InvalidReply(ProviderError):
    """The reply is not JSON or breaks the schema, on every rung of the ladder."""

    code = "invalid_reply"


class MissingKey(ProviderError):
    """A provider needs a key nobody has set."""

    code = "missing_key"
    tier = ErrorTier.USER_FIXABLE


class KeyNotTied(ProviderError):
    """A key would go to an address that the user has not tied it to."""

    code = "key_not_tied"
    tier = ErrorTier.USER_FIXABLE


class CircuitOpen(ProviderError):
    """A provider has failed so often that it is left alone for a while."""

    code = "circuit_open"
    tier = ErrorTier.EXTERNAL_DEGRADING


class PromptTooLong(ProviderError):
    """The prompt does not fit into the model's window."""

    code = "prompt_too_long"


class ScriptExhausted(ProviderError):
    """A script was asked for a reply it does not hold."""

    code = "script_exhausted"


class WeightsUnusable(ProviderError):
    """The embedded model's weights are missing, damaged or could not be fetched."""

    code = "weights_unusable"
    tier = ErrorTier.USER_FIXABLE


class RateLimited(ProviderError):
    """A provider refused a call as one too many, as often as the policy lets it be asked."""

    code = "rate_limited"
    tier = ErrorTier.EXTERNAL_RATE_LIMIT


class CredentialPaused(ProviderError):
    """A call was not sent, because the provider asked to be left alone for a while."""

    code = "credential_paused"
    tier = ErrorTier.EXTERNAL_RATE_LIMIT


class QueueClosed(CallboardError):
    """A call waited, or came, when the queue was closed."""

    code = "queue_closed"
    tier = ErrorTier.PERMANENT


def as_provider_error(
    error: Exception, *, model: str, partial: str, classifier: Classifier
) -> CallboardError:
    """Give any failure of a provider its tier, its model and the text that had arrived."""
    if isinstance(error, ProviderError):
        error.tier = classifier.tier_of(error)
    elif isinstance(error, CallboardError):
        return error
    else:
        words = str(error) or type(error).__name__
        error = ProviderError(
            f"Model {model!r} failed: {words}",
            status=status_of(error),
            headers=kept_headers(getattr(error, "headers", None)),
            tier=classifier.tier_of(error),
            type=type(error).__name__,
        )
    error.context.setdefault("model", model)
    if error.partial is None and partial:
        error.partial = partial
        error.context["partial"] = partial
    return error


def kept_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return the response headers that steer retries and support requests, and no others."""
    lowered = {name.lower(): value for name, value in (headers or {}).items()}
    return {name: value for name, value in lowered.items() if name.startswith(_KEPT_HEADERS)}
