"""Scripts from files: the provider behind `script` and `script:path/to/replies.yaml`."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from callboard.core.errors import InvalidInput, NotFound
from callboard.core.parsing import FileProblem, decode_text, misfits, parse_json, parse_yaml
from callboard.core.patterns import pattern_problem
from callboard.models.providers.plain_file import read_plain
from callboard.models.providers.script import Line, Script
from callboard.models.types import ModelRequest, ProviderChunk

MOST_BYTES: Final = 8_000_000
_SEE: Final = "See the section on scripts in docs/models.md."


def _endless(read: Any) -> Any:
    """Read `always`, in files, as any number of times."""
    if not isinstance(read, dict) or "times" not in read:
        return cast("Any", read)
    entry = cast("dict[str, Any]", read)
    if entry["times"] is None:
        raise ValueError("times is a number or `always`")
    return {**entry, "times": None if entry["times"] == "always" else entry["times"]}


def _checked(line: Line) -> Line:
    problem = None if line.matching is None else pattern_problem(line.matching)
    if problem is not None:
        raise ValueError(f"matching: {problem}")
    return line


class _ScriptFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    replies: list[Annotated[Line, BeforeValidator(_endless), AfterValidator(_checked)]]


def load_script(path: Path, below: Sequence[Path] = ()) -> Script:
    """Read a script from a YAML or JSON file; in the folders of `below` no link is followed."""
    try:
        content = _decode(path, read_plain(path, most_bytes=MOST_BYTES, below=below))
        replies = _ScriptFile.model_validate(content).replies
    except FileNotFoundError as error:
        raise NotFound(f"There is no script file {path}.", fix=_SEE) from error
    except ValidationError as error:
        raise InvalidInput(f"{path}: {misfits(error, 'the file')}", fix=_SEE) from error
    return Script(*replies, name=str(path))


def _decode(path: Path, data: bytes) -> Any:
    try:
        text = decode_text(data)
        return parse_json(text) if path.suffix == ".json" else parse_yaml(text)
    except FileProblem as problem:
        raise InvalidInput(problem.at(path), fix=_SEE) from problem


class ScriptFiles:
    """Answers for `script:<path>` from files, each read once, and for `script` from one script."""

    constrains_json = False

    def __init__(
        self, base: Path, script: Script | None = None, below: Sequence[Path] = ()
    ) -> None:
        """Take the folder relative paths start from, and the script of the bare id.

        Links are not followed in that folder, nor in those of `below`.
        """
        self._base = base
        self._below = (*below, base)
        self._scripts: dict[str, Script] = {} if script is None else {"": script}

    def script(self, model: str) -> Script:
        """Return the script behind a model id, to read its calls and what was left unused."""
        path = model.partition(":")[2]
        if path not in self._scripts:
            if not path:
                raise NotFound(
                    "The model `script` has no replies.", fix="Name a file: `script:replies.yaml`."
                )
            self._scripts[path] = load_script(self._base / path, self._below)
        return self._scripts[path]

    def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderChunk]:
        """Play the first line that answers the request."""
        return self.script(request.model).stream(request)

    async def close(self) -> None:
        """Hold nothing, release nothing."""
