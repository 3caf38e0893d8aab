"""The schema as prompts show it: tables, columns, keys and ways to other tables, in few words."""

from callboard.library.relational.tables import ColumnFacts, Described, Tables


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
