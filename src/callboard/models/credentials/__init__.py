"""Credentials: where providers' keys are kept, found and never shown."""

from callboard.models.credentials.credentials import Credentials, KeyStatus, KeySurvey
from callboard.models.credentials.encrypted_file import EncryptedFile
from callboard.models.credentials.keychain import Keychain
from callboard.models.credentials.secret import Scrubber, Secret
from callboard.models.credentials.source import (
    KEY_VARIABLES,
    CredentialsUnreadable,
    CredentialsUnusable,
    EnvironmentKeys,
    FoundKey,
    InvalidKey,
    KeyPlace,
    KeySource,
    UnknownProvider,
    account_of,
    service_account,
    service_account_info,
    variables_of,
)
from callboard.models.credentials.ties import Tie, Ties, address_of

__all__ = [
    "KEY_VARIABLES",
    "Credentials",
    "CredentialsUnreadable",
    "CredentialsUnusable",
    "EncryptedFile",
    "EnvironmentKeys",
    "FoundKey",
    "InvalidKey",
    "KeyPlace",
    "KeySource",
    "KeyStatus",
    "KeySurvey",
    "Keychain",
    "Scrubber",
    "Secret",
    "Tie",
    "Ties",
    "UnknownProvider",
    "account_of",
    "address_of",
    "service_account",
    "service_account_info",
    "variables_of",
]
