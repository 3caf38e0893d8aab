"""What can go wrong with a tool call. A refusal means that nothing ran."""

from callboard.core.errors import CallboardError, ErrorTier, Fault


class ToolError(CallboardError):
    """Root of the errors of this room; packs derive their own from it."""

    code = "tool_failed"


class CallRefused(ToolError):
    """The call was turned down before anything ran."""

    code = "tool_refused"
    is_refusal = True


class UnknownTool(CallRefused):
    """Nobody registered a tool under that id."""

    code = "unknown_tool"
    fault = Fault.MISSING


class InvalidArgs(CallRefused):
    """The arguments do not fit what the tool takes."""

    code = "invalid_args"
    fault = Fault.UNUSABLE


class NonceInvalid(CallRefused):
    """The nonce was never minted for this call, or was used before."""

    code = "nonce_invalid"


class InvalidTool(ToolError):
    """A tool is declared in a way that cannot work."""

    code = "invalid_tool"


class ToolTimeout(ToolError):
    """The tool did not finish in time."""

    code = "tool_timeout"
    tier = ErrorTier.TRANSIENT


class ToolCancelled(ToolError):
    """The tool was stopped while it ran."""

    code = "tool_cancelled"


class PathOutsideProject(ToolError):
    """The path leads out of the project's own files."""

    code = "path_outside_project"
    fault = Fault.UNUSABLE
    is_refusal = True


class NameRefused(PathOutsideProject):
    """The path is in the project, and no tool writes a file of that name."""

    code = "name_refused"


class FileMissing(ToolError):
    """There is no such file in the project."""

    code = "file_not_found"
    fault = Fault.MISSING
    is_refusal = True


class Unreadable(ToolError):
    """The file is there but cannot be read as what was asked for."""

    code = "unreadable"
    fault = Fault.UNUSABLE
    is_refusal = True


class TooManyFiles(ToolError):
    """The project holds more files than a tool goes through."""

    code = "too_many_files"


class OutputTooLarge(ToolError):
    """A tool gave back more than may be kept."""

    code = "output_too_large"


class FileChanged(ToolError):
    """The file is not the one the caller had seen."""

    code = "file_changed"
    fault = Fault.STATE
    is_refusal = True


class SecretUnusable(ToolError):
    """The key that signs receipts cannot be read or made."""

    code = "secret_unusable"
    tier = ErrorTier.USER_FIXABLE
