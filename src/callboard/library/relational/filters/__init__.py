"""The filter language: typed conditions that become bound SQL, and nothing else."""

from callboard.library.relational.filters.compiling import FilterCompiler
from callboard.library.relational.filters.dates import Today, resolve_date
from callboard.library.relational.filters.fields import Field, find_field
from callboard.library.relational.filters.limits import check_complexity

__all__ = [
    "Field",
    "FilterCompiler",
    "Today",
    "check_complexity",
    "find_field",
    "resolve_date",
]
