"""Naming: how replies call a domain's tables and tell its changes. Users know no table names."""

from callboard.choreography.turn.domain import Domain, NamesTables, TableWords, TellsWrites
from callboard.choreography.turn.requests import WriteRequest, WriteResult


def table_words(domain: Domain, table: str) -> TableWords:
    """Return how a table is called: the domain's own words, else its name without underscores.

    What arithmetic brings goes by `function.name`.
    """
    own = domain.table_words(table) if isinstance(domain, NamesTables) else None
    return own or TableWords(table.rpartition(".")[2].replace("_", " "))


def own_words(domain: Domain, request: WriteRequest, result: WriteResult) -> str | None:
    """Return a change in the domain's own words, or None if it has none for it."""
    return domain.tell_write(request, result) if isinstance(domain, TellsWrites) else None
