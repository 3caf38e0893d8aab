"""What a `pack.yaml` says: agents, choreographies, tools, and the pack's doors. Loads nothing."""

from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from callboard.core.vocabulary import Agent, ModelTier, RoleContract

NAME: Final = r"^[a-z][a-z0-9_-]{0,63}$"
_Reference = Annotated[str, Field(pattern=r"^[\w/]+\.py:\w+$")]
"""Code of the pack: `folder/file.py:name`."""


class _DoorEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CommandEntry(_DoorEntry):
    """A command of the pack: where its Typer app is, and one line of help."""

    app: _Reference
    help: str = Field(min_length=1, max_length=120)
    # Whether it works in a project; one that makes its own, or needs none, asks for no trust.
    needs_project: bool = True


class RoutesEntry(_DoorEntry):
    """Routes of the pack: an APIRouter, or several, and the paths below `/api` they answer."""

    router: _Reference
    paths: tuple[Annotated[str, Field(pattern=r"^/[a-z0-9/_-]+$")], ...] = Field(min_length=1)
    # Bytes a body may have, by path below `/api`; a `*` stands for one segment.
    bodies: dict[Annotated[str, Field(pattern=r"^/[a-z0-9/_*-]+$")], int] = Field(
        default_factory=dict[str, int]
    )


class OperationsEntry(_DoorEntry):
    """What can be done with the pack: the family its receipts name, and where it is declared.

    `find` finds what an operation works on, by its type.
    """

    family: str = Field(pattern=NAME)
    find: _Reference
    modules: tuple[Annotated[str, Field(pattern=r"^[\w/]+\.py$")], ...] = Field(min_length=1)


class PageEntry(_DoorEntry):
    """A page in the browser: where it hangs, and the function that builds it."""

    path: str = Field(pattern=r"^/[a-z0-9-]+$")
    title: str
    show: _Reference
    favicon: str | None = None


class TraceEntries(_DoorEntry):
    """What shows that a project made for another pack has something of this one."""

    # In the project's `.callboard/`.
    files: tuple[str, ...] = ()
    # Kinds of records.
    records: tuple[str, ...] = ()


class HookEntries(_DoorEntry):
    """What the doors of the runtime ask a pack to do; each is called only if it is there.

    `chat` talks at the terminal as the project's pack does, `chat_with` with an agent by name.
    `serving` is an asynchronous context around the life of a server.
    """

    chat: _Reference | None = None
    chat_with: _Reference | None = None
    serving: _Reference | None = None


def _tier_of(value: object) -> object:
    """Read a number as a tier: 1 and 2 are minimal, 3 and 4 medium, more is full."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        return value
    if value <= 2:
        return ModelTier.MINIMAL
    return ModelTier.MEDIUM if value <= 4 else ModelTier.FULL


class AgentEntry(BaseModel):
    """An agent as a file describes it."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")
    archetype: str | None = None
    name: str = ""
    owns: str = ""
    must_not: str = ""
    abstains_when: str = ""
    prompt: str = ""
    tier: Annotated[ModelTier | None, BeforeValidator(_tier_of)] = None
    model: str | None = None
    tools: list[str] = Field(default_factory=list[str])
    enabled: bool = True
    order: int = 0

    def agent(self) -> Agent:
        """Return the agent this entry describes."""
        contract = RoleContract(
            self.archetype or self.id, self.owns, self.must_not, self.abstains_when
        )
        return Agent(
            id=self.id,
            contract=contract,
            name=self.name or self.id,
            prompt=self.prompt,
            tier=self.tier,
            model=self.model,
            tools=frozenset(self.tools),
            enabled=self.enabled,
            order=self.order,
        )


def _tool_reference(value: str) -> str:
    """Refuse what does not tell the tool's id: a tool is known before its code is loaded."""
    if not value.rpartition(":")[2] or ":" not in value:
        raise ValueError(f"{value!r} must be written as file.py:name, with the id of the tool")
    return value


class PackFile(BaseModel):
    """Everything a `pack.yaml` may say."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=NAME)
    title: str = ""
    description: str = ""
    agents: list[AgentEntry] = Field(default_factory=list[AgentEntry])
    choreographies: dict[str, str] = Field(default_factory=dict[str, str])
    shelves: list[str] = Field(default_factory=list[str])
    tools: list[Annotated[str, AfterValidator(_tool_reference)]] = Field(default_factory=list[str])
    prompts: str = "prompts"
    sample: str | None = None
    # What somebody with a new project of this pack may try first.
    begin: str = ""
    # And what, if the project holds the pack's sample; the same if nothing is said.
    begin_sample: str = ""
    commands: dict[Annotated[str, Field(pattern=NAME)], CommandEntry] = Field(
        default_factory=dict[str, CommandEntry]
    )
    routes: list[RoutesEntry] = Field(default_factory=list[RoutesEntry])
    operations: OperationsEntry | None = None
    page: PageEntry | None = None
    hooks: HookEntries = HookEntries()
    traces: TraceEntries = TraceEntries()
