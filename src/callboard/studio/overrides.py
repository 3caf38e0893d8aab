"""What a project puts over its packs: the agents of its `agents.yaml`, and prompt templates."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from callboard.core.parsing import FileProblem, decode_text, misfits, parse_yaml
from callboard.core.places import config_dir
from callboard.core.vocabulary import Agent
from callboard.models.catalog import FileModels
from callboard.prompts import TemplateLayer, bundled_layer
from callboard.store.reading import read_bounded
from callboard.studio.pack_file import AgentEntry
from callboard.studio.packs import Pack, PackInvalid
from callboard.studio.project import Project

_LARGEST_BYTES: Final = 1_000_000
_NO_FILES: Final = FileModels()


def project_agents(
    path: Path, base: tuple[Agent, ...], files: FileModels = _NO_FILES
) -> dict[str, Agent]:
    """Read a project's `agents.yaml`: new agents, or other values for known ones."""
    known = {agent.id: _entry(agent) for agent in base}
    try:
        data = read_bounded(
            path, limit_bytes=_LARGEST_BYTES, within=path.parent, follow_links=False
        )
        raw: list[dict[str, Any]] = parse_yaml(decode_text(data)) or []
        entries = [
            AgentEntry.model_validate({**known.get(str(item.get("id")), {}), **item})
            for item in raw
        ]
    except FileNotFoundError:
        return {}
    except FileProblem as problem:
        raise PackInvalid(problem.at(path), fix="Correct the file.") from problem
    except ValidationError as error:
        told = misfits(error, "an agent")
        raise PackInvalid(f"{path}: {told}", fix="Correct the named keys.") from error
    except (AttributeError, TypeError) as error:
        raise PackInvalid(
            f"{path} is not a list of agents", fix="Write each agent as `- id: NAME`."
        ) from error
    for entry in entries:
        refusal = None if entry.model is None else files.why_not(entry.model)
        if refusal is not None:
            raise PackInvalid(
                f"{path}, agent {entry.id!r}, `model`: {refusal.message}",
                fix=refusal.fix,
                agent=entry.id,
                model=entry.model,
            )
    return {entry.id: entry.agent() for entry in entries}


def _entry(agent: Agent) -> dict[str, Any]:
    return {
        "id": agent.id,
        "name": agent.name,
        "archetype": agent.contract.archetype,
        "owns": agent.contract.owns,
        "must_not": agent.contract.must_not,
        "abstains_when": agent.contract.abstains_when,
        "prompt": agent.prompt,
        "tier": agent.tier,
        "model": agent.model,
        "tools": sorted(agent.tools),
        "enabled": agent.enabled,
        "order": agent.order,
    }


def template_layers(
    packs: tuple[Pack, ...], project: Project, environment: Mapping[str, str]
) -> tuple[TemplateLayer, ...]:
    """Return the layers from the weakest to the strongest: bundled, user, project."""
    return (
        bundled_layer(),
        *(TemplateLayer(layer_name(pack), pack.prompts) for pack in reversed(packs)),
        TemplateLayer("user", config_dir(environment) / "prompts"),
        TemplateLayer("project", project.prompts),
    )


def layer_name(pack: Pack) -> str:
    """Return how the layer of a pack is called."""
    return f"pack {pack.name}"
