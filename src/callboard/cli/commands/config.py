"""`callboard config`: the settings in force and the layer each came from."""

from typing import Annotated

import typer

from callboard.cli.options import JsonOption, ProjectOption, new_app
from callboard.cli.output import echo_json, echo_table, remark

app = new_app("The settings in force and where they come from.")


@app.callback()
def config() -> None:
    """The settings in force and where they come from."""


@app.command()
def show(
    changed: Annotated[
        bool, typer.Option("--changed", help="Only what differs from the defaults.")
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show every setting with its value and the layer it came from."""
    from callboard.cli.reports.models import configuration_near
    from callboard.core.settings.layers import LayerName, leaves
    from callboard.core.settings.layers import show as shown
    from callboard.core.settings.schema import key_text

    loaded = configuration_near(project).loaded
    rows: list[tuple[str, str, str, str]] = []
    values: dict[str, object] = {}
    for key, value in leaves(loaded.settings.model_dump(mode="json")):
        name = key_text(key)
        origin = loaded.origins[name]
        if changed and origin.layer is LayerName.DEFAULTS:
            continue
        told = shown(key, value)
        rows.append((name, origin.layer.value, told, origin.source))
        is_hidden = told == "(hidden)"
        values[name] = {
            "value": told if is_hidden else _masked(value),
            "layer": origin.layer.value,
            "source": origin.source,
        }
    if as_json:
        echo_json({"settings": values, "warnings": [str(each) for each in loaded.warnings]})
        return
    if rows:
        echo_table(("SETTING", "LAYER", "VALUE", "FROM"), rows)
    else:
        remark("Every setting has its default.")


def _masked(value: object) -> object:
    """Return a value as it may be shown: a text without the password of an address in it."""
    from callboard.core.places import without_user

    return without_user(value) if isinstance(value, str) else value
