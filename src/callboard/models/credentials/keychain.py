"""The operating system's keyring. Where there is none it says so; it never fails a lookup."""

import logging
from importlib import import_module
from typing import Any, Final, Protocol, cast

from callboard.models.credentials.secret import Secret

_LEAST_PRIORITY: Final = 1
"""What keyring itself recommends: below are stores in clear text and ones that keep nothing."""

_log = logging.getLogger(__name__)


class Backend(Protocol):
    """What is used of a back end of the `keyring` package."""

    priority: Any

    def get_password(self, service: str, username: str) -> str | None:
        """Return a stored text."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """Store a text."""
        ...

    def delete_password(self, service: str, username: str) -> None:
        """Forget a text."""
        ...


class Keychain:
    """Keys in the keyring: service `callboard:<profile>`, account = provider."""

    def __init__(self, backend: Backend | None = None) -> None:
        """Take a back end, or let the `keyring` package choose at first use."""
        self._backend = backend
        self._is_chosen = backend is not None
        self._told: set[str] = set()

    def get(self, profile: str, account: str) -> Secret | None:
        """Return a key, or nothing if there is none or no keyring."""
        backend = self._usable()
        if backend is None:
            return None
        try:
            value = backend.get_password(_service(profile), account)
        except Exception as error:  # noqa: BLE001 - the border to the keyring: locked, gone, broken
            self._tell("cannot be read", error)
            return None
        return Secret(value) if value else None

    def set(self, profile: str, account: str, secret: Secret) -> bool:
        """Store a key and say whether it is really there."""
        backend = self._usable()
        if backend is None:
            return False
        try:
            backend.set_password(_service(profile), account, secret.reveal())
        except Exception as error:  # noqa: BLE001 - the border to the keyring: locked, gone, broken
            self._tell("cannot be written", error)
            return False
        # Some keyrings accept everything and keep nothing.
        return self.get(profile, account) == secret

    def delete(self, profile: str, account: str) -> bool:
        """Forget a key and say whether there was one."""
        backend = self._usable()
        if backend is None or self.get(profile, account) is None:
            return False
        try:
            backend.delete_password(_service(profile), account)
        except Exception as error:  # noqa: BLE001 - the border to the keyring: locked, gone, broken
            self._tell("does not let go of a key", error)
            return False
        return True

    def _usable(self) -> Backend | None:
        if not self._is_chosen:
            self._backend, self._is_chosen = _choose(), True
        return self._backend

    def _tell(self, what: str, error: Exception) -> None:
        # Once: a keyring that is locked may be asked for every provider.
        level = logging.DEBUG if what in self._told else logging.WARNING
        self._told.add(what)
        _log.log(level, "the keyring %s (%s) and is passed over", what, _kind(error))


def _choose() -> Backend | None:
    try:
        backend = cast(Backend, import_module("keyring").get_keyring())
        is_good = float(backend.priority) >= _LEAST_PRIORITY
    except Exception as error:  # noqa: BLE001 - the border to the keyring: not installed, no session
        _log.debug("no keyring: %s", _kind(error))
        return None
    return backend if is_good else None


def _service(profile: str) -> str:
    return f"callboard:{profile}"


def _kind(error: Exception) -> str:
    # Not its words: they may hold what was stored.
    return type(error).__name__
