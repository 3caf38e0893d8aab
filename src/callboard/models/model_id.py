"""Model ids: `provider:model`, those that wrap another around a cassette, and those that are files.

A model that is a file may be asked only if the user has named it.

`record:FILE:MODEL` and `replay:FILE:MODEL`: the file's name ends in `.jsonl`, and what follows the
first `.jsonl:` is the model. So a file may lie anywhere, also behind a drive letter with a colon.

Where a name came from is forgotten long before a call is made: it may have lain in a project's
file, in a stored run or in a request. So the name itself is compared.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Final

from callboard.core.settings.schema import RECORD, REPLAY, is_file_model
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
