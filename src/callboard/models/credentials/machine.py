"""What ties a file to this machine and this user: an id the system made when it was installed."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from callboard.models.credentials.errors import CredentialsUnusable

_LINUX_FILES: Final = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_IOREG: Final = ("/usr/sbin/ioreg", "-rd1", "-c", "IOPlatformExpertDevice")


def machine_id(linux_files: tuple[Path, ...] = _LINUX_FILES) -> str:
    """Return the machine's own id; without one no key can be tied to it."""
    readers = {"darwin": _mac_id, "win32": _windows_id}
    found = readers.get(sys.platform, lambda: _linux_id(linux_files))()
    if not found:
        raise CredentialsUnusable(
            "This machine has no id, so a file of keys cannot be tied to it.",
            fix="Give the key in its environment variable, or run `systemd-machine-id-setup`.",
        )
    return found


def user_name() -> str:
    """Return who runs this process, by the system's account and not by a variable."""
    try:
        import pwd
    except ImportError:
        import getpass

        return getpass.getuser()
    user_id = os.getuid()
    try:
        return pwd.getpwuid(user_id).pw_name
    except KeyError:
        return str(user_id)


def _linux_id(files: tuple[Path, ...]) -> str:
    for file in files:
        try:
            found = file.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            continue
        # Images that make their id at the first start hold this word until then.
        if found and found != "uninitialized":
            return found
    return ""


def _mac_id() -> str:
    try:
        done = subprocess.run(_IOREG, capture_output=True, text=True, check=True, timeout=10)  # noqa: S603 - a fixed command
    except (OSError, subprocess.SubprocessError):
        return ""
    match = re.search(r'"IOPlatformUUID"\s*=\s*"([^"]+)"', done.stdout)
    return match.group(1) if match else ""


def _windows_id() -> str:
    from importlib import import_module

    registry: Any = import_module("winreg")
    try:
        path = r"SOFTWARE\Microsoft\Cryptography"
        with registry.OpenKey(registry.HKEY_LOCAL_MACHINE, path) as folder:
            return str(registry.QueryValueEx(folder, "MachineGuid")[0])
    except OSError:
        return ""
