"""What the pages name exists: commands with their options, settings, error codes, files."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from callboard.cli.command_apps import app_of
from callboard.cli.table import names
from callboard.core.settings import Settings
from callboard.core.settings.layers import LayerName, SettingsLayer
from callboard.core.settings.resolve import resolve

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    page
    for page in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
    )
    # Decisions tell what once was; generated pages are checked against the program elsewhere.
    if page.name not in ("decisions.md", "architecture.md", "cli.md", "api.md")
]
BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^(\|[^\n]*)\n\|[-| :]+\n((?:\|[^\n]*\n)+)", re.MULTILINE)
INLINE = re.compile(r"`([^`\n]+)`")
# Flags that `callboard` itself takes from every command line.
EVERYWHERE = frozenset(("--debug", "--trust-once", "--help", "-h"))
# Words that a sentence puts in place of a command's own.
NO_COMMANDS = frozenset(("COMMAND", "NAME"))
# Families of commands that a sentence names without calling one.
FAMILIES = frozenset((("safety.md", "callboard runs"), ("safety.md", "callboard receipts")))
# The command of the pack that docs/packs.md writes.
EXAMPLES = frozenset(("plants",))


def called_in(page: Path) -> Iterator[str]:
    """Give every call of `callboard` that a page shows, in blocks and within sentences."""
    text = page.read_text("utf-8")
    for language, block in BLOCK.findall(text):
        if language in ("", "sh", "console", "text", "bash"):
            for line in block.splitlines():
                yield from re.findall(r"(?:^|\$ |[(| ])(callboard [a-z-].*)", line)
    for span in INLINE.findall(BLOCK.sub("", text)):
        if span.startswith("callboard "):
            yield span


def words_of(called: str) -> list[str]:
    bare = re.split(r" {2,}|\s#|[|>&;)]|\$\(", called)[0]
    try:
        return shlex.split(bare)[1:]
    except ValueError:
        return bare.split()[1:]


def problem_with(words: list[str]) -> str | None:
    """Say what in a call does not exist, or None."""
    if not words or words[0] in NO_COMMANDS or words[0].startswith("-"):
        return None
    if words[0] in EXAMPLES or words[0] in ("completion", "help", "version"):
        return None
    if words[0] not in names():
        return f"there is no command {words[0]}"
    command: Any = typer.main.get_command(app_of(words[0]))
    rest = words[1:]
    while hasattr(command, "commands") and rest and rest[0] in command.commands:
        command, rest = command.commands[rest[0]], rest[1:]
    if hasattr(command, "commands"):
        return problem_with_group(command, words[0], rest)
    return problem_with_options(command, words, rest)


def problem_with_group(group: Any, name: str, rest: list[str]) -> str | None:
    if name == "auth":
        return problem_with_options(group.commands["store"], [name], rest)
    if not rest and not group.invoke_without_command:
        return f"{name} does nothing by itself: it is a group of commands"
    if not rest or rest[0].startswith("-"):
        return problem_with_options(group, [name], rest)
    is_word = rest[0].islower() and rest[0].isalpha()
    return f"{name} has no command {rest[0]}" if is_word else None


def problem_with_options(command: Any, words: list[str], rest: list[str]) -> str | None:
    known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    for word in rest:
        option = word.partition("=")[0].rstrip(",.:`")
        if option.startswith("--") and option != "--" and option not in known | EVERYWHERE:
            return f"{' '.join(words[:2])} does not take {option}"
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_and_option_a_page_shows_exists(page: Path) -> None:
    wrong = {
        called: problem
        for called in called_in(page)
        if (page.name, called) not in FAMILIES and (problem := problem_with(words_of(called)))
    }
    assert wrong == {}


def test_the_pages_show_commands_at_all() -> None:
    assert sum(len([*called_in(page)]) for page in PAGES) > 200


def keys(model: Any, before: tuple[str, ...] = ()) -> Iterator[str]:
    """Give every key of the settings, sections included, written with dots."""
    for name, field in model.model_fields.items():
        yield ".".join((*before, name))
        inner = field.annotation
        if isinstance(inner, type) and hasattr(inner, "model_fields"):
            yield from keys(inner, (*before, name))


SETTINGS = frozenset(keys(Settings))
SECTIONS = frozenset(key for key in SETTINGS if "." not in key)
DOTTED = re.compile(r"[a-z_]+(\.[a-z_]+)+")


def settings_in(page: Path) -> Iterator[str]:
    """Give every key of Callboard's settings a page names within a sentence."""
    for span in INLINE.findall(BLOCK.sub("", page.read_text("utf-8"))):
        named = span.split(":")[0].split("=")[0].strip()
        is_file = named.endswith((".yaml", ".py", ".json", ".files"))
        if DOTTED.fullmatch(named) and not is_file and named.split(".")[0] in SECTIONS:
            yield named


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_setting_a_page_names_exists(page: Path) -> None:
    unknown = [
        named
        for named in settings_in(page)
        if not any(named == key or named.startswith(f"{key}.") for key in SETTINGS - SECTIONS)
    ]
    assert unknown == []


