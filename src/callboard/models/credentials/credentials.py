"""Credentials: the keys of one profile, looked for in the environment, project, keyring and file.

Profiles are readable files that say which providers have a key; they hold no key ever.

The environment always wins, over a chosen profile too; a project's own keys win over the user's.
What is found stays in memory.

They are notes for people and for listings; whether there is a key is decided where keys lie.
"""

import logging
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from callboard.core.errors import CallboardError, InvalidInput
from callboard.core.parsing import decode_text, parse_yaml
from callboard.models.credentials.encrypted_file import EncryptedFile
from callboard.models.credentials.keychain import Keychain
from callboard.models.credentials.secret import Scrubber, Secret
from callboard.models.credentials.source import (
    CredentialsUnreadable,
    CredentialsUnusable,
    EnvironmentKeys,
    FoundKey,
    KeyPlace,
    account_of,
    service_account_info,
    variables_of,
)
from callboard.store.files import locked_folder, write_atomically
from callboard.store.reading import read_bounded

_log = logging.getLogger(__name__)


FOLDER_NAME: Final = "profiles"
_LARGEST_BYTES: Final = 1_000_000


class ProfileFiles:
    """The profiles of one user."""

    def __init__(self, folder: Path) -> None:
        """Take the user's configuration folder."""
        self._folder = folder / FOLDER_NAME

    def names(self) -> tuple[str, ...]:
        """Return the profiles somebody has stored a key in."""
        return tuple(sorted(file.stem for file in self._folder.glob("*.yaml")))

    def read(self, profile: str) -> dict[str, bool]:
        """Return of which providers a profile has credentials; an unreadable file says nothing."""
        try:
            data = read_bounded(self._path(profile), limit_bytes=_LARGEST_BYTES)
            content: Any = parse_yaml(decode_text(data))
            providers = cast("dict[str, Any]", content["providers"])
            return {str(name): bool(each["has_credentials"]) for name, each in providers.items()}
        except FileNotFoundError:
            return {}
        except (OSError, CallboardError, KeyError, TypeError, AttributeError) as error:
            _log.warning("the profile %s cannot be read: %s", profile, type(error).__name__)
            return {}

    def note(self, profile: str, provider: str, *, has_credentials: bool) -> None:
        """Write down that a profile has, or no longer has, credentials of a provider."""
        import yaml

        try:
            with locked_folder(self._folder):
                known = {**self.read(profile), provider: has_credentials}
                content = {
                    "name": profile,
                    "providers": {name: {"has_credentials": known[name]} for name in sorted(known)},
                }
                text = yaml.safe_dump(content, sort_keys=False)
                write_atomically(self._path(profile), text.encode())
        except OSError as error:
            # The key itself is where it belongs; a missing note costs a line in a listing.
            _log.warning("the profile %s was not written: %s", profile, error.strerror or error)

    def _path(self, profile: str) -> Path:
        return self._folder / f"{profile}.yaml"


@dataclass(frozen=True, slots=True)
class KeyStatus:
    """Whether a provider has a key, where it comes from, and how it ends."""

    provider: str
    variables: tuple[str, ...]
    found: FoundKey | None

    @property
    def origin(self) -> str:
        """Where the key lies, in words; empty without a key."""
        if self.found is None:
            return ""
        if self.found.variable is not None:
            return self.found.variable
        names = {KeyPlace.KEYRING: "keyring", KeyPlace.PROJECT: "project's encrypted file"}
        return names.get(self.found.place, "encrypted file")


@dataclass(frozen=True, slots=True)
class KeySurvey:
    """What is known of several providers' keys, and what kept some from being found."""

    keys: tuple[KeyStatus, ...]
    problem: CredentialsUnreadable | CredentialsUnusable | None = None


