"""What `pack.yaml` names: the run that looks at the manuscript's health."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from callboard.choreography.stage import Stage
from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput
from callboard.engine.run import Run
from callboard.packs.writers_factory.health.checkup import Checkup
from callboard.packs.writers_factory.health.scope import GRAMMAR, parse_checks, parse_scope
from callboard.studio.runnable import Prepared
from callboard.studio.studio import Studio

_PARAMETERS: Final = {
    "scope": f"str, default manuscript: {GRAMMAR}",
    "checks": "list of checks such as A1 or B1_flaw_challenge, default: all seven",
}


class HealthOffer:
    """The choreography of a health check."""

    summary = "Look at the health of the manuscript: seven checks, each finding with its evidence."

    @property
    def parameters(self) -> Mapping[str, str]:
        """The arguments it takes."""
        return _PARAMETERS

    async def prepare(self, _studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Check the scope and the checks that are named."""
        unknown = sorted(raw.keys() - _PARAMETERS.keys())
        if unknown:
            takes = ", ".join(f"{name} ({kind})" for name, kind in _PARAMETERS.items())
            raise InvalidInput(
                f"A health check takes no {', '.join(unknown)}", fix=f"It takes: {takes}."
            )
        scope = parse_scope(str(raw.get("scope") or ""))
        checks = parse_checks(_named(raw.get("checks")))
        args: dict[str, Json] = {"scope": str(scope), "checks": [each.value for each in checks]}
        return Prepared(args, title=f"Health of {scope}")

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Perform one health check."""
        checks = parse_checks(cast("list[str]", run.args["checks"]))
        return await Checkup(
            Stage(studio, run), parse_scope(str(run.args["scope"])), checks
        ).perform()


def _named(given: Any) -> Sequence[str]:
    if not given:
        return ()
    if isinstance(given, str):
        return [name for name in given.replace(",", " ").split() if name]
    return [str(name) for name in given]


health: Final = HealthOffer()
