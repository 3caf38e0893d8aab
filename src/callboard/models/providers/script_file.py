"""Scripts from files: the provider behind `script` and `script:path/to/replies.yaml`."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput, NotFound
from callboard.core.parsing import FileProblem, decode_text, misfits, parse_json, parse_yaml
from callboard.core.patterns import pattern_problem
from callboard.models.providers.plain_file import read_plain
from callboard.models.providers.script import Failure, Line, Script
from callboard.models.types import ModelRequest, ProviderChunk, Usage

MOST_BYTES: Final = 8_000_000
_SEE: Final = "See the section on scripts in docs/models.md."


def _check_pattern(pattern: str) -> str:
    problem = pattern_problem(pattern)
    if problem is not None:
        raise ValueError(problem)
    return pattern


class _StrictScript(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Failure(_StrictScript):
    status: int = 500
    message: str = "scripted failure"
    headers: dict[str, str] = Field(default_factory=dict[str, str])


class _Usage(_StrictScript):
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


class _Reply(_StrictScript):
    """One entry of a script file; the fields are those of `Line`."""

    text: str = ""
    data: Json = Field(default=None, alias="json")
    agent: str | None = None
    prompt_type: str | None = None
    matching: Annotated[str, AfterValidator(_check_pattern)] | None = None
    times: int | Literal["always"] = 1
    fail: _Failure | None = None
    drop_after: int | None = None
    hang: bool = False
    hold: str | None = None
    finish_reason: str = "stop"
    usage: _Usage | None = None

    def line(self) -> Line:
        return Line(
            text=self.text,
            json=self.data,
            agent=self.agent,
            prompt_type=self.prompt_type,
            matching=self.matching,
            times=None if self.times == "always" else self.times,
            fail=None if self.fail is None else Failure(**self.fail.model_dump()),
            drop_after=self.drop_after,
            hang=self.hang,
            hold=self.hold,
            finish_reason=self.finish_reason,
            usage=None if self.usage is None else Usage(**self.usage.model_dump()),
        )


class _ScriptFile(_StrictScript):
    replies: list[_Reply]


def load_script(path: Path, below: Sequence[Path] = ()) -> Script:
    """Read a script from a YAML or JSON file; in the folders of `below` no link is followed."""
    try:
        content = _decode(path, read_plain(path, most_bytes=MOST_BYTES, below=below))
        replies = _ScriptFile.model_validate(content).replies
    except FileNotFoundError as error:
        raise NotFound(f"There is no script file {path}.", fix=_SEE) from error
    except ValidationError as error:
        raise InvalidInput(f"{path}: {misfits(error, 'the file')}", fix=_SEE) from error
    return Script(*(reply.line() for reply in replies), name=str(path))


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
