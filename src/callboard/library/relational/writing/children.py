"""Children: rows that are written with their owner, such as the ingredients of a recipe."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from callboard.choreography.turn.requests import WriteError
from callboard.library.relational.tables import USER_ID, Described, Relation, Tables
from callboard.library.relational.writing.changes import Changes
from callboard.library.relational.writing.ownership import check_references
from callboard.library.relational.writing.validation import check_record

Values = dict[str, Any]
Children = dict[str, list[Values]]
Prepare = Callable[[Described, Values], Values]
"""Completes the record of a child: names become ids."""


def split_children(
    tables: Tables, table: Described, record: Mapping[str, Any]
) -> tuple[Values, Children]:
    """Return a record's own columns, and the rows it brings along by relation."""
    own: Values = {}
    children: Children = {}
    for name, value in record.items():
        relation = table.relations.get(name)
        if relation is None or not relation.is_child:
            own[name] = value
        else:
            children[name] = _rows(tables, relation, value)
    return own, children


def write_children(
    changes: Changes, table: Described, owner: Values, children: Children, prepare: Prepare
) -> None:
    """Put rows in place of whatever their owner had of that kind."""
    for name, records in children.items():
        relation = table.relations[name]
        other = changes.tables[relation.table]
        _clear(changes, relation, other, owner)
        for position, record in enumerate(records):
            prepared = prepare(other, record)
            link: Values = {relation.remote: owner[relation.local]}
            if "position" in other.columns:
                link["position"] = position
            known = {k: v for k, v in prepared.items() if k not in link}
            values = check_record(other, {**known, **link}, is_whole=True)
            check_references(changes.moment, other, values)
            changes.insert(other, values)


def _rows(tables: Tables, relation: Relation, value: Any) -> list[Values]:
    """Return children as rows; a list of texts means rows with only a label."""
    if not isinstance(value, list):
        raise WriteError(
            "validation",
            f"{relation.name} is a list, not {str(value)[:60]!r}",
            column=relation.name,
        )
    label = tables[relation.table].label
    rows: list[Values] = []
    for each in cast("list[Any]", value):
        if isinstance(each, str):
            rows.append({label: each})
        elif isinstance(each, Mapping):
            rows.append(dict(cast("Mapping[str, Any]", each)))
        else:
            raise WriteError(
                "validation",
                f"{relation.name} holds {str(each)[:60]!r}, which is no row",
                column=relation.name,
            )
    return rows


def _clear(changes: Changes, relation: Relation, other: Described, owner: Values) -> None:
    from sqlalchemy import select

    query = select(other.table).where(
        other.table.c[relation.remote] == owner[relation.local],
        other.table.c[USER_ID] == changes.moment.who.user_id,
    )
    for row in list(changes.moment.connection.execute(query).mappings()):
        changes.delete(other, dict(row))
