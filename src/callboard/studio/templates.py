"""Where a project's prompt templates come from: bundled, packs, the user, the project."""

from collections.abc import Mapping

from callboard.core.places import config_dir
from callboard.prompts import TemplateLayer, bundled_layer
from callboard.studio.packs import Pack
from callboard.studio.project import Project


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
