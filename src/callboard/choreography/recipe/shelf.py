"""The shelf of recipes: every recipe in force is a choreography, found when it is asked for."""

from collections.abc import Callable, Mapping

from callboard.choreography.recipe.definition import (
    Problem,
    Recipe,
    RecipeLibrary,
    RecipeSurroundings,
    Shelved,
    check_wiring,
    key_of,
)
from callboard.choreography.recipe.proposals import folder_of
from callboard.choreography.recipe.routing import Router
from callboard.choreography.recipe.running.play import RecipeHouse, Turns
from callboard.choreography.recipe.running.runner import play_recipe
from callboard.choreography.recipe.starting import (
    RecipeRequest,
    complete,
    single_flight,
)
from callboard.choreography.recipe.task import Assignment
from callboard.core.canonical import Json
from callboard.core.errors import InvalidInput, NotFound
from callboard.core.vocabulary import RunRecord
from callboard.engine.run import Run
from callboard.store.connection import Connection
from callboard.store.mirror import RunFolder
from callboard.studio.packs import Pack
from callboard.studio.runnable import Choreography, Prepared
from callboard.studio.studio import Studio
from callboard.tools import ProjectFiles


class RecipeShelf:
    """The recipes of one pack in one studio; without a studio, those that come with the pack."""

    def __init__(self, house: RecipeHouse, studio: Studio | None = None) -> None:
        """Open the shelf; nothing is read before it is asked for."""
        self.house = house
        self._studio = studio
        if studio is None:
            self.library = RecipeLibrary(house.recipes, None)
            self.router = Router(self.library)
            self.turns = Turns(lambda: 1)
            return
        self.library = RecipeLibrary(house.recipes, studio.project.recipes, self._judge)
        seeds = house.seeds
        self.router = Router(
            self.library, None if seeds is None else lambda text, each: seeds(studio, text, each)
        )
        self.turns = Turns(lambda: studio.settings.pipeline.max_concurrent_runs)

    @property
    def files(self) -> ProjectFiles | None:
        """The project's files."""
        return None if self._studio is None else self._studio.tools.files

    def names(self) -> tuple[str, ...]:
        """Return the ids of the recipes in force."""
        return tuple(each.recipe.recipe_id for each in self.library.recipes())

    def find(self, name: str) -> Choreography | None:
        """Return a recipe as something that can be run."""
        shelved = self.library.find(name)
        return None if shelved is None else RecipeChoreography(self, name, shelved)

    def resume(self, name: str) -> Choreography | None:
        """Return what goes on with runs of a recipe; they need nothing but their own snapshot."""
        return RecipeChoreography(self, name, None)

    def _judge(self, recipe: Recipe, file: str) -> list[Problem]:
        studio = self._studio
        if studio is None:
            return []
        around = RecipeSurroundings(
            studio.tools.registry,
            studio.repertoire.archetypes,
            studio.prompts(self.house.pack),
            self.house.reads,
        )
        return check_wiring(recipe, file, around)


class RecipeChoreography:
    """One recipe as a choreography."""

    def __init__(self, shelf: RecipeShelf, recipe_id: str, shelved: Shelved | None) -> None:
        """Take the recipe in force; without one, only runs already started can go on."""
        self._shelf = shelf
        self._id = recipe_id
        self._shelved = shelved

    @property
    def summary(self) -> str:
        """What it does, in a few words."""
        return self._shelved.recipe.label if self._shelved is not None else self._id

    @property
    def parameters(self) -> Mapping[str, str]:
        """What a task must say; the words alone may do."""
        needed = self._shelved.recipe.required_args if self._shelved is not None else ()
        return {
            "description": "str, the task in your words; what is missing below is taken from it",
            **dict.fromkeys(needed, "required unless the words give it"),
        }

    async def prepare(self, studio: Studio, raw: Mapping[str, Json]) -> Prepared:
        """Complete and check what a run is to be started with."""
        recipe = self._recipe()
        assignment = await complete(studio, self._shelf.house, recipe, RecipeRequest.read(raw))
        return Prepared(
            assignment.to_args(),
            title=assignment.task.description,
            guard=single_flight(studio, self._name, recipe.label),
        )

    def _recipe(self) -> Recipe:
        """Return the recipe in force; one that was not sound when it was read is judged anew."""
        library = self._shelf.library
        found = library.find(self._id)
        if found is None or found.problems:
            found = library.get(self._id)
        return found.require_sound()

    async def perform(self, studio: Studio, run: Run) -> Json:
        """Execute one run of it."""
        return await play_recipe(studio, run, self._shelf.turns, self._shelf.house)

    def restart_key(self, _studio: Studio, run: RunRecord, from_step: str | None) -> str | None:
        """Return from where a run is begun again: the step named, else the one that failed."""
        recipe = Assignment.from_args(run.args).recipe
        keys = {step.step_id: key_of(step) for step in recipe.steps}
        if from_step is not None:
            known = {
                **keys,
                **{key: key for key in keys.values()},
                "commit": "commit",
                "dod": "dod",
            }
            if from_step not in known:
                raise InvalidInput(
                    f"{recipe.recipe_id} has no step {from_step!r}",
                    fix=f"Its steps: {', '.join(keys)}, commit, dod.",
                    from_step=from_step,
                )
            return known[from_step]
        failed = str(run.error.context.get("step", "")) if run.error is not None else ""
        parts = failed.split("/")
        return "/".join(parts[:1] if parts[0] == "dod" else parts[:2]) or None

    def guard(self, studio: Studio, _run: RunRecord) -> Callable[[Connection], None] | None:
        """Return what objects to a new run while another one is under way."""
        return single_flight(studio, self._name, self._id)

    def folder(self, connection: Connection, run: RunRecord) -> RunFolder:
        """Return what the folder of a run holds."""
        return folder_of(connection, run, self._shelf.files)

    @property
    def _name(self) -> str:
        return f"{self._shelf.house.pack}/{self._id}"


def recipe_shelf(studio: Studio, pack: str) -> RecipeShelf:
    """Return the shelf of recipes that a pack has in a studio."""
    for each in studio.repertoire.packs:
        if each.name == pack and (found := _shelf_of(studio, each)) is not None:
            return found
    raise NotFound(f"Pack {pack!r} brings no recipes", pack=pack)


def _shelf_of(studio: Studio, pack: Pack) -> RecipeShelf | None:
    shelves = studio.repertoire.shelves(pack)
    return next((shelf for shelf in shelves if isinstance(shelf, RecipeShelf)), None)
