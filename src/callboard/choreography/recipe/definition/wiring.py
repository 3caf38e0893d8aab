"""Whether a recipe can work here: slots, references, tools, roles and templates fit together."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from callboard.choreography.pages import PAGES
from callboard.choreography.recipe.definition.model import (
    AgentStep,
    Recipe,
    RecipeStep,
    ToolStep,
)
from callboard.choreography.recipe.definition.refs import TASK, Ref
from callboard.choreography.recipe.errors import Problem
from callboard.choreography.small_models import EACH, LINES, TARGET
from callboard.core.canonical import Json
from callboard.core.vocabulary import Effect, ModelTier
from callboard.prompts import (
    RESERVED_NAMES,
    TemplateInvalid,
    TemplateNotFound,
    TemplateRegistry,
    check_placeholders,
)
from callboard.tools import ToolRegistry

T = TypeVar("T")

# Names an artifact and the task offer to references beside what their data holds.
_TASK_FIELDS = ("description", "args", "initial_args", "session_plan_task_id")


@dataclass(frozen=True, slots=True)
class RecipeSurroundings:
    """What recipes are checked against: the tools, the staff and the templates of a studio."""

    tools: ToolRegistry
    archetypes: Collection[str]
    prompts: TemplateRegistry
    # The kinds of pages an agent can read.
    reads: Collection[str] = ()


@dataclass(slots=True)
class _Wiring:
    recipe: Recipe
    file: str
    problems: list[Problem] = field(default_factory=list[Problem])

    def wrong(self, where: str, message: str) -> None:
        self.problems.append(Problem(self.file, where, message))


def check_wiring(recipe: Recipe, file: str, around: RecipeSurroundings) -> list[Problem]:
    """Return everything that would keep a recipe from working, each with file and field."""
    wiring = _Wiring(recipe, file)
    _check_names(wiring)
    _check_flow(wiring)
    _check_steps(wiring, around)
    _check_checks(wiring, around)
    return wiring.problems


def _check_names(wiring: _Wiring) -> None:
    steps, slots = dict[str, str](), dict[str, str]()
    for where, step in _placed(wiring.recipe):
        if step.step_id in steps:
            wiring.wrong(f"{where}.step_id", f"{step.step_id!r} is used twice")
        if step.output_slot in slots:
            wiring.wrong(f"{where}.output_slot", f"{step.output_slot!r} is used twice")
        if step.output_slot == TASK:
            wiring.wrong(f"{where}.output_slot", "'task' is reserved for the task itself")
        if step.output_slot in RESERVED_NAMES and step.output_slot != TASK:
            wiring.wrong(f"{where}.output_slot", f"{step.output_slot!r} is a reserved name")
        steps.setdefault(step.step_id, where)
        slots.setdefault(step.output_slot, step.step_id)
    for name, where in steps.items():
        owner = slots.get(name)
        if owner is not None and owner != name:
            told = f"{name!r} is also the output slot of step {owner!r}; a reference is ambiguous"
            wiring.wrong(f"{where}.step_id", told)


def _check_flow(wiring: _Wiring) -> None:
    """Check that everything read was made before, and say so when steps wait for each other."""
    recipe = wiring.recipe
    aliases = {step.step_id: step.output_slot for step in recipe.steps}
    made = {step.output_slot for step in recipe.steps}
    known: set[str] = set()
    for where, step in _placed(recipe):
        for at, root in _roots_of(step, where):
            slot = aliases.get(root, root) if isinstance(step, ToolStep) else root
            if slot not in known:
                wiring.wrong(at, _why_not_known(recipe, step, root, slot in made))
        if isinstance(step, ToolStep):
            for ref in step.refs():
                _check_task_ref(wiring, f"{where}.args", ref)
        known.add(step.output_slot)
    for name, each in (*_numbered("commit", recipe.commit), *_numbered("dod", recipe.dod)):
        for ref in each.refs():
            if ref.root != TASK and aliases.get(ref.root, ref.root) not in known:
                wiring.wrong(name, f"nothing makes a slot {ref.root!r}")
            _check_task_ref(wiring, name, ref)


def _check_task_ref(wiring: _Wiring, where: str, ref: Ref) -> None:
    if ref.root != TASK:
        return
    names = [segment.name for segment in ref.segments]
    if len(names) < 2 or names[1] not in _TASK_FIELDS:
        fields = ", ".join(f"task.{name}" for name in _TASK_FIELDS)
        wiring.wrong(where, f"{ref.path!r} names nothing of the task; there are: {fields}")


def _why_not_known(recipe: Recipe, step: RecipeStep, root: str, is_made: bool) -> str:
    if not is_made:
        return f"nothing makes a slot {root!r}"
    ring = _ring(recipe, step)
    if ring:
        return f"the references go in a circle: {' → '.join(ring)}"
    return f"slot {root!r} is made by this step or a later one; a step reads only what came before"


def _ring(recipe: Recipe, start: RecipeStep) -> list[str]:
    """Return the steps of a circle of references through a step, or nothing."""
    owners = {step.output_slot: step for step in recipe.steps}
    owners.update({step.step_id: step for step in recipe.steps})
    trail: list[tuple[RecipeStep, list[str]]] = [(start, [start.step_id])]
    seen: set[str] = set()
    while trail:
        step, path = trail.pop()
        for _, root in _roots_of(step, ""):
            owner = owners.get(root)
            if owner is start:
                return [*path, start.step_id]
            if owner is not None and owner.step_id not in seen:
                seen.add(owner.step_id)
                trail.append((owner, [*path, owner.step_id]))
    return []


def _roots_of(step: RecipeStep, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(step, AgentStep):
        for number, slot in enumerate(step.input_slots):
            yield f"{where}.input_slots[{number}]", slot
        return
    for ref in step.refs():
        if ref.root != TASK:
            yield f"{where}.args", ref.root


def _check_steps(wiring: _Wiring, around: RecipeSurroundings) -> None:
    for where, step in _placed(wiring.recipe):
        if isinstance(step, ToolStep):
            _check_tool(wiring, around, where, step.tool, dict(step.args))
            continue
        if step.agent_archetype not in around.archetypes:
            known = ", ".join(sorted(around.archetypes)) or "none"
            told = f"nobody plays {step.agent_archetype!r}; known roles: {known}"
            wiring.wrong(f"{where}.agent_archetype", told)
        for number, kind in enumerate(step.reads):
            if kind not in around.reads:
                known = ", ".join(around.reads) or "none"
                wiring.wrong(f"{where}.reads[{number}]", f"nobody finds {kind!r}; known: {known}")
        for told in template_problems(step, around.prompts):
            wiring.wrong(f"{where}.prompt_type", told)


def template_problems(
    step: AgentStep, prompts: TemplateRegistry, tiers: Iterable[ModelTier] = tuple(ModelTier)
) -> Iterator[str]:
    """Yield what is wrong with the templates a step may be given in some tiers, each once."""
    told: set[str] = set()
    for tier in tiers:
        try:
            template = prompts.get(step.prompt_type, tier)
            known = (*_slot_names(step), *RESERVED_NAMES)
            found = [str(each) for each in check_placeholders(template, known)]
        except (TemplateNotFound, TemplateInvalid) as error:
            found = [error.message]
        for each in found:
            if each not in told:
                told.add(each)
                yield each


def _slot_names(step: AgentStep) -> Iterator[str]:
    """Yield what a template may place: slots, also as lists, one line, the target."""
    for name in step.input_slots:
        yield name
        yield f"{name}{LINES}"
    # The list of all inputs is the list of the first: the text that the others are about.
    yield from (f"inputs{LINES}", EACH, TARGET, PAGES)


def _check_checks(wiring: _Wiring, around: RecipeSurroundings) -> None:
    for where, check in _numbered("dod", wiring.recipe.dod):
        if check.tool is not None:
            _check_tool(wiring, around, where, check.tool, dict(check.args))


def _check_tool(
    wiring: _Wiring, around: RecipeSurroundings, where: str, name: str, args: dict[str, Json]
) -> None:
    if name not in around.tools:
        known = ", ".join(around.tools.ids) or "none"
        wiring.wrong(f"{where}.tool", f"there is no tool {name!r}; known: {known}")
        return
    tool = around.tools.get(name)
    if tool.effect is not Effect.PURE:
        wiring.wrong(f"{where}.tool", f"{name!r} changes things; a recipe's tools only look")
    fields = tool.args_model.model_fields
    for key in args:
        if key not in fields:
            takes = ", ".join(fields) or "nothing"
            wiring.wrong(
                f"{where}.args.{key}", f"tool {name!r} has no such argument; it takes: {takes}"
            )
    for key, told in fields.items():
        if told.is_required() and key not in args:
            wiring.wrong(f"{where}.args", f"tool {name!r} needs {key!r}")


def _placed(recipe: Recipe) -> Iterator[tuple[str, RecipeStep]]:
    yield from _numbered("phase_a", recipe.phase_a)
    yield from _numbered("phase_b", recipe.phase_b)


def _numbered(name: str, items: Iterable[T]) -> Iterator[tuple[str, T]]:
    for number, each in enumerate(items):
        yield f"{name}[{number}]", each
