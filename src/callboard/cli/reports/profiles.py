"""What a model was measured to be good at, shown while it is tried and afterwards."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from callboard.cli.output import (
    echo,
    echo_facts,
    echo_json,
    echo_table,
    number,
    one_line,
    remark,
    seconds,
)
from callboard.models import ModelProfile, Rung, Score, Shape

_NAMES: Final = {
    Rung.GRAMMAR: "grammar",
    Rung.SCHEMA: "schema",
    Rung.TAGGED: "tagged text",
    Rung.REPAIR: "repair",
    Rung.SMALLER: "small questions",
}


def tell_try(tries: int, *, quiet: bool) -> Callable[[Rung, Shape, Score], None]:
    """Return what tells a watcher about every finished shape."""

    def tell(rung: Rung, shape: Shape, score: Score) -> None:
        if not quiet and score.tries == tries:
            remark(f"{_NAMES[rung]}, {shape}: {score.valid} of {score.tries} valid")

    return tell


def profile_report(profile: ModelProfile, path: Path, *, as_json: bool) -> None:
    """Show a profile and where it is kept."""
    if as_json:
        first = {shape.value: profile.first_rung(shape).value for shape in Shape}
        echo_json({"profile": {**profile.to_json(), "first_rung": first}, "path": str(path)})
        return
    speed, wait = profile.tokens_per_second, profile.first_token_ms
    spent = profile.usage
    echo_facts(
        [
            ("model", profile.model),
            ("says", one_line(profile.sample, 200)),
            ("first token", "" if wait is None else seconds(wait)),
            ("speed", "" if speed is None else f"{speed:.0f} tokens/s"),
            ("used", f"{number(spent.input_tokens)} in, {number(spent.output_tokens)} out"),
            ("kept in", str(path)),
        ]
    )
    echo()
    rows = [
        (
            _NAMES[rung],
            *(_cell(profile.scores[rung].get(shape)) for shape in Shape),
        )
        for rung in profile.scores
    ]
    first = ("asked first by", *(_NAMES[profile.first_rung(shape)] for shape in Shape))
    echo_table(("VALID REPLIES", *(shape.value.upper() for shape in Shape)), [*rows, first])


def _cell(score: Score | None) -> str:
    return "" if score is None else f"{score.rate:.0%} ({score.valid}/{score.tries})"
