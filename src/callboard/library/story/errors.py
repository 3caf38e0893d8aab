"""What can go wrong with a story tool beyond what any tool may meet."""

from callboard.tools import ToolError


class NoOutline(ToolError):
    """The project has no outline, or none could be told from the other files."""

    code = "no_outline"
