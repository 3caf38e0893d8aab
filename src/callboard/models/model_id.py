"""Model ids: `provider:model`, and the two that wrap another one around a cassette.

`record:FILE:MODEL` and `replay:FILE:MODEL`: the file's name ends in `.jsonl`, and what follows the
first `.jsonl:` is the model. So a file may lie anywhere, also behind a drive letter with a colon.
"""

from dataclasses import dataclass
from typing import Final

from callboard.core.settings.file_models import RECORD, REPLAY
from callboard.models.errors import UnknownModel

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
