"""Which sources a role may rest on: data of a pack, read strictly. Checks no citation itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import yaml

from callboard.core.errors import InvalidInput
from callboard.core.parsing import load_yaml
from callboard.replies.evidence.citation import Citation, CitationKind

SLOT: Final = "slot"
"""The kind under which rules speak of slots, beside the kinds of files a pack knows."""

_QUOTES: Final = frozenset({CitationKind.FILE_QUOTE, CitationKind.SLOT})
_FORMS: Final[Mapping[str, frozenset[CitationKind]]] = {
    "quote": _QUOTES,
    "place": _QUOTES | {CitationKind.FILE_LINES, CitationKind.FILE_SECTION},
    "receipt": frozenset({CitationKind.RECEIPT}),
    "scope": frozenset({CitationKind.SCOPE}),
    "issue": frozenset({CitationKind.ISSUE}),
}
_WITHOUT_NAMES: Final = ("receipt", "scope", "issue")
_QUOTE_SUFFIX: Final = "_quote"


class InvalidEvidenceRules(InvalidInput):
    """A pack's evidence rules cannot be read."""

    code = "evidence_rules_invalid"


@dataclass(frozen=True, slots=True)
class SourceClass:
    """A kind of source a rule can ask for; no names means any."""

    name: str
    form: str
    names: frozenset[str] = frozenset()

    def covers(self, citation: Citation, origin: str) -> bool:
        """Say whether a verified citation is of this class.

        `origin` is the kind of the cited file, `slot`, or the tool of the cited receipt.
        """
        return citation.kind in _FORMS[self.form] and (not self.names or origin in self.names)


@dataclass(frozen=True, slots=True)
class EvidenceRules:
    """Per role the combinations of sources of which one is needed."""

    roles: Mapping[str, tuple[tuple[SourceClass, ...], ...]] = field(
        default_factory=dict[str, tuple[tuple[SourceClass, ...], ...]]
    )

    def alternatives(self, role: str) -> tuple[tuple[SourceClass, ...], ...]:
        """Return what a role may rest on; nothing means that any verified source will do."""
        return self.roles.get(role, ())

    def is_satisfied(self, role: str, verified: Sequence[tuple[Citation, str]]) -> bool:
        """Say whether verified citations, each with its origin, are what a role must rest on."""
        alternatives = self.alternatives(role)
        if not alternatives:
            return bool(verified)
        return any(
            all(any(wanted.covers(*cited) for cited in verified) for wanted in alternative)
            for alternative in alternatives
        )

    def wish(self, role: str) -> str:
        """Return in words what a role may rest on."""
        names = [
            " with ".join(wanted.name for wanted in alternative)
            for alternative in self.alternatives(role)
        ]
        return ", or ".join(names) or "any source"

    @classmethod
    def load(cls, path: Path) -> "EvidenceRules":
        """Read the rules of a pack from a YAML file."""
        try:
            data: object = load_yaml(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise InvalidEvidenceRules(f"{path.name} cannot be read: {error}") from error
        return cls.from_data(data, path.name)

    @classmethod
    def from_data(cls, data: object, origin: str = "evidence rules") -> "EvidenceRules":
        """Read rules from plain data: per role a list of alternatives, each a list of sources.

        A source is `receipt`, `scope`, `issue`, a kind of file (any place in it), `<kind>_quote`,
        `<kind>_or_<kind>_quote`, or `{receipt|quote|place: [names]}`.
        """
        return cls(
            {
                role: _alternatives(raw, f"{origin}: {role}")
                for role, raw in _mapping(data, origin).items()
            }
        )


def _alternatives(raw: object, where: str) -> tuple[tuple[SourceClass, ...], ...]:
    if not isinstance(raw, list) or not raw:
        raise InvalidEvidenceRules(f"{where} must be a list of alternatives")
    found: list[tuple[SourceClass, ...]] = []
    for alternative in cast("list[object]", raw):
        if not isinstance(alternative, list) or not alternative:
            raise InvalidEvidenceRules(
                f"{where}: {alternative!r} must be a list of sources", fix="E.g. `- [receipt]`."
            )
        sources = cast("list[object]", alternative)
        found.append(tuple(_source_class(each, where) for each in sources))
    return tuple(found)


def _source_class(raw: object, where: str) -> SourceClass:
    if isinstance(raw, str):
        return _named_class(raw, where)
    fields = _mapping(raw, where)
    form, names = next(iter(fields.items()), ("", None))
    if len(fields) != 1 or form not in ("receipt", "quote", "place"):
        raise InvalidEvidenceRules(
            f"{where}: {raw!r} is not a source",
            fix="Name `receipt`, `quote` or `place` and list of what.",
        )
    if not isinstance(names, list) or not names or not _are_texts(cast("list[object]", names)):
        raise InvalidEvidenceRules(f"{where}: `{form}` must list names, not {names!r}")
    listed = cast("list[str]", names)
    return SourceClass(f"{form} of {' or '.join(listed)}", form, frozenset(listed))


def _named_class(name: str, where: str) -> SourceClass:
    if name in _WITHOUT_NAMES:
        return SourceClass(name, name)
    kinds = name.removesuffix(_QUOTE_SUFFIX).split("_or_")
    if not all(kind.isidentifier() for kind in kinds):
        raise InvalidEvidenceRules(f"{where}: {name!r} is not the name of a source")
    form = "quote" if name.endswith(_QUOTE_SUFFIX) else "place"
    return SourceClass(name.replace("_", " "), form, frozenset(kinds))


def _are_texts(values: list[object]) -> bool:
    return all(isinstance(each, str) for each in values)


def _mapping(raw: object, where: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise InvalidEvidenceRules(f"{where} must be a mapping, not {raw!r}")
    pairs = cast("dict[Any, Any]", raw)
    return {str(key): value for key, value in pairs.items()}
