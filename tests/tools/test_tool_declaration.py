"""Declaring, finding and describing tools."""

import pytest
from pydantic import BaseModel, SecretStr

from callboard.core.vocabulary import Effect
from callboard.tools import (
    DryRun,
    InvalidArgs,
    InvalidTool,
    Policy,
    Probe,
    Tool,
    ToolArgs,
    ToolContext,
    ToolRegistry,
    ToolResult,
    UnknownTool,
    tool,
)
from callboard.tools.builtin import BUILTIN_TOOLS


class EchoArgs(ToolArgs):
    text: str
    times: int = 1


@tool()
def echo(_context: ToolContext, args: EchoArgs) -> ToolResult:
    """Say it again.

    And nothing else.
    """
    return ToolResult({"text": args.text * args.times}, args.text)


def test_a_decorated_function_is_a_tool() -> None:
    assert isinstance(echo, Tool)
    assert (echo.id, echo.description, echo.effect) == ("echo", "Say it again.", Effect.PURE)
    assert echo.args_model is EchoArgs


@pytest.mark.req("CR-47")
def test_an_unknown_key_is_named() -> None:
    with pytest.raises(InvalidArgs) as caught:
        echo.parse({"text": "a", "loudness": 3})
    assert caught.value.code == "invalid_args"
    assert caught.value.context["keys"] == ["loudness"]
    assert "loudness" in caught.value.message
    assert "text, times" in (caught.value.fix or "")


def test_a_missing_and_a_wrong_key_are_both_named_without_their_values() -> None:
    with pytest.raises(InvalidArgs) as caught:
        echo.parse({"times": "many-secret"})
    assert caught.value.context["keys"] == ["text", "times"]
    assert "many-secret" not in str(caught.value.record())


def test_args_that_accept_anything_are_refused_at_declaration() -> None:
    class Loose(BaseModel):
        text: str

    with pytest.raises(InvalidTool, match="accept unknown keys"):

        @tool()
        def loose(context: ToolContext, args: Loose) -> ToolResult:
            return ToolResult({})


def test_a_function_without_an_args_type_is_refused() -> None:
    with pytest.raises(InvalidTool, match="does not say what arguments"):

        @tool()
        def vague(context: ToolContext, args) -> ToolResult:  # type: ignore[no-untyped-def]
            return ToolResult({})


@pytest.mark.parametrize("bad", ["Echo", "", "a b", "../x", "a" * 65])
def test_bad_ids_are_refused(bad: str) -> None:
    with pytest.raises(InvalidTool):
        echo.with_id(bad)


def test_a_probe_belongs_to_once_tools_only() -> None:
    async def probe(_context: ToolContext, _args: EchoArgs) -> Probe:
        return Probe(None)

    with pytest.raises(InvalidTool, match="probe"):
        Tool("echo", "", EchoArgs, echo.function, Effect.IDEMPOTENT, probe=probe)


@pytest.mark.req("CR-45")
def test_a_preview_is_one_line_of_at_most_200_characters() -> None:
    result = ToolResult({}, "one\ntwo\t three " + "x" * 300)
    assert result.preview.startswith("one two three x")
    assert len(result.preview) == 200
    assert result.preview.endswith("…")


def test_an_unknown_tool_is_an_error_with_near_names() -> None:
    registry = ToolRegistry(BUILTIN_TOOLS)
    with pytest.raises(UnknownTool) as caught:
        registry.get("read_fil")
    assert caught.value.code == "unknown_tool"
    assert "read_file" in (caught.value.fix or "")


def test_two_tools_cannot_share_an_id() -> None:
    registry = ToolRegistry()
    registry.register(echo, origin="pack one")
    with pytest.raises(InvalidTool, match="pack two is already registered by pack one"):
        registry.register(echo, origin="pack two")


def test_a_source_brings_its_tools_under_its_name() -> None:
    class Server:
        name = "kitchen server"

        def tools(self) -> list[Tool]:
            return [echo.with_id("kitchen.echo")]

    registry = ToolRegistry([echo])
    registry.register_source(Server())
    assert [each.id for each in registry] == ["echo", "kitchen.echo"]
    assert registry.origin_of("kitchen.echo") == "kitchen server"


def test_a_list_of_allowed_tools_must_name_tools_that_exist() -> None:
    registry = ToolRegistry(BUILTIN_TOOLS)
    assert registry.parse_allowed("read_file, find_files") == {"read_file", "find_files"}
    assert registry.parse_allowed("") == frozenset()
    with pytest.raises(UnknownTool):
        registry.parse_allowed("read_file, cast_spell")


def test_the_catalogue_shows_only_what_may_be_used() -> None:
    registry = ToolRegistry([*BUILTIN_TOOLS, echo])
    entries = registry.catalogue(Policy(role_tools=frozenset({"echo", "write_file"})))
    assert [entry["id"] for entry in entries] == ["echo", "write_file"]
    assert entries[0]["args"]["properties"]["text"] == {"title": "Text", "type": "string"}
    assert entries[0]["args"]["additionalProperties"] is False
    read_only = registry.catalogue(Policy(read_only=True))
    assert "write_file" not in {entry["id"] for entry in read_only}
    assert registry.catalogue(Policy.closed()) == []


def test_secret_arguments_are_known_by_their_type() -> None:
    class KeyArgs(ToolArgs):
        url: str
        token: SecretStr
        other: SecretStr | None = None

    @tool()
    def fetch(_context: ToolContext, _args: KeyArgs) -> ToolResult:
        """Fetch."""
        return ToolResult({})

    assert fetch.secret_args() == {"token", "other"}


def test_a_dry_run_lists_what_would_be_touched() -> None:
    result = DryRun(("a.md",), ("b.md", "c.md")).as_result()
    assert result.payload == {"dry_run": True, "reads": ["a.md"], "writes": ["b.md", "c.md"]}
    assert result.preview == "would read 1 and write 2 files"
