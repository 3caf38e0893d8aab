"""`callboard models`: the catalog, the embedded model's weights, a trial, and the traffic."""

from typing import TYPE_CHECKING, Annotated

import typer

from callboard.cli import exits
from callboard.cli.options import JsonOption, ProjectOption, new_app
from callboard.cli.output import echo, echo_json, echo_table, number

if TYPE_CHECKING:
    from callboard.core.breaker import Breaker

app = new_app("The catalog, the embedded model, a trial, the traffic.")


@app.command("list")
def list_command(project: ProjectOption = None, as_json: JsonOption = False) -> None:
    """List known models and providers.

    Says which providers have a key, and never shows one.
    """
    from callboard.cli.reports.models import (
        catalog_of,
        configuration_near,
        provider_facts,
        weights_state,
    )

    near = configuration_near(project)
    settings = near.settings
    models = catalog_of(settings).models()
    providers = provider_facts(near)
    weights = weights_state()
    if as_json:
        shapes = [
            {
                "id": facts.id,
                "tier": facts.tier.value,
                "window_tokens": facts.window_tokens,
                "xml_reliability": facts.xml_reliability.value,
                "instruction_following": facts.instruction_following.value,
                "is_default": facts.id == settings.models.default,
            }
            for facts in models
        ]
        echo_json(
            {
                "default": settings.models.default,
                "models": shapes,
                "providers": [each.shape() for each in providers],
                "weights": weights.shape(),
            }
        )
        return
    rows = [
        (
            facts.id,
            facts.tier.value,
            number(facts.window_tokens),
            facts.xml_reliability.value,
            facts.instruction_following.value,
            "default" if facts.id == settings.models.default else "",
        )
        for facts in models
    ]
    echo_table(("MODEL", "TIER", "WINDOW", "XML", "INSTRUCTIONS", ""), rows)
    echo("Any other model can be named as provider:model; it counts as medium.\n")
    echo_table(
        ("PROVIDER", "KEY", "VARIABLE"),
        [
            (each.name, "present" if each.has_key else "missing", each.variable)
            for each in providers
        ],
    )
    echo(f"\nEmbedded model `local`: {weights.told}")


@app.command()
def pull(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Which; only `local` has weights to fetch.")
    ] = "local",
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Fetch the weights of the embedded model, once."""
    from callboard.cli.reports.models import pull_weights, weights_state
    from callboard.core.errors import InvalidInput

    if model != "local":
        raise InvalidInput(
            f"{model!r} has no weights to fetch", fix="Only `local` does: `callboard models pull`."
        )
    path = pull_weights(quiet=as_json)
    if as_json:
        echo_json({"weights": weights_state().shape()})
    else:
        echo(f"The embedded model is ready: {path}")
    return exits.OK


@app.command()
def test(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Which; by default the one in the settings.")
    ] = "",
    tries: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=100, help="Tries per shape of JSON schema."),
    ] = None,
    every_rung: Annotated[
        bool,
        typer.Option("--every-rung", help="Also measure ways that would never be used first."),
    ] = False,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Try a model out, and remember what it is good at.

    How fast is it, and how often are its structured replies valid? The profile is kept for you
    and decides how this model is asked from now on.
    """
    import os

    from callboard.cli.bridge import perform_simply
    from callboard.cli.reports.models import configuration_near, open_near, profile_report, tell_try
    from callboard.core.clock import SystemClock
    from callboard.models import ModelProfile, ProfileShelf, measure, profiles_dir

    near = configuration_near(project)
    settings = near.settings
    wanted = model or settings.models.default
    each = settings.structure.trial_tries if tries is None else tries

    async def work() -> ModelProfile:
        gate = open_near(near, *([model] if model else []))
        try:
            return await measure(
                gate,
                wanted,
                SystemClock(),
                tries=each,
                every_rung=every_rung,
                on_try=tell_try(each, quiet=as_json),
            )
        finally:
            await gate.close()

    profile = perform_simply(work())
    path = ProfileShelf(profiles_dir(os.environ)).save(profile)
    profile_report(profile, path, as_json=as_json)
    return exits.OK


@app.command()
def status(project: ProjectOption = None, as_json: JsonOption = False) -> int:
    """Show which providers fail or are paused.

    Tells for each circuit whether calls pass, and when a provider left alone is tried again.
    """
    from callboard.cli.reading import reading
    from callboard.cli.reports.traffic import traffic_report

    with reading(project) as journal:
        traffic_report(journal, as_json=as_json)
    return exits.OK


@app.command()
def reset(
    provider: Annotated[str, typer.Argument(metavar="PROVIDER", help="Which, such as `openai`.")],
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Let calls to a provider pass again at once.

    Every process on the project follows within half a second.
    """
    from callboard.cli.bridge import perform_simply
    from callboard.cli.handlers.opening import Choices, working
    from callboard.cli.reports.traffic import find_circuit, tell_reset
    from callboard.operations.runtime import reset_circuit, runtime

    resource = find_circuit(project, provider)

    async def work() -> "Breaker":
        async with working(Choices(project)) as here:
            return await runtime(here.studio).perform(reset_circuit, resource)

    tell_reset(provider, resource, perform_simply(work()), as_json=as_json)
    return exits.OK
