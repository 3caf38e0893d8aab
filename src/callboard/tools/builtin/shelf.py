"""The built-in tools, all of them, ready to be registered."""

from typing import Final

from callboard.tools.builtin.done import definition_of_done
from callboard.tools.builtin.find import find_files
from callboard.tools.builtin.read import read_file
from callboard.tools.builtin.search import search_text
from callboard.tools.builtin.stats import text_stats
from callboard.tools.builtin.write import write_file
from callboard.tools.tool import Tool

BUILTIN_TOOLS: Final[tuple[Tool, ...]] = (
    definition_of_done,
    find_files,
    read_file,
    search_text,
    text_stats,
    write_file,
)
