"""What the commands of Writers Factory take, declared once."""

from typing import Annotated

import typer

SceneArgument = Annotated[
    str, typer.Argument(metavar="SCENE", help="A scene by its id, like ch4-sc2.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="A field and what it is to hold; may be repeated.",
        show_default=False,
    ),
]
FastOption = Annotated[bool, typer.Option("--fast", help="Only what code can say: ask no model.")]
WriterOption = Annotated[
    str | None,
    typer.Option(
        "--writer",
        metavar="MODEL",
        help="Who writes; by default the model whose voice won.",
        show_default=False,
    ),
]
FormatOption = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="md, epub or docx; may be repeated. Markdown is always written.",
        show_default=False,
    ),
]
AuthorOption = Annotated[
    str, typer.Option("--author", metavar="NAME", help="Who stands on the title page.")
]


def listed(text: str) -> list[str]:
    """Return the names in a text, which commas separate."""
    return [name.strip() for name in text.split(",") if name.strip()]
