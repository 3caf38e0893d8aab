"""The ways credentials fail; all are for the user to fix, and none quotes a key."""

from callboard.core.errors import CallboardError, InvalidInput
from callboard.core.tiers import ErrorTier
from callboard.models.errors import MissingKey


class CredentialsUnreadable(CallboardError):
    """The encrypted file is damaged, or was made by somebody else or on another machine."""

    code = "credentials_unreadable"
    tier = ErrorTier.USER_FIXABLE


class CredentialsUnusable(CallboardError):
    """Keys cannot be kept here."""

    code = "credentials_unusable"
    tier = ErrorTier.USER_FIXABLE


class UnknownProvider(InvalidInput):
    """A provider was named that nobody knows."""

    code = "unknown_provider"


class InvalidKey(MissingKey):
    """The provider does not accept the key."""

    code = "invalid_key"
