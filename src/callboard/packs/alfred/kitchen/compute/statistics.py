"""Statistics: what was cooked how often, and how many rows there are of a kind."""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Any, Final

from callboard.knowledge.entities.matching import name_key
from callboard.packs.alfred.kitchen.compute.rows import Catalogue, Row

_SHOWN: Final = 10
_NONE: Final = "other"


def cooking_stats(
    log: Iterable[Row], first: date | None = None, last: date | None = None
) -> dict[str, Any]:
    """Return how often was cooked between two days, what most, and how it was rated."""
    rows = [row for row in log if _is_between(str(row.get("cooked_at") or ""), first, last)]
    names: dict[str, str] = {}
    times: Counter[str] = Counter()
    for row in sorted(rows, key=lambda row: str(row.get("cooked_at"))):
        key = name_key(str(row.get("recipe_name") or ""))
        names[key] = str(row.get("recipe_name") or "")
        times[key] += 1
    ratings = [int(row["rating"]) for row in rows if row.get("rating") is not None]
    minutes = [int(row["minutes"]) for row in rows if row.get("minutes") is not None]
    most = sorted(times.items(), key=lambda each: (-each[1], each[0]))[:_SHOWN]
    return {
        "count": len(rows),
        "recipes": len(times),
        "most_cooked": [{"name": names[key], "count": count} for key, count in most],
        "average_rating": round(sum(ratings) / len(ratings), 2) if ratings else None,
        "average_minutes": round(sum(minutes) / len(minutes)) if minutes else None,
        "last_cooked_at": max((str(row["cooked_at"]) for row in rows), default=None),
    }


def category_counts(rows: Iterable[Row], catalogue: Catalogue | None = None) -> dict[str, Any]:
    """Return how many rows there are of each category."""
    known = catalogue or Catalogue()
    counted = Counter(
        str(row.get("category") or known.facts(row).get("category") or _NONE) for row in rows
    )
    return {"counts": dict(sorted(counted.items())), "count": sum(counted.values())}


def _is_between(moment: str, first: date | None, last: date | None) -> bool:
    day = moment[:10]
    after = first is None or day >= first.isoformat()
    return after and (last is None or day <= last.isoformat())
