"""What a command has that is no administrator's: the permissions of its files and no more."""

import ctypes
import os


def give_up() -> None:
    """Have the system look at permissions, which it does not for an administrator."""
    if os.geteuid():
        return
    version_3 = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).capset(version_3, nothing):
        raise OSError(ctypes.get_errno(), "capset")
