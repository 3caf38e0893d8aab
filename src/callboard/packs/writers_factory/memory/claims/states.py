"""States: attribute values with the scenes they hold in, inside a node's attributes.

An attribute reads as its latest value. What held when is kept beside it under `states`, and only
where something has a range or has changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from callboard.core.canonical import Json
from callboard.packs.writers_factory.memory.claims.scope import ALWAYS, ScenePoint, SceneRange

STATES: Final = "states"


@dataclass(frozen=True, slots=True)
class State:
    """A value and the scenes it holds in."""

    value: Json
    scope: SceneRange = ALWAYS
    source: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the stored shape."""
        return {"value": self.value, **self.scope.to_json(), "source": self.source}


def states_of(attrs: Mapping[str, Json], attribute: str) -> tuple[State, ...]:
    """Return every value an attribute has, earliest first."""
    kept = attrs.get(STATES)
    listed: Any = cast("dict[str, Any]", kept).get(attribute) if isinstance(kept, dict) else None
    if isinstance(listed, list) and listed:
        return tuple(
            State(each.get("value"), SceneRange.from_json(each), str(each.get("source", "")))
            for each in cast("list[dict[str, Any]]", listed)
        )
    value = attrs.get(attribute)
    return () if value is None else (State(value),)


def with_state(attrs: Mapping[str, Json], attribute: str, state: State) -> dict[str, Json]:
    """Return the attributes with one more state; those of the same range are replaced."""
    kept = [each for each in states_of(attrs, attribute) if each.scope != state.scope]
    return with_states(attrs, attribute, (*kept, state))


def without_overlaps(attrs: Mapping[str, Json], attribute: str, state: State) -> dict[str, Json]:
    """Return the attributes with one state in place of all that hold in its scenes."""
    kept = [each for each in states_of(attrs, attribute) if not each.scope.overlaps(state.scope)]
    return with_states(attrs, attribute, (*kept, state))


def with_states(
    attrs: Mapping[str, Json], attribute: str, states: tuple[State, ...]
) -> dict[str, Json]:
    """Return the attributes with exactly these states of one attribute; without any it is gone."""
    ordered = sorted(states, key=lambda each: each.scope.first)
    changed = dict(attrs)
    # Said aloud, here and below: what is merely missing stays as it is when it is merged.
    changed[attribute] = ordered[-1].value if ordered else None
    found: Any = attrs.get(STATES)
    timeline = dict(cast("dict[str, Json]", found)) if isinstance(found, dict) else {}
    if not ordered or (len(ordered) == 1 and ordered[0].scope == ALWAYS):
        timeline.pop(attribute, None)
    else:
        timeline[attribute] = [each.to_json() for each in ordered]
    if timeline:
        changed[STATES] = timeline
    elif STATES in changed:
        changed[STATES] = None
    return changed


def value_at(attrs: Mapping[str, Json], attribute: str, point: ScenePoint | None) -> Json:
    """Return the value in a scene: of those that hold there, the one that began last."""
    if point is None:
        return attrs.get(attribute)
    holding = [each for each in states_of(attrs, attribute) if each.scope.holds(point)]
    return holding[-1].value if holding else None
