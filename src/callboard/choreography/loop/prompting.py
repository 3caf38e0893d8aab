"""What the roles of a loop and its Showrunner are shown: which texts, in which order, how large.

Texts are templates of the pack, found by convention: `validation_contract`, `patterns/<name>`,
`adapters/<role>`, `roles/<role>`, `showrunner/<module>`. A role is never shown the registry or the
context of the loop; the Showrunner sees the registry between loops and the context within one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from callboard.choreography.loop.board import LoopBoard
from callboard.choreography.loop.definition import Loop
from callboard.choreography.loop.house import LoopHouse
from callboard.choreography.loop.ports import PromptMode, StoredArtifact
from callboard.core.canonical import Json, compact_json
from callboard.core.errors import NotFound
from callboard.core.vocabulary import Content, Trust
from callboard.prompts import (
    Layer,
    TemplateNotFound,
    TemplateRegistry,
    render_template,
)
from callboard.studio.studio import Studio

SHARED_PATTERNS: Final = ("context_management", "safety_protocol")
SHOWRUNNER_MODULES: Final = ("system_prompt", "loop_orchestration")
_WIDE: Final = 100_000


class PromptNotFound(NotFound):
    """A text that a role is prompted with is not there."""

    code = "prompt_not_found"


def prompt_parts(
    prompts: TemplateRegistry, role: str, mode: PromptMode, schemas: str, *, showrunner: bool
) -> tuple[Layer, ...]:
    """Return the texts a role is made of, in their order; a missing one is named with its file."""
    names = ["validation_contract", *(f"patterns/{each}" for each in SHARED_PATTERNS)]
    if mode is PromptMode.ORCHESTRATION:
        names.append(f"adapters/{role}")
        names += [f"showrunner/{each}" for each in SHOWRUNNER_MODULES] if showrunner else []
    else:
        names.append(f"roles/{role}")
    layers = [_part(prompts, role, name) for name in names]
    index = Content(schemas, "schemas", Trust.TRUSTED)
    layers.insert(1, Layer("schema_index", index, pinned=True, stable=True))
    return tuple(layers)


def _part(prompts: TemplateRegistry, role: str, name: str) -> Layer:
    kind, _, rest = name.partition("/")
    try:
        content = render_template(prompts.get(name), {})
    except TemplateNotFound as error:
        raise PromptNotFound(
            f"The prompt {name}.md of role {role!r} is not there",
            fix=f"Write prompts/{name}.md.",
            role=role,
            kind=kind,
            path=f"prompts/{name}.md",
        ) from error
    return Layer(f"{kind}.{rest}" if rest else kind, content, pinned=True, stable=True)


def missing_prompts(studio: Studio, house: LoopHouse) -> tuple[PromptNotFound, ...]:
    """Look for every text of every role in both modes and return what is not there."""
    prompts = studio.prompts(house.pack)
    found: dict[str, PromptNotFound] = {}
    for role in house.cast.roster():
        is_lead = role.id == house.cast.showrunner
        for mode in PromptMode:
            try:
                prompt_parts(prompts, role.id, mode, "", showrunner=is_lead)
            except PromptNotFound as error:
                found[str(error.context["path"])] = error
    return tuple(found.values())


class LoopPrompts:
    """The prompts of one loop while it runs."""

    def __init__(self, studio: Studio, house: LoopHouse, loop: Loop | None = None) -> None:
        """Take the house, and the loop that runs, if one does."""
        self._studio = studio
        self._house = house
        self._loop = loop
        self._context: str | None = None
        # Texts may be edited while a loop runs; what its kinds look like does not change.
        self._indexes: dict[str, str] = {}

    def parts(self, role: str, mode: PromptMode = PromptMode.ORCHESTRATION) -> tuple[Layer, ...]:
        """Return what a role is made of; of the schemas only those it may have to fill."""
        house = self._house
        if role not in self._indexes:
            kinds = self._kinds(role) if self._loop is not None else ()
            self._indexes[role] = house.workspace.schemas(kinds) if kinds else ""
        index = self._indexes[role]
        is_lead = role == house.cast.showrunner
        return prompt_parts(self._registry, role, mode, index, showrunner=is_lead)

    def _kinds(self, role: str) -> tuple[str, ...]:
        assert self._loop is not None  # noqa: S101 - asked by the caller
        return tuple(k for step in self._loop.steps if role in step.roles for k in step.produces)

    @property
    def _registry(self) -> TemplateRegistry:
        return self._studio.prompts(self._house.pack)

    def registry_layer(self) -> Layer:
        """Return all loops in a few lines each."""
        text = Content(self._house.registry.rendered, "loops", Trust.TRUSTED)
        return Layer("tier1", text, pinned=True, stable=True)

    def context_layer(self) -> Layer:
        """Return everything about the loop that runs, and nothing about others."""
        if self._context is None and self._loop is not None:
            self._context = render_context(self._loop)
        text = Content(self._context or "", "loop", Trust.TRUSTED)
        return Layer("tier2", text, pinned=True, stable=True)

    def release(self) -> None:
        """Forget the context of the loop, which is over."""
        self._context = None
        self._loop = None

    @property
    def holds_context(self) -> bool:
        """Whether the context of a loop is in memory."""
        return self._context is not None

    def state_layer(self, lines: Sequence[str]) -> Layer:
        """Return where the work stands, in no more lines than are allowed."""
        most = self._house.settings.state_lines
        shown = list(lines)
        if len(shown) > most:
            shown = [*shown[: most - 1], f"({len(lines) - most + 1} more lines)"]
        return Layer("state", Content("\n".join(shown), "state", Trust.UNTRUSTED), pinned=True)

    def artifact_layers(
        self, artifacts: Mapping[str, StoredArtifact], reader: str
    ) -> tuple[Layer, ...]:
        """Return what artifacts say, as far as a role may read them."""
        held = self._house.workspace
        return tuple(
            Layer(
                f"artifact.{kind}",
                Content(told(held.content(each, reader)), f"artifact:{each.id}", Trust.UNTRUSTED),
                may_cut=True,
            )
            for kind, each in artifacts.items()
        )

    def message(self, name: str, /, **values: str | Content) -> Content:
        """Return a message, from the templates for loops."""
        shown = {
            each: value if isinstance(value, Content) else Content(value, each, Trust.TRUSTED)
            for each, value in values.items()
        }
        return render_template(self._registry.get(f"loop/{name}"), shown)


def told(content: Json) -> str:
    """Return an artifact as text: prose as it is, all else as JSON."""
    return content if isinstance(content, str) else compact_json(content)


def render_context(loop: Loop) -> str:
    """Return a loop as its Showrunner reads it while it runs."""
    import yaml

    steps: dict[str, Any] = {
        step.id: {
            "description": " ".join(step.description.split()),
            "playbook_recommends": list(step.roles) or None,
            "produces": list(step.produces),
            "requires": [str(need) for need in step.requires],
            "can_iterate": step.can_iterate,
        }
        for step in loop.steps
    }
    tree: dict[str, Any] = {
        "goal": " ".join(loop.goal.split()),
        "available_steps": steps,
        "scope_constraints": {"can": list(loop.scope.can), "cannot": list(loop.scope.cannot)},
        "stabilization_criteria": {
            "required_steps": [step.id for step in loop.steps if step.required is True],
            "required_if": {step.id: step.condition for step in loop.steps if step.condition},
            "all_artifacts_valid": True,
            loop.stability.value: True,
            "no_pending_revisions": True,
        },
        "typical_flow": [step.id for step in loop.flow],
    }
    return yaml.dump(
        tree,
        # The emitter in C writes the same text ten times as fast, where there is one.
        Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper),
        default_flow_style=None,
        width=_WIDE,
        sort_keys=False,
        allow_unicode=True,
    )


def state_lines(board: LoopBoard, notes: Sequence[str]) -> list[str]:
    """Return where the work stands: names, counts and states, never what an artifact says."""
    steps = [f"- {name}: {standing}" for name, standing in board.steps().items()]
    made = [
        f"- {each.kind} v{each.version}{f', {each.note}' if each.note else ''}"
        for each in board.artifacts.values()
    ]
    asked = [
        f"- {each.id} ({each.severity}) {each.target_step}, by {each.requested_by}: {each.reason}"
        for each in board.revisions
        if each.is_open
    ]
    groups = {"Steps": steps, "Artifacts": made, "Open revision requests": asked, "Notes": notes}
    return [
        line
        for heading, lines in groups.items()
        if lines
        for line in (f"{heading}:", *(" ".join(each.split())[:400] for each in lines))
    ]
