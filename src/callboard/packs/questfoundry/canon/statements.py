"""Statements: the canon of some bodies taken apart, one true thing each, and told in words.

Pure: what Cold or a draft holds goes in, statements come out, in the same order every time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from callboard.knowledge.graph import slug
from callboard.packs.questfoundry.book.model import CanonStatement

Bodies = Mapping[str, Mapping[str, Any]]
CANON_KINDS: Final = ("canon_pack", "player_safe_summaries", "codex_entries")
_SHORT: Final = 60


def statements_in(held: Bodies) -> tuple[CanonStatement, ...]:
    """Return everything that some bodies say is true, by path as Cold holds them."""
    taken: dict[str, int] = {}
    found: list[CanonStatement] = []
    for each in _all(held):
        count = taken[each.id] = taken.get(each.id, 0) + 1
        found.append(each if count == 1 else replace(each, id=f"{each.id}~{count}"))
    return tuple(found)


def facts_of(rows: Any) -> Iterator[CanonStatement]:
    """Yield the facts of a canon pack."""
    for row in rows:
        name, attribute = str(row["name"]), str(row["attribute"])
        since = str(row.get("since") or "")
        where = f"@{slug(since)}" if since else ""
        found_id = f"fact:{slug(name)}/{slug(attribute)}{where}"
        yield CanonStatement(found_id, "fact", name, str(row["value"]), attribute, since)


def events_of(rows: Any) -> Iterator[CanonStatement]:
    """Yield the events of a canon pack."""
    for row in rows:
        name = str(row["id"])
        yield CanonStatement(
            f"event:{slug(name)}",
            "event",
            name,
            str(row.get("event") or ""),
            since=str(row.get("when") or ""),
            chain=int(row.get("chain") or 0),
            order=int(row["order"]),
        )


def told(statement: CanonStatement) -> str:
    """Say a statement in one line; the same statement is always told the same way."""
    match statement.kind:
        case "fact":
            since = f" since {statement.since}" if statement.since else ""
            return f"{statement.about}: {statement.attribute} is {statement.text}{since}"
        case "event":
            return f"{statement.about}: {statement.text}"
        case "knowledge":
            since = f" from {statement.since}" if statement.since else ""
            return f"{statement.about} knows {statement.text}{since}"
        case "mystery":
            return f"{statement.about} is left open: {statement.text}"
        case "constraint":
            return statement.text
        case "answer" | "summary" | "codex":
            return f"{statement.about}: {statement.text}"


def _all(held: Bodies) -> Iterator[CanonStatement]:
    pack = held.get("canon_pack", {})
    for row in pack.get("answers", ()):
        name = str(row["question_id"])
        is_secret = row.get("sensitivity", "spoiler") != "safe"
        yield CanonStatement(
            f"answer:{slug(name)}", "answer", name, str(row["answer"]), is_secret=is_secret
        )
    yield from events_of(pack.get("timeline", ()))
    yield from facts_of(pack.get("entities", ()))
    for row in pack.get("constraints", ()):
        text = str(row["statement"])
        yield CanonStatement(f"constraint:{slug(text)[:_SHORT]}", "constraint", "", text)
    for row in pack.get("knowledge", ()):
        actor, known = str(row["actor"]), str(row["knows"])
        found_id = f"knowledge:{slug(actor)}/{slug(known)[:_SHORT]}"
        since = str(row.get("from") or "")
        yield CanonStatement(found_id, "knowledge", actor, known, since=since)
    for row in pack.get("mysteries", ()):
        topic, revisit = str(row["topic"]), str(row.get("revisit") or "")
        found_id = f"mystery:{slug(topic)[:_SHORT]}"
        yield CanonStatement(found_id, "mystery", topic, str(row["bounds"]), since=revisit)
    for row in held.get("player_safe_summaries", {}).get("summaries", ()):
        topic = str(row["topic"])
        found_id = f"summary:{slug(topic)[:_SHORT]}"
        yield CanonStatement(found_id, "summary", topic, str(row["text"]), is_secret=False)
    for row in held.get("codex_entries", {}).get("entries", ()):
        found_id = f"codex:{slug(str(row['slug']))}"
        text = str(row["overview"])
        yield CanonStatement(found_id, "codex", str(row["title"]), text, is_secret=False)
