"""`callboard auth`: keys of model providers, stored where only you can read them."""

from typing import Annotated, Any

import typer

from callboard.cli import exits
from callboard.cli.options import CommandGroup, JsonOption, ProjectOption, new_app
from callboard.cli.output import echo, echo_json, echo_table, remark

app = new_app("Keys of model providers; `callboard auth PROVIDER` stores one.")

_STORE = "store"

ProviderArgument = Annotated[
    str, typer.Argument(metavar="PROVIDER", help="`openai`, `anthropic`, or a name you configured.")
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME",
        help="Set of keys; by default the one in the settings.",
        show_default=False,
    ),
]
ApiKeyOption = Annotated[
    str | None,
    typer.Option(
        "--api-key",
        metavar="KEY",
        help="The key itself; it stays in the shell's history, so better not.",
        show_default=False,
    ),
]
KeyFileOption = Annotated[
    str | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="Read the key from a file; `-` is standard input.",
        show_default=False,
    ),
]
CredentialsFileOption = Annotated[
    str | None,
    typer.Option(
        "--credentials-file",
        metavar="FILE",
        help="Take a service account of Google Cloud from its JSON file.",
        show_default=False,
    ),
]
ForProjectOption = Annotated[
    bool,
    typer.Option(
        "--for-project", help="Store it in the project's own encrypted file, for this project only."
    ),
]
VerifyOption = Annotated[
    bool, typer.Option("--verify/--no-verify", help="Whether the provider is asked about the key.")
]


class _ByProvider(CommandGroup):
    """Takes a word that is no command for the provider whose key is to be stored."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        is_command = not args or args[0] in self.commands
        return super().resolve_command(ctx, args if is_command else [_STORE, *args])


@app.callback(cls=_ByProvider)
def auth() -> None:
    """Keys of model providers; `callboard auth PROVIDER` stores one."""


@app.command(_STORE)
def store(
    provider: ProviderArgument,
    profile: ProfileOption = None,
    api_key: ApiKeyOption = None,
    key_file: KeyFileOption = None,
    credentials_file: CredentialsFileOption = None,
    for_project: ForProjectOption = False,
    verify: VerifyOption = True,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Ask for a provider's key, try it out, and store it.

    It goes into the keyring of your system, or where there is none into an encrypted file; with
    --for-project into a file of the project's, which no clone of it can open.
    """
    import os

    from callboard.cli.bridge import perform_simply
    from callboard.cli.reports.keys import GivenKey, keys_near, status_shape, take_key
    from callboard.models.credentials import KeyPlace, Tie
    from callboard.models.providers.address import locate
    from callboard.models.providers.verification import title_of, verify_key

    keys = keys_near(project, profile)
    is_cloud = credentials_file is not None and provider.startswith("google")
    account = keys.account("google-cloud" if is_cloud else provider)
    title = title_of(account.name)
    secret = take_key(title, GivenKey(api_key, key_file, credentials_file))
    address = locate(account.name, account.config, os.environ)
    if verify:
        perform_simply(verify_key(account.name, secret, account.config, os.environ, ties=keys.ties))
    place = keys.credentials.save(account.name, secret, for_project=for_project)
    if address.place and account.config.is_url_own:
        keys.ties.add(Tie(account.name, address.place))
    status = keys.status(account)
    if as_json:
        stored = {"profile": keys.profile, "stored_in": place.value, "is_verified": verify}
        echo_json({**status_shape(status), **stored})
        return exits.OK
    where = f"your keyring (service callboard:{keys.profile})"
    file = keys.credentials.project if place is KeyPlace.PROJECT else keys.credentials.file
    if place is not KeyPlace.KEYRING and file is not None:
        where = f"{file.path}, encrypted for you on this machine"
    told = "accepts the key" if verify else "was not asked about the key"
    echo(f"{title} {told}. It is stored in {where}.")
    if status.found is not None and status.found.variable is not None:
        remark(f"{status.found.variable} is set: while it is, that key is used instead.")
    return exits.OK


@app.command("status")
def status_command(
    profile: ProfileOption = None, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """List which providers have a key and where it comes from.

    Of a key no more than its ending is shown.
    """
    from callboard.cli.failure import block_of
    from callboard.cli.reports.keys import keys_near, status_row, status_shape

    keys = keys_near(project, profile)
    survey = keys.survey()
    problem = None if survey.problem is None else survey.problem.record()
    if as_json:
        told = None if problem is None else {"message": problem.message, "fix": problem.fix}
        shapes = [status_shape(each) for each in survey.keys]
        profiles = keys.credentials.profiles
        echo_json(
            {
                "profile": keys.profile,
                "profiles": [] if profiles is None else list(profiles.names()),
                "providers": shapes,
                "problem": told,
            }
        )
    else:
        headers = ("PROVIDER", "KEY", "FROM", "VARIABLE")
        echo_table(headers, [status_row(each) for each in survey.keys])
        if problem is not None:
            remark(f"\n{block_of(problem)}")
    return exits.OK if problem is None else exits.NEEDS_YOU


@app.command()
def remove(
    provider: ProviderArgument,
    profile: ProfileOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Forget a provider's stored key.

    Environment variables are not touched.
    """
    from callboard.cli.reports.keys import keys_near, status_shape
    from callboard.core.errors import NotFound
    from callboard.models.providers.verification import title_of

    keys = keys_near(project, profile)
    account = keys.account(provider)
    title = title_of(account.name)
    removed = keys.credentials.remove(account.name)
    if not removed:
        raise NotFound(
            f"No key of {title} is stored in profile {keys.profile!r}",
            fix="`callboard auth status` lists what is there.",
        )
    status = keys.status(account)
    if as_json:
        gone = {"profile": keys.profile, "removed_from": [place.value for place in removed]}
        echo_json({**status_shape(status), **gone})
        return exits.OK
    echo(f"The key of {title} is removed.")
    if status.found is not None:
        remark(f"{status.origin} is still set and is used.")
    return exits.OK


@app.command()
def tie(
    provider: ProviderArgument,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="URL",
            help="Where the key may go; without it, to the provider itself.",
            show_default=False,
        ),
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(
            "--env",
            metavar="VARIABLE",
            help="The variable that holds the key; without it, the provider's usual key.",
            show_default=False,
        ),
    ] = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Let a provider's key go to an address that is not the provider's own.

    Scheme, host and port count; when one of them changes, tie again. Needed for a `base_url` that
    is not set together with `api_key_env` in your own config.yaml.
    """
    from callboard.cli.reports.keys import keys_near
    from callboard.models.credentials import Tie, address_of

    keys = keys_near(project, None)
    name = keys.account(provider).name
    made = Tie(name, "" if url is None else address_of(url), env)
    keys.ties.add(made)
    if as_json:
        echo_json({"provider": name, "address": made.address, "variable": made.variable})
    else:
        whose = f"The key in {env}" if env else f"The key of {name}"
        echo(f"{whose} may go to {made.address or name + ' itself'}.")
    return exits.OK


@app.command()
def untie(
    provider: ProviderArgument, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """Forget to which addresses a provider's key may go."""
    from callboard.cli.reports.keys import keys_near

    keys = keys_near(project, None)
    name = keys.account(provider).name
    gone = sorted(each.address for each in keys.ties.remove(name))
    if as_json:
        echo_json({"provider": name, "addresses": list(gone)})
    else:
        echo(f"The key of {name} goes to {name} itself and to what your config.yaml pairs it with.")
    return exits.OK
