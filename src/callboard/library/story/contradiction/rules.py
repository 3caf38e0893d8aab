"""The rules for claims on the graph: `conflicts.yaml` beside this module, and a project's own.

Says what an attribute and a value mean. Compares no facts itself.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from callboard.core.bundled import bundled_yaml
from callboard.core.canonical import Json
from callboard.core.parsing import FileProblem, misfits
from callboard.library.story.text import words
from callboard.studio.settings_files import (
    FileContent,
    parse_settings_file,
    read_settings_file,
)

PROJECT_FILE: Final = ".callboard/conflicts.yaml"
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_NUMBER: Final = re.compile(r"\d+")
_SHORT_WORDS: Final = 6
_EMPTY_WORDS: Final = frozenset({"a", "an", "the", "is", "are", "was", "were", "of", "and", "very"})
_LEAST_SHARED: Final = 2
_DENIED_SHARE: Final = 0.6
_TRUE: Final = frozenset({"true", "yes"})
_FALSE: Final = frozenset({"false", "no", "not"})


class _StrictRules(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Functional(_StrictRules):
    """An attribute that has one value at a time."""

    names: list[str]
    changes: bool = True
    numeric: bool = False
    final: list[str] = Field(default_factory=list[str])
    values: dict[str, list[str]] = Field(default_factory=dict[str, list[str]])
    truths: dict[str, str] = Field(default_factory=dict[str, str])


class _RulesFile(_StrictRules):
    functional: dict[str, Functional] = Field(default_factory=dict[str, Functional])
    antonyms: list[tuple[str, str]] = Field(default_factory=list[tuple[str, str]])
    exclusive_edges: list[tuple[str, str]] = Field(default_factory=list[tuple[str, str]])
    symmetric_edges: list[str] = Field(default_factory=list[str])
    acting_edges: list[str] = Field(default_factory=list[str])
    excused_presence: list[str] = Field(default_factory=list[str])
    negations: list[str] = Field(default_factory=list[str])
    several: list[str] = Field(default_factory=list[str])
    other_names: list[str] = Field(default_factory=list[str])
    true_names: list[str] = Field(default_factory=list[str])


@dataclass(frozen=True)
class ConflictRules:
    """What contradicts what."""

    data: _RulesFile
    warning: str = ""

    @cached_property
    def _by_name(self) -> Mapping[str, str]:
        return {
            name: functional
            for functional, rule in self.data.functional.items()
            for name in (functional, *rule.names)
        }

    @cached_property
    def known_attributes(self) -> frozenset[str]:
        """Every name of an attribute that has one value at a time."""
        return frozenset(self._by_name)

    @cached_property
    def negations(self) -> frozenset[str]:
        """The words that turn a rule into its opposite."""
        return frozenset(self.data.negations)

    def functional(self, attribute: str) -> str | None:
        """Return which one-value attribute is meant, or None if it may have many."""
        return self._by_name.get(attribute)

    def rule(self, functional: str) -> Functional:
        """Return what is said about a one-value attribute."""
        return self.data.functional[functional]

    def meaning(self, attribute: str, value: Json) -> str | None:
        """Return what a value of a one-value attribute means; None where it says nothing."""
        name = self._by_name.get(attribute)
        if name is None or value is None:
            return None
        rule = self.data.functional[name]
        said = words_of(str(value))
        if attribute in rule.truths and (truth := _truth(said)) is not None:
            return _truth_meaning(rule, attribute, truth)
        if rule.numeric:
            number = _NUMBER.search(str(value))
            return number[0] if number else None
        if not rule.values:
            return " ".join(sorted(said - _EMPTY_WORDS)) or None
        meant = {name for name, folded in rule.values.items() if said & set(folded)}
        if len(meant) != 1:
            return None
        found = meant.pop()
        if said & self.negations and len(rule.values) == 2:
            return next(other for other in rule.values if other != found)
        return found

    def same(self, functional: str, old: str, new: str) -> bool:
        """Say whether two meanings agree; a more precise one agrees with a vaguer one."""
        if old == new:
            return True
        rule = self.data.functional[functional]
        if rule.values or rule.numeric:
            return False
        return self.agree(old, new)

    def is_final(self, functional: str, meaning: str) -> bool:
        """Say whether nothing may follow a value."""
        return meaning in self.data.functional[functional].final

    def antonym(self, old: Json, new: Json) -> tuple[str, str] | None:
        """Return the pair of words in which two short values exclude each other."""
        before, after = words_of(str(old)), words_of(str(new))
        if max(len(before), len(after)) > _SHORT_WORDS:
            return None
        for one, other in self.data.antonyms:
            for left, right in ((one, other), (other, one)):
                is_opposed = left in before and right in after
                if is_opposed and right not in before and left not in after:
                    return left, right
        return None

    @cached_property
    def relations(self) -> frozenset[str]:
        """The attributes that tie two to each other and can exclude one another."""
        return frozenset(each for pair in self.data.exclusive_edges for each in pair)

    @cached_property
    def several(self) -> frozenset[str]:
        """The attributes that may have many values at once."""
        return frozenset(self.data.several) | frozenset(self.data.other_names) | self.relations

    def names_another(self, attribute: str) -> bool:
        """Say whether the value of an attribute is another name of the same person or thing."""
        return attribute in self.data.other_names or attribute in self.data.true_names

    def agree(self, one: str, other: str) -> bool:
        """Say whether two short texts say the same, or one the same more precisely."""
        left, right = words_of(one) - _EMPTY_WORDS, words_of(other) - _EMPTY_WORDS
        return left <= right or right <= left

    def stems(self, text: str) -> frozenset[str]:
        """Return the stems of a rule's words that carry meaning; words that deny do not count."""
        return words.content_stems(words_of(text), idle=self.negations)

    def denies(self, text: str) -> bool:
        """Say whether a rule forbids or denies; twice is not at all."""
        return len(words_of(text) & self.negations) % 2 == 1

    def shared(self, one: frozenset[str], other: frozenset[str]) -> float:
        """Return how much of the shorter of two rules the other says too; 0 for a single word."""
        both = len(one & other)
        return both / max(1, min(len(one), len(other))) if both >= _LEAST_SHARED else 0.0

    def are_opposed(self, one: str, other: str, shared: float) -> bool:
        """Say whether two rules of the world have most words in common, and only one denies."""
        return shared >= _DENIED_SHARE and self.denies(one) != self.denies(other)

    def excluded_by(self, edge_type: str) -> tuple[str, ...]:
        """Return the relations that cannot hold beside one."""
        pairs = self.data.exclusive_edges
        return tuple(
            other for pair in pairs if edge_type in pair for other in pair if other != edge_type
        )

    def is_symmetric(self, edge_type: str) -> bool:
        """Say whether a relation holds in both directions."""
        return edge_type in self.data.symmetric_edges

    def is_acting(self, edge_type: str, attrs: Mapping[str, Json]) -> bool:
        """Say whether a relation needs somebody alive."""
        manner = str(attrs.get("manner") or attrs.get("mode") or "").casefold()
        return edge_type in self.data.acting_edges and manner not in self.data.excused_presence


