"""Picking: one question, several gaps, each with a few answers. Nothing else can come back."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from callboard.choreography.answers import choices, schema_of
from callboard.core.vocabulary import Content, Trust

if TYPE_CHECKING:
    from callboard.choreography.stage import Stage

MOST_OPTIONS: Final = 8
_AGENT: Final = "hand"
_PROMPT: Final = "pick"
_TOKENS_PER_GAP: Final = 40


async def pick(
    stage: "Stage", key: str, wish: str, gaps: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return an answer for every gap; a gap with one answer is not asked about."""
    offered = {name: list(options)[:MOST_OPTIONS] for name, options in gaps.items()}
    open_gaps = {name: options for name, options in offered.items() if len(options) > 1}
    chosen = {name: options[0] for name, options in offered.items() if len(options) == 1}
    if not open_gaps:
        return chosen
    # Names may come from stored rows: they are offered as data.
    listed = "\n".join(f"{name}: {', '.join(options)}" for name, options in open_gaps.items())
    reply = await stage.ask(
        key,
        _AGENT,
        prompt=_PROMPT,
        schema=schema_of(choices(**open_gaps)),
        max_tokens=_TOKENS_PER_GAP * (len(open_gaps) + 1),
        wish=stage.user(wish),
        gaps=Content(listed, "gaps", Trust.UNTRUSTED),
    )
    for name, options in open_gaps.items():
        said = str(reply.data.get(name)) if reply.data is not None else ""
        chosen[name] = said if said in options else options[0]
    return chosen
