"""The staff at the command line."""

from pathlib import Path

from callboard.choreography.staffing import agents_now, tier_of
from callboard.cli import exits
from callboard.cli.acting.opening import Choices, working
from callboard.cli.bridge import Interrupt, perform
from callboard.cli.output import echo_json, echo_table


def list_agents(project: Path | None, *, as_json: bool) -> int:
    """Print the enabled agents with model, tier and what they are doing."""

    async def work(_interrupt: Interrupt) -> int:
        async with working(Choices(project)) as here:
            studio = here.studio
            pack = studio.settings.pack
            now = agents_now(studio, pack)
            staff = [
                {
                    "id": agent.id,
                    "name": agent.name,
                    "archetype": agent.contract.archetype,
                    "model": agent.model or studio.settings.models.default,
                    "tier": tier_of(studio, agent).value,
                    "owns": agent.contract.owns,
                    "state": now[agent.id].value if agent.id in now else "idle",
                }
                for agent in studio.repertoire.staff(pack)
            ]
        if as_json:
            echo_json({"agents": staff})
        else:
            shown = ("id", "state", "model", "tier", "owns")
            rows = [tuple(each[name] for name in shown) for each in staff]
            echo_table(("AGENT", "STATE", "MODEL", "TIER", "OWNS"), rows)
        return exits.OK

    return perform(work)