def words_of(text: str) -> frozenset[str]:
    """Return the words of a short text in lower case."""
    return frozenset(found[0].replace("\u2019", "'") for found in _WORD.finditer(text.casefold()))


def read_rules(kept: Path | None = None) -> ConflictRules:
    """Return the rules of a project; additions that cannot be read are left out and named.

    `kept` is where Callboard keeps what it adds to the project.
    """
    name = Path(PROJECT_FILE).name
    return _merged(None if kept is None else read_settings_file(kept / name, kept))


@lru_cache(maxsize=8)
def _merged(own: FileContent) -> ConflictRules:
    bundled = _bundled()
    try:
        added = _RulesFile.model_validate(parse_settings_file(own))
    except (FileProblem, ValidationError) as error:
        return ConflictRules(bundled, f"{PROJECT_FILE} is left out: {_reason(error)}")
    lists: dict[str, Any] = {
        name: [*getattr(bundled, name), *getattr(added, name)]
        for name in _RulesFile.model_fields
        if name != "functional"
    }
    both = {**bundled.functional, **added.functional}
    return ConflictRules(_RulesFile(functional=both, **lists))


def _reason(error: FileProblem | ValidationError) -> str:
    if isinstance(error, FileProblem):
        place = "" if error.line is None else f", line {error.line}"
        return f"it {error.message}{place}"
    return misfits(error, "the file")


@cache
def _bundled() -> _RulesFile:
    return _RulesFile.model_validate(bundled_yaml(__package__ or "", "conflicts.yaml"))


def _truth(said: frozenset[str]) -> bool | None:
    if said and said <= _TRUE:
        return True
    return False if said and said <= _FALSE else None


def _truth_meaning(rule: Functional, attribute: str, truth: bool) -> str | None:
    meant = rule.truths[attribute]
    if truth:
        return meant
    return next((other for other in rule.truths.values() if other != meant), None)