class Credentials:
    """A `KeySource` that also stores and forgets keys."""

    def __init__(
        self,
        environ: Mapping[str, str],
        keychain: Keychain,
        file: EncryptedFile,
        profile: str = "default",
        *,
        project: EncryptedFile | None = None,
        profiles: ProfileFiles | None = None,
    ) -> None:
        """Take the places where keys lie, and where it is noted which profile has which."""
        self.profile = profile
        self.keychain = keychain
        self.file = file
        self.project = project
        self.profiles = profiles
        self._environment = EnvironmentKeys(environ)
        self._scrubber = Scrubber()
        # Providers ask from worker threads.
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls,
        environ: Mapping[str, str],
        folder: Path,
        profile: str = "default",
        *,
        project: Path | None = None,
    ) -> "Credentials":
        """Return the keys of a user whose configuration lies in a folder.

        `project` is a folder in which a project may have keys of its own.
        """
        return cls(
            environ,
            Keychain(),
            EncryptedFile(folder),
            profile,
            project=None if project is None else EncryptedFile(project),
            profiles=ProfileFiles(folder),
        )

    def find(self, account: str, variables: tuple[str, ...]) -> FoundKey | None:
        """Return the first key found for a provider; the variables are looked at first."""
        found = self._environment.find(account, variables) or self._stored(account)
        if found is not None:
            self._scrubber.add(found.secret)
        return found

    @property
    def scrubber(self) -> Scrubber:
        """What knows the keys that were found or stored here."""
        return self._scrubber

    def learn(self, account: str, variables: tuple[str, ...]) -> None:
        """Know a provider's keys from the environment and the files, without asking the keyring."""
        found = self._environment.find(account, variables)
        for secret in (
            None if found is None else found.secret,
            None if self.project is None else self.project.get(self.profile, account),
            self.file.get(self.profile, account),
        ):
            if secret is not None:
                self._scrubber.add(secret)

    def save(self, provider: str, secret: Secret, *, for_project: bool = False) -> KeyPlace:
        """Store a key in the keyring, or where there is none in the file; say which.

        One `for_project` is only used in that project, and lies in a file of the project's.
        """
        account = account_of(provider)
        _check(secret)
        self._scrubber.add(secret)
        if for_project:
            self._project_file().set(self.profile, account, secret)
            return KeyPlace.PROJECT
        with self._lock:
            place = KeyPlace.KEYRING
            if self.keychain.set(self.profile, account, secret):
                # An old key left in the file would come back one day.
                self.file.delete(self.profile, account)
            else:
                place = KeyPlace.FILE
                self.file.set(self.profile, account, secret)
        found = self._users(account)
        if found is None or found.secret != secret:
            raise self._stuck(account)
        self._note(account, has_credentials=True)
        return place

    def remove(self, provider: str) -> tuple[KeyPlace, ...]:
        """Forget a provider's stored key and say where it was; the environment is not touched."""
        account = account_of(provider)
        with self._lock:
            removed = {
                KeyPlace.PROJECT: self.project is not None
                and self.project.delete(self.profile, account),
                KeyPlace.KEYRING: self.keychain.delete(self.profile, account),
                KeyPlace.FILE: self.file.delete(self.profile, account),
            }
        if self._stored(account) is not None:
            raise self._stuck(account)
        if removed[KeyPlace.KEYRING] or removed[KeyPlace.FILE]:
            self._note(account, has_credentials=False)
        return tuple(place for place, was_there in removed.items() if was_there)

    def survey(self, providers: Iterable[tuple[str, tuple[str, ...]]]) -> KeySurvey:
        """Say of several providers, each with its variables, whether there is a key."""
        keys: list[KeyStatus] = []
        problem: CredentialsUnreadable | CredentialsUnusable | None = None
        for provider, variables in providers:
            found = None
            try:
                found = self.find(account_of(provider), variables)
            except (CredentialsUnreadable, CredentialsUnusable) as error:
                problem = error
            keys.append(KeyStatus(provider, variables, found))
        return KeySurvey(tuple(keys), problem)

    def status(self, provider: str) -> KeyStatus:
        """Say whether a provider has a key, and where it comes from."""
        variables = variables_of(provider)
        return KeyStatus(provider, variables, self.find(account_of(provider), variables))

    def scrub(self, text: str) -> str:
        """Return a text without any key that was found or stored here, or that looks like one."""
        return self._scrubber.scrub(text)

    def _stored(self, account: str) -> FoundKey | None:
        own = None if self.project is None else self.project.get(self.profile, account)
        return FoundKey(own, KeyPlace.PROJECT) if own is not None else self._users(account)

    def _users(self, account: str) -> FoundKey | None:
        secret = self.keychain.get(self.profile, account)
        if secret is not None:
            return FoundKey(secret, KeyPlace.KEYRING)
        secret = self.file.get(self.profile, account)
        return None if secret is None else FoundKey(secret, KeyPlace.FILE)

    def _note(self, account: str, *, has_credentials: bool) -> None:
        if self.profiles is not None:
            self.profiles.note(self.profile, account, has_credentials=has_credentials)

    def _project_file(self) -> EncryptedFile:
        if self.project is None:
            raise InvalidInput(
                "There is no project here that could have a key of its own",
                fix="Run `callboard init` first, or store the key for yourself.",
            )
        return self.project

    def _stuck(self, account: str) -> CredentialsUnusable:
        return CredentialsUnusable(
            f"The keyring holds a key for {account!r} and does not let go of it.",
            fix=f"Remove {account!r} of service `callboard:{self.profile}` from it by hand.",
            provider=account,
        )


def _check(secret: Secret) -> None:
    if service_account_info(secret):
        return
    value = secret.reveal()
    if not value or not value.isascii() or not value.isprintable() or " " in value:
        raise InvalidInput(
            "This is not a key: a key is one word of printable characters.",
            fix="Copy the key again, without spaces, quotes or line breaks.",
        )
