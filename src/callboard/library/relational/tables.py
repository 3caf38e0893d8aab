"""Tables: what a request may name, described once, and the same as prompts show it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from sqlalchemy import Table

USER_ID: Final = "user_id"
SERVER_OWNED: Final = frozenset(
    {"id", USER_ID, "created_at", "updated_at", "version", "name_key", "total_minutes"}
)
"""Columns that only code sets, in whatever table they are."""

Kind = Literal["text", "integer", "number", "boolean", "date", "datetime", "list", "json"]


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """A column as requests see it."""

    name: str
    kind: Kind
    required: bool = False
    writable: bool = True
    # Never shown and never filtered by: whose row it is, keys that code keeps.
    hidden: bool = False
    enum: tuple[str, ...] = ()
    # Bounds of a number: `gt`, `ge`, `le`.
    bounds: Mapping[str, float] = field(default_factory=dict[str, float])
    about: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A way from one table to the rows of another.

    `local` and `remote` are the columns that meet. `through` leads on to a third table whose
    columns may be named as well: an ingredient line knows its ingredient's name.
    """

    name: str
    table: str
    local: str
    remote: str
    many: bool = True
    through: "Relation | None" = None
    # Written together with its owner: the ingredients and steps of a recipe.
    is_child: bool = False


@dataclass(frozen=True, slots=True)
class Aliases:
    """Where other names stand: the column with an alias's key, and that with the name's own key.

    `joined` is the condition that brings the two together.
    """

    alias_key: Any
    name_key: Any
    joined: Any


@dataclass(frozen=True, slots=True)
class Described:
    """One table, described."""

    name: str
    table: "Table"
    columns: Mapping[str, ColumnFacts]
    label: str
    # Columns that `search` looks through.
    searched: tuple[str, ...] = ()
    relations: Mapping[str, Relation] = field(default_factory=dict[str, Relation])
    # The column that says when a row was put away; such rows are read only on request.
    archived: str | None = None
    # Whether rows belong to a user; otherwise everybody shares them.
    owned: bool = True
    # Of shared rows, those a user may see: a condition on the table, for a user's id.
    visible: Callable[[Any, str], Any] | None = None
    # The column with the normalised name, and the column it is made from.
    name_key: tuple[str, str] | None = None
    # Other names its rows may be called by.
    aliases: "Aliases | None" = None
    about: str = ""

    @property
    def readable(self) -> tuple[str, ...]:
        """The columns a request may name, in their order."""
        return tuple(name for name, facts in self.columns.items() if not facts.hidden)

    @property
    def writable(self) -> tuple[str, ...]:
        """The columns a request may set, in their order."""
        return tuple(
            name for name, facts in self.columns.items() if facts.writable and not facts.hidden
        )


def described(
    table: "Table",
    *,
    label: str,
    searched: Iterable[str] = (),
    relations: Iterable[Relation] = (),
    archived: str | None = None,
    name_key: tuple[str, str] | None = None,
    aliases: "Aliases | None" = None,
    about: str = "",
    visible: Callable[[Any, str], Any] | None = None,
) -> Described:
    """Return the description of a table, as far as its columns tell it themselves.

    A column says the rest in its `info`: `kind`, `enum`, `about`, `hidden`, `writable`.
    """
    columns = {column.name: _facts(column) for column in table.columns}
    return Described(
        name=table.name,
        table=table,
        columns=columns,
        label=label,
        searched=tuple(searched),
        relations={relation.name: relation for relation in relations},
        archived=archived,
        owned=USER_ID in columns,
        name_key=name_key,
        aliases=aliases,
        about=about,
        visible=visible,
    )


def _facts(column: Any) -> ColumnFacts:
    info: Mapping[str, Any] = column.info
    is_servers = column.name in SERVER_OWNED or column.computed is not None
    has_default = column.default is not None or column.server_default is not None
    return ColumnFacts(
        name=column.name,
        kind=info.get("kind") or _kind(column),
        required=not (column.nullable or has_default or is_servers),
        writable=bool(info.get("writable", not is_servers)),
        hidden=bool(info.get("hidden", column.name in (USER_ID, "name_key"))),
        enum=tuple(info.get("enum", ())),
        bounds={name: info[name] for name in ("gt", "ge", "le") if name in info},
        about=str(info.get("about", "")),
    )


def _kind(column: Any) -> Kind:
    from sqlalchemy import types

    for known, kind in (
        (types.Boolean, "boolean"),
        (types.Integer, "integer"),
        (types.Numeric, "number"),
        (types.Float, "number"),
        (types.JSON, "list"),
    ):
        if isinstance(column.type, known):
            return kind  # type: ignore[return-value]
    return "text"


class Tables:
    """The tables of one domain."""

    def __init__(
        self, tables: Iterable[Described], subdomains: Mapping[str, Iterable[str]]
    ) -> None:
        """Take what there is, and which tables belong to which subdomain."""
        self._tables = {each.name: each for each in tables}
        self._subdomains = {name: tuple(members) for name, members in subdomains.items()}

    def names(self) -> tuple[str, ...]:
        """Return the names of all tables."""
        return tuple(self._tables)

    def find(self, name: str) -> Described | None:
        """Return a table, or None if there is none of that name."""
        return self._tables.get(name)

    def __getitem__(self, name: str) -> Described:
        """Return a table that is known to be there."""
        return self._tables[name]

    def of(self, subdomain: str) -> tuple[Described, ...]:
        """Return the tables of a subdomain."""
        return tuple(self._tables[name] for name in self._subdomains[subdomain])

    def subdomains(self) -> Mapping[str, tuple[str, ...]]:
        """Return which tables belong to which subdomain."""
        return dict(self._subdomains)


def render_schema(tables: Tables, subdomain: str) -> str:
    """Return the tables of a subdomain as a compact text."""
    return "\n\n".join(_table(tables, table) for table in tables.of(subdomain))


def _table(tables: Tables, table: Described) -> str:
    lines = [f"### {table.name}"]
    columns = [_column(facts) for facts in table.columns.values() if not facts.hidden]
    lines.append("; ".join(columns))
    keys = [_key(each) for each in table.table.foreign_keys if not _is_hidden(table, each)]
    if keys:
        lines.append(f"keys: {'; '.join(sorted(keys))}")
    if table.relations:
        ways = [f"{name} → {each.table}" for name, each in table.relations.items()]
        lines.append(f"relations: {', '.join(ways)}")
    return "\n".join(lines)


def _column(facts: ColumnFacts) -> str:
    kind = "|".join(facts.enum) if facts.enum else facts.kind
    mark = "*" if facts.required else ("" if facts.writable else " (read only)")
    return f"{facts.name}{mark} {kind}"


def _key(key: object) -> str:
    parent = getattr(key, "parent")  # noqa: B009 - SQLAlchemy types it loosely
    target = getattr(key, "target_fullname")  # noqa: B009
    return f"{parent.name} → {target}"


def _is_hidden(table: Described, key: object) -> bool:
    parent = getattr(key, "parent")  # noqa: B009
    return table.columns[parent.name].hidden
