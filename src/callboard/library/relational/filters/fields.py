"""Fields: what a filter may name, and how a column is reached from its table."""

from dataclasses import dataclass

from callboard.choreography.turn.requests import QueryError
from callboard.library.relational.tables import ColumnFacts, Described, Relation, Tables


@dataclass(frozen=True, slots=True)
class Field:
    """A column, and the way to it: none, one relation, or two."""

    column: ColumnFacts
    owner: Described
    relation: Relation | None = None
    through: Relation | None = None


def find_field(tables: Tables, table: Described, name: str) -> Field:
    """Return what a name means in a table, or say what there is."""
    own, _, rest = name.partition(".")
    if not rest:
        if own in table.relations and table.relations[own].many:
            return _sole_column(tables, table.relations[own])
        return Field(_column(table, own, name), table)
    relation = table.relations.get(own)
    if relation is None:
        raise _unknown(name, list(table.readable) + [f"{each}.…" for each in table.relations])
    other = tables[relation.table]
    if rest in other.columns and not other.columns[rest].hidden:
        return Field(other.columns[rest], other, relation)
    if relation.through is not None:
        beyond = tables[relation.through.table]
        return Field(_column(beyond, rest, name), beyond, relation, relation.through)
    return Field(_column(other, rest, name), other, relation)


def reachable(tables: Tables, table: Described) -> list[str]:
    """Return every name a filter on a table may use."""
    names = list(table.readable)
    for relation in table.relations.values():
        names += [f"{relation.name}.{each}" for each in tables[relation.table].readable]
        if relation.through is not None:
            beyond = tables[relation.through.table]
            names += [f"{relation.name}.{each}" for each in beyond.readable]
    return names


def _sole_column(tables: Tables, relation: Relation) -> Field:
    """Return what `tags` means by itself: the label of the rows it leads to."""
    other = tables[relation.table]
    if relation.through is not None:
        beyond = tables[relation.through.table]
        return Field(beyond.columns[beyond.label], beyond, relation, relation.through)
    return Field(other.columns[other.label], other, relation)


def _column(table: Described, column: str, name: str) -> ColumnFacts:
    facts = table.columns.get(column)
    if facts is None or facts.hidden:
        raise _unknown(name, list(table.readable))
    return facts


def _unknown(name: str, allowed: list[str]) -> QueryError:
    from rapidfuzz import process

    near = process.extractOne(name, allowed, score_cutoff=60)
    return QueryError(
        "unknown_column",
        f"There is no field {name!r}",
        field=name,
        allowed=allowed,
        hint=f"Did you mean {near[0]!r}?" if near else "",
    )
