"""The catalog of models: window, tier, price, how far one can be trusted with form; and their ids.

It states facts; what prompts make of them is the prompts' business.

Ids are `provider:model`, those that wrap another around a cassette, and those that are files.
`record:FILE:MODEL` and `replay:FILE:MODEL`: the file's name ends in `.jsonl`, and what follows the
first `.jsonl:` is the model. So a file may lie anywhere, also behind a drive letter with a colon.

A model that is a file may be asked only if the user has named it. Where a name came from is
forgotten long before a call is made: it may have lain in a project's file, in a stored run or in a
request. So the name itself is compared.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from pydantic import Field, ValidationError

from callboard.core.bundled import bundled_yaml
from callboard.core.errors import InvalidInput
from callboard.core.parsing import misfits
from callboard.core.settings.model import CatalogSettings
from callboard.core.settings.schema import RECORD, REPLAY, is_file_model
from callboard.core.vocabulary import ModelTier
from callboard.models.errors import FileModelRefused, UnknownModel

_END: Final = ".jsonl"


@dataclass(frozen=True, slots=True)
class CassetteId:
    """A model id that names a cassette: `kind` is `record` or `replay`."""

    kind: str
    file: str
    model: str


def split_cassette(model: str) -> CassetteId:
    """Return the parts of `record:FILE:MODEL` or `replay:FILE:MODEL`."""
    kind, _, rest = model.partition(":")
    name, end, inner = rest.partition(f"{_END}:")
    if kind not in (RECORD, REPLAY) or not name or not end or not inner:
        raise UnknownModel(
            f"{model!r} does not name a cassette and a model.",
            fix=f"Write `{kind}:FILE{_END}:MODEL`, like `{kind}:talk{_END}:openai:gpt-4o`.",
            model=model,
        )
    return CassetteId(kind, f"{name}{_END}", inner)


def sent_model(model: str) -> str:
    """Return the id of the model a call is really sent to; what is replayed is sent nowhere."""
    while model.partition(":")[0] == RECORD and f"{_END}:" in model:
        model = model.partition(f"{_END}:")[2]
    return model


def provider_of(model: str) -> str:
    """Return the provider a model id names: the one that is asked, or `replay` for a replayed call.

    A recorded call is its provider's: it uses up that allowance and costs what it costs.
    """
    return sent_model(model).partition(":")[0]


def asked_model(model: str) -> str:
    """Return the id of the model that answers, or once answered, without any cassette around it."""
    while model.partition(":")[0] in (RECORD, REPLAY) and f"{_END}:" in model:
        model = model.partition(f"{_END}:")[2]
    return model


class FileModels:
    """The ids of files that the user has named as models, each whole and letter by letter."""

    def __init__(self, named: Iterable[str] = (), *, replaced: Container[str] = ()) -> None:
        """Take the ids; providers that code has `replaced` open no files by themselves."""
        self._named = frozenset(named)
        self._replaced = replaced

    def why_not(self, model: str) -> FileModelRefused | None:
        """Return why a model may not be asked, if so."""
        if not is_file_model(model) or model in self._named:
            return None
        if model.partition(":")[0] in self._replaced:
            return None
        return FileModelRefused(
            f"The model {model!r} is a file, and only you may name such a model: it is not taken "
            "from a project's settings, its agents.yaml, a pack's settings, a stored run or a "
            "request.",
            fix=f"If you want it, say so with `--model {model}`, in CALLBOARD_MODELS_DEFAULT or "
            "in your own config.yaml; else name another model where this one is named.",
            model=model,
        )

    def require(self, model: str) -> None:
        """Raise unless a model may be asked."""
        refusal = self.why_not(model)
        if refusal is not None:
            raise refusal


UNKNOWN_WINDOW_TOKENS: Final = 32_768
_FULL_FROM: Final = 128_000
_MEDIUM_FROM: Final = 32_000
_MARK = re.compile(r"[:/]")
_MOST_MARKS = 8
_VERSION = re.compile(r"(-latest|-\d{4}-\d{2}-\d{2}|-\d{8}|-\d{4}|-\d{3}|-0|@[\w.-]+)$")


class Reliability(StrEnum):
    """How surely a model does what is asked."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    VERY_HIGH = "very_high"


