"""The envelope a role answers in: found in whatever it says, held to its shape, merged by rule.

One JSON object with artifacts, and perhaps a wish for company, for a revision, or a question. What
surrounds it is looked through; what is inside must fit. Nothing here is stored or asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Literal, cast

from callboard.choreography.answers import Answer, at_most, shortened
from callboard.choreography.loop.ports import LoopWorkspace, Misfit
from callboard.core.canonical import Json, canonical_json
from callboard.replies import JsonProblem, extract_json

_MOST_CHARS: Final = 2_000
_MOST_WISHES: Final = 20

Line = Annotated[str, shortened(_MOST_CHARS)]


class EnvelopeArtifact(Answer):
    """One artifact: its kind, the form it is written in, and what it says."""

    type: str
    format: str = "json"
    content: Any


class CollaborationWish(Answer):
    """Whom a role wants to join it, and why."""

    roles: Annotated[tuple[str, ...], at_most(_MOST_WISHES)] = ()
    reason: Line = ""


class RevisionWish(Answer):
    """What a role wants somebody to do again."""

    target_step: str = ""
    artifact: str = ""
    reason: Line
    severity: Literal["must", "should"] = "should"


class RoleEnvelope(Answer):
    """What a role says."""

    artifacts: Annotated[tuple[EnvelopeArtifact, ...], at_most(_MOST_WISHES)]
    collaboration: CollaborationWish = CollaborationWish()
    revisions: Annotated[tuple[RevisionWish, ...], at_most(_MOST_WISHES)] = ()
    questions: Annotated[tuple[str, ...], at_most(_MOST_WISHES)] = ()
    notes: Line = ""


@dataclass(frozen=True, slots=True)
class RoleResponse:
    """What a role made of its task, held against what was asked for."""

    role: str
    artifacts: Mapping[str, Json] = field(default_factory=dict[str, Json])
    errors: tuple[Misfit, ...] = ()
    # What it made that nobody had asked for, and what was cut off: told, not stored.
    dropped: tuple[str, ...] = ()
    # Kinds that no step of the loop may store.
    outside: tuple[str, ...] = ()
    collaboration: CollaborationWish = field(default_factory=CollaborationWish)
    revisions: tuple[RevisionWish, ...] = ()
    questions: tuple[str, ...] = ()
    notes: str = ""
    raw_text: str = ""
    # What those who helped said otherwise, by kind and role.
    alternatives: Mapping[str, Mapping[str, Json]] = field(
        default_factory=dict[str, Mapping[str, Json]]
    )

    @property
    def valid(self) -> bool:
        """Whether everything that was asked for is there and fits."""
        return not self.errors and not self.outside


@dataclass(frozen=True, slots=True)
class WantedKinds:
    """What a role is asked for, and what it is held against."""

    kinds: tuple[str, ...]
    allowed: frozenset[str]
    workspace: LoopWorkspace
    most_entries: int


def read_envelope(role: str, text: str, wanted: WantedKinds) -> RoleResponse:
    """Return what a reply holds: only what was asked for, each piece of it valid or named."""
    found = extract_json(text, RoleEnvelope)
    if isinstance(found, JsonProblem):
        errors = tuple(Misfit("envelope", detail) for detail in found.details)
        return RoleResponse(role, errors=errors, raw_text=text)
    said = found.value
    made: dict[str, Json] = {}
    dropped: list[str] = []
    errors_found: list[Misfit] = []
    for artifact in said.artifacts:
        if artifact.type not in wanted.kinds:
            dropped.append(artifact.type)
        elif artifact.type in made:
            errors_found.append(Misfit(artifact.type, "is there twice"))
        else:
            content, cut = _bounded(artifact.content, wanted.most_entries)
            made[artifact.type] = content
            dropped += [f"{artifact.type}{each}" for each in cut]
    return RoleResponse(
        role=role,
        artifacts=made,
        errors=(*errors_found, *check_all(made, wanted)),
        dropped=tuple(dropped),
        outside=tuple(sorted({a.type for a in said.artifacts} - wanted.allowed)),
        collaboration=said.collaboration,
        revisions=said.revisions,
        questions=said.questions,
        notes=said.notes,
        raw_text=text,
    )


def check_all(made: Mapping[str, Json], wanted: WantedKinds) -> list[Misfit]:
    """Say what is missing of what was asked for, and what does not obey its schema."""
    found: list[Misfit] = []
    for kind in wanted.kinds:
        if kind not in made:
            found.append(Misfit(kind, "missing"))
            continue
        misfits = wanted.workspace.check(kind, made[kind])
        found += [Misfit(f"{kind}{_dotted(each.path)}", each.message) for each in misfits]
    return found


def _dotted(path: str) -> str:
    return f".{path}" if path and not path.startswith(("[", ".")) else path


def _bounded(content: Json, most: int) -> tuple[Json, list[str]]:
    """Cut lists that are longer than anybody will read, and say so."""
    if isinstance(content, list):
        rows = cast("list[Any]", content)
        return (rows, []) if len(rows) <= most else (rows[:most], [_cut(len(rows), most)])
    if not isinstance(content, dict):
        return content, []
    kept: dict[str, Any] = {}
    cuts: list[str] = []
    for name, each in cast("dict[str, Any]", content).items():
        rows = cast("list[Any]", each) if isinstance(each, list) else []
        kept[name] = rows[:most] if len(rows) > most else each
        cuts += [f".{name}{_cut(len(rows), most)}"] if len(rows) > most else []
    return kept, cuts


def _cut(count: int, most: int) -> str:
    return f": {count} entries, the first {most} kept"


def merge_responses(responses: Sequence[RoleResponse], wanted: WantedKinds) -> RoleResponse:
    """Put together what several roles made; the first leads, and the whole is checked again."""
    lead = responses[0]
    made = dict(lead.artifacts)
    alternatives: dict[str, dict[str, Json]] = {
        kind: dict(each) for kind, each in lead.alternatives.items()
    }
    for other in responses[1:]:
        for kind, content in other.artifacts.items():
            if kind not in made:
                made[kind] = content
                continue
            made[kind], variant = _merged(made[kind], content)
            if variant is not None:
                alternatives.setdefault(kind, {})[other.role] = variant
    return replace(
        lead,
        artifacts=made,
        errors=tuple(check_all(made, wanted)),
        dropped=tuple(each for response in responses for each in response.dropped),
        outside=tuple(each for response in responses for each in response.outside),
        revisions=tuple(each for response in responses for each in response.revisions),
        questions=tuple(each for response in responses for each in response.questions),
        notes="\n".join(each.notes for each in responses if each.notes),
        alternatives=alternatives,
    )


def _merged(lead: Json, other: Json) -> tuple[Json, Json]:
    """Return both together, and what the other one said where the lead has the word."""
    mine: Any = lead
    theirs: Any = other
    if isinstance(mine, list) and isinstance(theirs, list):
        return _joined(cast("list[Any]", mine), cast("list[Any]", theirs)), None
    if not isinstance(mine, dict) or not isinstance(theirs, dict):
        return lead, None if lead == other else other
    made: dict[str, Any] = dict(cast("dict[str, Any]", mine))
    variants: dict[str, Any] = {}
    for name, each in cast("dict[str, Any]", theirs).items():
        if name not in made:
            made[name] = each
            continue
        made[name], variant = _merged(made[name], each)
        if variant is not None:
            variants[name] = variant
    return made, variants or None


def _joined(lead: list[Any], other: list[Any]) -> list[Any]:
    known = {_identity(each) for each in lead}
    return [*lead, *(each for each in other if _identity(each) not in known)]


def _identity(entry: Any) -> str:
    """Return what makes two entries the same: their id, else all they say."""
    if isinstance(entry, dict):
        row = cast("dict[str, Any]", entry)
        named = [name for name in row if name == "id" or name.endswith("_id")]
        if named:
            return canonical_json([named[0], row[named[0]]])
    return canonical_json(entry)
