"""The filter language: typed conditions that become bound SQL, and nothing else."""

from callboard.packs.alfred.relational.filters.compiling import FilterCompiler
from callboard.packs.alfred.relational.filters.dates import Today, resolve_date
from callboard.packs.alfred.relational.filters.fields import Field, find_field
from callboard.packs.alfred.relational.filters.limits import check_complexity

__all__ = [
    "Field",
    "FilterCompiler",
    "Today",
    "check_complexity",
    "find_field",
    "resolve_date",
]