@dataclass(frozen=True, slots=True)
class Rates:
    """What a million tokens cost in dollars; without a rate of their own, cached ones cost full."""

    input_usd: float
    output_usd: float
    cached_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known about one model; `is_known` is false for an assumption."""

    id: str
    window_tokens: int = UNKNOWN_WINDOW_TOKENS
    tier: ModelTier = ModelTier.MEDIUM
    xml_reliability: Reliability = Reliability.MEDIUM
    instruction_following: Reliability = Reliability.MEDIUM
    aliases: tuple[str, ...] = ()
    is_known: bool = True
    price: "Rates | None" = None


class _CatalogEntry(CatalogSettings):
    """What the settings may say of a model, and by which other names it goes."""

    aliases: list[str] = Field(default_factory=list[str])


class Catalog:
    """Looks models up by id, alias, or id without provider prefix and version."""

    def __init__(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        """Take raw entries by model id, as the YAML file holds them."""
        self._facts = {name: _facts(name, entry) for name, entry in entries.items()}
        self._by_name = {name.lower(): facts for name, facts in self._facts.items()}
        for facts in self._facts.values():
            for alias in facts.aliases:
                self._by_name.setdefault(alias.lower(), facts)

    @classmethod
    def load(cls, overrides: Mapping[str, Mapping[str, Any]] | None = None) -> "Catalog":
        """Read the bundled catalog; an override replaces single values of an entry or adds one."""
        entries: dict[str, dict[str, Any]] = dict(bundled_yaml("callboard.models", "catalog.yaml"))
        for name, values in (overrides or {}).items():
            entries[name] = {**entries.get(name, {}), **values}
        return cls(entries)

    def models(self) -> tuple[ModelFacts, ...]:
        """Return all entries in their order."""
        return tuple(self._facts.values())

    def facts(self, model: str) -> ModelFacts:
        """Return what is known about a model; an unknown one counts as medium."""
        for name in _names(model.lower()):
            if name in self._by_name:
                return self._by_name[name]
        return ModelFacts(model, is_known=False)


def tier_for_window(window_tokens: int) -> ModelTier:
    """Return the tier a window of this size makes possible."""
    if window_tokens >= _FULL_FROM:
        return ModelTier.FULL
    return ModelTier.MEDIUM if window_tokens >= _MEDIUM_FROM else ModelTier.MINIMAL


def _names(model: str) -> Iterator[str]:
    """Yield the names to try, from exact to bare."""
    yield model
    # Behind its last few marks: no name has more, and a stranger's may be nothing but marks.
    starts = [mark.end() for mark in _MARK.finditer(model)][-_MOST_MARKS:]
    for bare in (model, *(model[start:] for start in starts)):
        yield bare
        yield (unversioned := _VERSION.sub("", bare))
        if unversioned != bare:
            yield _VERSION.sub("", unversioned)


def _facts(name: str, entry: Mapping[str, Any]) -> ModelFacts:
    try:
        known = _CatalogEntry.model_validate(entry)
    except ValidationError as error:
        raise InvalidInput(
            f"Catalog entry {name!r}: {misfits(error, 'it')}",
            fix=f"Known keys: {', '.join(_CatalogEntry.model_fields)}.",
        ) from error
    window = known.window or UNKNOWN_WINDOW_TOKENS
    return ModelFacts(
        id=name,
        window_tokens=window,
        tier=known.tier or (ModelTier.MEDIUM if known.window is None else tier_for_window(window)),
        xml_reliability=Reliability(known.xml_reliability or Reliability.MEDIUM),
        instruction_following=Reliability(known.instruction_following or Reliability.MEDIUM),
        aliases=tuple(known.aliases),
        price=_rates(known),
    )


def _rates(entry: _CatalogEntry) -> Rates | None:
    if entry.input_usd is None and entry.output_usd is None:
        return None
    return Rates(entry.input_usd or 0.0, entry.output_usd or 0.0, entry.cached_usd)
