"""Links: a recipe that is only a name and where it is found."""

import re
from typing import Final

from callboard.choreography.turn.domain import Routed
from callboard.packs.alfred.kitchen.profile.effects import keeps_links
from callboard.packs.alfred.kitchen.router.situation import Situation

_VERB: Final = r"(?:save|keep|add|bookmark|remember)\s+(?:(?:the|this|a|my)\s+)?"
_URL: Final = r"https?://[^\s<>\"]+"
_SAVED: Final = re.compile(
    rf"^{_VERB}(?:(?:link|recipe|url|address|page)\s+)?(?:to\s+|at\s+)?(?P<url>{_URL})"
    r"(?:\s+(?:as|called|named|for)\s+(?P<name>.+))?$"
    rf"|^{_VERB}(?:recipe\s+(?:for\s+|called\s+)?)?(?P<name2>.+?)(?:\s+recipe)?\s*"
    rf"(?::|,|from|at|with the link|as a link to)\s*(?P<url2>{_URL})$",
    re.I | re.S,
)
_FULL: Final = (
    "Only the name and the address are kept; your profile says recipes in full, and "
    "“callboard alfred import” reads a saved page"
)


async def route_links(situation: Situation) -> Routed | None:
    """Route a recipe that is kept as a link."""
    found = _SAVED.match(situation.text)
    if found is None:
        return None
    url = (found["url"] or found["url2"]).rstrip(".,;)")
    name = (found["name"] or found["name2"] or "").strip(" \"'“”.,:")
    if not name:
        return Routed(reply=f"What is it called? Say “save {url} as lemon cake”.")
    rows = await situation.rows(table="user_profile", limit=1)
    steps = situation.steps
    told = f"Save {name} as a link"
    record = {"name": name, "storage": "link", "source_type": "link", "source_url": url}
    steps.write(told, "recipes", op="create", table="recipes", records=[record])
    assumed = () if rows and keeps_links(rows[0]) else (_FULL,)
    return Routed(steps=tuple(steps.made), goal=told, assumptions=assumed)