def settings_blocks(page: Path) -> Iterator[dict[str, Any]]:
    """Give every block that is a piece of a `config.yaml`."""
    for language, block in BLOCK.findall(page.read_text("utf-8")):
        data: Any = yaml.safe_load(block) if language == "yaml" else None
        if isinstance(data, dict) and data and data.keys() <= SECTIONS - {"pack"}:
            yield data


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_piece_of_settings_a_page_shows_can_be_used(page: Path) -> None:
    for data in settings_blocks(page):
        loaded = resolve([SettingsLayer(LayerName.USER, "config.yaml", data)])
        assert [str(each) for each in loaded.warnings] == [], data


def codes() -> frozenset[str]:
    """Return every code an error can have, and the ones that doors and checks name themselves."""
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    return frozenset(re.findall(r"[\"']([a-z][a-z0-9]*(?:_[a-z0-9]+)+)[\"']", source))


def test_every_error_code_in_a_table_of_codes_exists() -> None:
    known = codes()
    looked_at = 0
    for page in PAGES:
        for header, rows in TABLE.findall(page.read_text("utf-8")):
            if header.split("|")[1].strip() not in ("code", "codes", "error"):
                continue
            for row in rows.splitlines():
                for code in re.findall(r"`([a-z_]+)`", row.split("|")[1]):
                    looked_at += 1
                    assert code in known or "_" not in code, f"{page.name}: {code}"
    assert looked_at > 20


def spans_in(page: Path) -> list[str]:
    """Return what a page sets as code within its sentences."""
    return INLINE.findall(BLOCK.sub("", page.read_text("utf-8")))


def test_every_target_of_make_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {
        (page.name, span.split()[1])
        for page in PAGES
        for span in spans_in(page)
        if re.match(r"make [a-z]+", span) and page.parent.name != "alfred"
    }
    assert len(named) > 5
    assert {(page, target) for page, target in named if target not in targets} == set()


def anchors_of(page: Path) -> set[str]:
    """Return the names under which the headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.strip().lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text("utf-8")):
        if "://" not in target:
            there = page.parent / target if target else page
            assert there.exists(), f"{page.name} links to {target}"
            assert not anchor or anchor in anchors_of(there), f"{page.name}: {target}#{anchor}"


# Names that are examples of a reader's own, or another program's.
OTHERS = frozenset(
    (
        "my_pack",
        "danny_age",
        "each_x",
        "BENCH_ARGS",
        "GOOGLE_CLOUD_LOCATION",
        "CALLBOARD_MODELS_PROVIDERS_VLLM_BASE_URL",
    )
)


CLASS = re.compile(r"[A-Z][a-z]+[A-Z][a-z]")


def test_every_name_of_the_code_a_page_names_exists() -> None:
    files = [
        *(
            path
            for path in (ROOT / "src").rglob("*")
            if path.suffix in (".py", ".yaml", ".json", ".md")
        ),
        *(path for folder in ("tests", "tools", "bench") for path in (ROOT / folder).rglob("*.py")),
    ]
    known = {path.stem for path in files}
    for path in files:
        text = path.read_text("utf-8")
        known.update(word for word in re.findall(r"\w+", text) if not CLASS.match(word))
        if path.suffix == ".py":
            # A class must be made or imported somewhere; a docstring may still speak of a lost one.
            made = re.findall(r"^\s*(?:class |from \S+ import )(.+)|^(\w+)(?::.*)? = ", text, re.M)
            known.update(
                word for found in made for part in found for word in re.findall(r"\w+", part)
            )
            known.update(re.findall(r"^    (\w+),$", text, re.M))
    named = {
        (page.name, word)
        for page in PAGES
        for span in spans_in(page)
        if not span.startswith("callboard ")
        for word in re.findall(r"\b[A-Za-z]\w*", span)
        if "_" in word.strip("_") or CLASS.match(word)
    }
    assert len(named) > 300
    assert {(page, word) for page, word in named if word not in known | OTHERS} == set()
