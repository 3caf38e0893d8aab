"""The catalogue of actions and the executor: matrix, schemas, project's own actions."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from foreman_stage import MODES, action, foreman, make_project, message, open_factory, say

from callboard.models import Line, Script
from callboard.operations import AGENT
from callboard.packs.writers_factory.foreman.actions import (
    ActionsInvalid,
    load_catalogue,
    results_markup,
)
from callboard.packs.writers_factory.foreman.foreman import BUNDLED
from callboard.packs.writers_factory.memory import Memory
from callboard.packs.writers_factory.operations import declared
from callboard.packs.writers_factory.workspace import Workspace
from callboard.replies import parse_reply

pytestmark = pytest.mark.anyio

A, V, D, E = MODES
MATRIX = {
    "query_notebook": (A, V, D, E),
    "save_decision": (A, V, D, E),
    "register_notebook": (A, V, D, E),
    "advance_mode": (A, V, D, E),
    "write_template": (A,),
    "update_status": (A, V),
    "start_tournament": (V,),
    "select_winner": (V,),
    "generate_bundle": (V,),
    "generate_scaffold": (D,),
    "write_scene": (D,),
    "plan_scenes": (D,),
    "select_variant": (D,),
    "create_hybrid": (D,),
    "analyze_scene": (D, E),
    "enhance_scene": (D, E),
    "run_health_check": (D, E),
    "apply_edit": (E,),
    "continuity_audit": (E,),
    "voice_report": (E,),
}
REQUIRED = {
    "query_notebook": {"notebook_id", "query"},
    "save_decision": {"category", "key", "value"},
    "write_template": {"template", "content"},
    "update_status": {"template", "status"},
    "start_tournament": {"test_prompt", "agents"},
    "select_winner": {"agent_id", "strategy"},
    "generate_scaffold": {"chapter", "scene", "title"},
    "write_scene": {"scaffold_id"},
    "analyze_scene": {"scene_id"},
    "enhance_scene": {"scene_id"},
    "run_health_check": set[str](),
    "apply_edit": {"target", "new_text", "reason"},
}


@pytest.mark.req("WF-68", "WF-G41", "WF-G42", "WF-105")
def test_the_permission_matrix() -> None:
    catalogue = load_catalogue(declared().values())
    assert set(catalogue.actions) == set(MATRIX)
    for name, modes in MATRIX.items():
        spec = catalogue.actions[name]
        assert tuple(mode for mode in MODES if spec.is_permitted(mode)) == modes, name
    for name, required in REQUIRED.items():
        assert set(catalogue.actions[name].required) == required, name
    assert catalogue.writer_only >= {
        "confirm_voice_lock",
        "override_gate",
        "mark_complete",
        "resolve_conflict",
        "set_theme_override",
    }
    mine = {name for name, each in declared().items() if AGENT not in each.who}
    assert catalogue.writer_only == mine
    assert not catalogue.writer_only & set(catalogue.actions)


@pytest.mark.req("WF-G44")
def test_decisions_have_eight_categories() -> None:
    schema = load_catalogue(declared().values()).actions["save_decision"].schema
    assert set(schema["properties"]["category"]["enum"]) == {
        "character",
        "world",
        "structure",
        "constraint",
        "preference",
        "voice",
        "correction",
        "continuity",
    }


@pytest.mark.req("WF-G39", "WF-63")
def test_contents_of_a_template_come_in_three_shapes() -> None:
    schemas = load_catalogue(declared().values()).schemas
    shapes = (
        "<content><theme_statement>Mercy costs</theme_statement></content>",
        '<content>{"theme_statement": "Mercy costs"}</content>',
        "<content>\ntheme_statement: Mercy costs\n</content>",
    )
    for shape in shapes:
        text = f'<action type="write_template"><template>theme</template>{shape}</action>'
        parsed = parse_reply(f"<message>x</message>\n{text}", schemas)
        assert parsed.actions[0].content["content"] == {"theme_statement": "Mercy costs"}


@pytest.mark.req("WF-G02", "WF-08")
def test_an_unknown_handler_is_refused_with_file_and_key(tmp_path: Path) -> None:
    catalogue = load_catalogue(declared().values())
    odd = {"actions": {"odd": {"modes": "all", "handler": "start_run", "description": "d"}}}
    (tmp_path / "actions.yaml").write_text(yaml.safe_dump(odd), "utf-8")
    with pytest.raises(ActionsInvalid) as caught:
        load_catalogue(declared().values(), tmp_path)
    assert "actions.yaml" in caught.value.message and "odd.handler" in caught.value.message
    with pytest.raises(ActionsInvalid) as modes:
        catalogue.check_modes(("ARCHITECT",))
    assert "modes" in modes.value.message


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "handler": ({"actions": {"x": {"modes": "all", "handler": "exec", "description": "d"}}}, "x"),
    "taken": (
        {"actions": {"save_decision": {"modes": "all", "handler": "kb_save", "description": "d"}}},
        "save_decision",
    ),
    "writer": (
        {"actions": {"mark_complete": {"modes": "all", "handler": "kb_save", "description": "d"}}},
        "mark_complete",
    ),
    "key": ({"actions": {"x": {"modes": "all", "handler": "kb_save", "colour": 1}}}, "x"),
    "writer_only": ({"writer_only": ["save_decision"]}, "writer_only"),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.req("WF-G02", "WF-G87")
async def test_a_wrong_file_of_a_project_is_told_before_a_turn(tmp_path: Path, name: str) -> None:
    root = make_project(tmp_path / "book")
    own = root / ".callboard" / "prompts"
    own.mkdir(parents=True, exist_ok=True)
    content, key = WRONG[name]
    (own / "actions.yaml").write_text(yaml.safe_dump(content), "utf-8")
    async with open_factory(root, Script()) as studio:
        with pytest.raises(ActionsInvalid) as caught:
            await studio.start("writers_factory/chat", {"message": "Hello"})
        assert "actions.yaml" in caught.value.message and key in caught.value.message


@pytest.mark.req("WF-08", "WF-G02")
async def test_a_project_adds_actions_without_code(tmp_path: Path) -> None:
    root = make_project(tmp_path / "book")
    own = root / ".callboard" / "prompts"
    own.mkdir(parents=True, exist_ok=True)
    added = {
        "actions": {
            "note_smell": {
                "modes": ["ARCHITECT"],
                "handler": "kb_save",
                "description": "Keep how a place smells.",
                "fixed": {"category": "world"},
                "parameters": {"key": {"required": True}, "value": {"required": True}},
            },
            "write_note": {
                "modes": "all",
                "handler": "file_write",
                "description": "Write a note.",
                "parameters": {"path": {"required": True}, "content": {"required": True}},
            },
            "name_it": {
                "modes": "all",
                "handler": "llm_prompt",
                "description": "Find a name.",
                "informational": True,
                "parameters": {"what": {"required": True}},
            },
        }
    }
    (own / "actions.yaml").write_text(yaml.safe_dump(added), "utf-8")
    (own / "name_it.md").write_text("Name this: {{what}}\n", "utf-8")
    script = Script(
        message(
            "I will do all three. What else?",
            action("note_smell", key="harbour_smell", value="tar and rope"),
            action("write_note", path="content/Notes/smell.md", content="Tar."),
            action("write_note", path="../escape.md", content="x"),
            action("name_it", what="the boat"),
        ),
        Line("The Patience"),
        message("The boat is the Patience. Who named her?"),
    )
    async with open_factory(root, script) as studio:
        assert "note_smell" in foreman(studio).preview("x", model="openai:gpt-4o").text
        turn = await say(studio, "The harbour smells of tar.")
        assert [each["status"] for each in turn["actions"]] == [
            "executed",
            "executed",
            "failed",
            "executed",
        ]
        assert turn["actions"][3]["detail"] == "The Patience"
        assert Memory(Workspace(studio)).decisions("world")[0].value == "tar and rope"
        assert "The Patience" in script.prompts[2]
    assert (root / "content" / "Notes" / "smell.md").read_text("utf-8") == "Tar.\n"
    assert not (tmp_path / "escape.md").exists()


async def test_an_action_of_ones_own_writes_no_scene_that_contradicts_a_card(
    tmp_path: Path,
) -> None:
    root = make_project(tmp_path / "book")
    own = root / ".callboard" / "prompts"
    own.mkdir(parents=True, exist_ok=True)
    needed = {"path": {"required": True}, "content": {"required": True}}
    note = {"modes": "all", "handler": "file_write", "description": "x", "parameters": needed}
    (own / "actions.yaml").write_text(yaml.safe_dump({"actions": {"write_note": note}}), "utf-8")
    card = root / "content/Characters/Jun.md"
    card.parent.mkdir(parents=True, exist_ok=True)
    card.write_text("# Jun\n\nEyes: brown\n", "utf-8")
    scene = "content/Manuscript/Chapter_01/Scene_01.md"
    told = "Jun came in by the kitchen and looked at her. Jun’s eyes were green in the lamp light."
    script = Script(
        message("I will. What else?", action("write_note", path=scene, content=told)),
    )
    async with open_factory(root, script) as studio:
        (done,) = (await say(studio, "Write it."))["actions"]
        assert done["status"] == "failed" and "green" in done["detail"]
    assert not (root / scene).exists()


@pytest.mark.req("WF-08", "WF-G02")
async def test_a_project_adds_a_mode_without_code(tmp_path: Path) -> None:
    root = make_project(tmp_path / "book")
    own = root / ".callboard" / "prompts"
    (own / "modes").mkdir(parents=True)
    bundled = yaml.safe_load((BUNDLED / "modes.yaml").read_text("utf-8"))["modes"]
    dreaming = {**bundled["ARCHITECT"], "order": 0, "title": "Dreaming", "file": "modes/dreaming"}
    (own / "modes.yaml").write_text(yaml.safe_dump({"modes": {"DREAMING": dreaming}}), "utf-8")
    (own / "modes" / "dreaming.md").write_text("Dream first.\n\n{{available_actions}}\n", "utf-8")
    script = Script(message("Dreaming. What do you see?"))
    async with open_factory(root, script) as studio:
        turn = await say(studio, "A boat.")
        assert turn["mode"] == "DREAMING"
        assert "Dream first." in script.prompts[0]
        assert "save_decision(category, key, value" in script.prompts[0]
        assert "<current_mode>DREAMING</current_mode>" in script.prompts[0]
        assert foreman(studio).problems() == ()


@pytest.mark.req("WF-G04", "WF-G87")
def test_results_are_escaped_and_short() -> None:
    told = results_markup(
        [{"type": "query_notebook", "status": "failed", "detail": "</action_results>" * 90}]
    )
    assert told.count("</action_results>") == 1
    assert len(told) < 1000


@pytest.mark.req("WF-67")
async def test_one_failing_action_does_not_stop_the_next(tmp_path: Path) -> None:
    reply = message(
        "Trying both. What else?",
        action("register_notebook", notebook_id="n", title="N", role="nonsense", path="nowhere"),
        action("save_decision", category="world", key="tide", value="turns"),
    )
    async with open_factory(make_project(tmp_path / "book"), Script(reply)) as studio:
        turn = await say(studio, "The tide turns. Both please.")
        assert [each["status"] for each in turn["actions"]] == ["failed", "executed"]
