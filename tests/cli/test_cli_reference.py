"""The page about the command line is what the command line says."""

import re
import subprocess
from pathlib import Path

import pytest
from clitools import Here, staff_replies

from callboard.cli import exits
from callboard.cli.table import names
from warm_process import run_warm

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cli.md"
TOOL = ROOT / "tools" / "cli_reference.py"


def check(page: Path) -> subprocess.CompletedProcess[str]:
    return run_warm(TOOL, "--check", "--page", str(page), cwd=ROOT)


def test_the_reference_is_up_to_date() -> None:
    result = check(PAGE)
    assert result.returncode == 0, result.stdout
    page = PAGE.read_text(encoding="utf-8")
    for name in names():
        assert f"\n### callboard {name}\n" in page


def test_a_page_that_lacks_an_option_is_found(tmp_path: Path) -> None:
    stale = tmp_path / "cli.md"
    text = PAGE.read_text(encoding="utf-8")
    stale.write_text(text.replace("--args-json FILE", "--args FILE"), encoding="utf-8")
    result = check(stale)
    assert result.returncode == 1
    assert "cli.md is out of date" in result.stdout


def test_every_command_takes_the_project_and_json() -> None:
    page = PAGE.read_text(encoding="utf-8")
    helps = re.findall(r"#### callboard (.*)\n|### callboard (.*)\n", page)
    names = [member or name for member, name in helps]
    groups = {name.rpartition(" ")[0] for name in names}
    single = [name for name in names if name not in groups]
    assert len(single) > 25
    for name in single:
        text = page.split(f"# callboard {name}\n")[1].split("```")[1]
        # These make a project of their own.
        assert "--project FOLDER" in text or name in ("quest demo", "quest restore"), name
        assert "--json" in text, name


def test_the_commands_of_the_first_minute_work(
    here: Here, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line is played as written, with a script in the place of the embedded model."""
    import shlex

    page = PAGE.read_text(encoding="utf-8")
    block = page.split("```console\n")[1].split("```")[0]
    lines = [shlex.split(line[2:], comments=True) for line in block.splitlines()]
    assert len(lines) == 9
    (project / "staff.json").write_text(staff_replies())
    script = ["--model", f"script:{project}/staff.json"]
    for words in lines:
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
            settings = Path(".callboard/config.yaml")
            settings.write_text("models: {default: 'openai:gpt-4o'}\n")
            continue
        takes_model = words[1] in ("demo", "run") or words[1:3] == ["runs", "fork"]
        ended = here(*words[1:], *(script if takes_model else []))
        assert ended.code == 0, (words, ended.err)


def test_the_minute_of_the_readme_works(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line is played as written, with a script in the place of the embedded model."""
    import json
    import shlex

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = readme.split("## One minute of use")[1].split("```\n")[1]
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    assert len(lines) == 12
    staff = json.loads(staff_replies())["replies"]
    task = {"id": 1, "description": "Draft scene 5", "deps": []}
    staff.append({"prompt_type": "decompose", "json": {"tasks": [task]}, "times": "always"})
    cited = "I would not.\n\nEvidence: scope: looked at all scenes"
    staff.append({"text": cited, "times": "always"})
    (tmp_path / "staff.json").write_text(json.dumps({"replies": staff}))
    monkeypatch.setenv("CALLBOARD_MODELS_DEFAULT", f"script:{tmp_path}/staff.json")
    monkeypatch.chdir(tmp_path)
    for words in lines:
        if words[0] == "cd":
            monkeypatch.chdir(words[1])
            continue
        ended = here(*words[1:])
        # One sentence is no scene: the words are kept, and the fork says that it is not done.
        is_fork = words[1:3] == ["runs", "fork"]
        assert ended.code == (exits.FAILED if is_fork else exits.OK), (words, ended.err)
        assert not is_fork or "Not done: " in ended.err, ended.err[-900:]
