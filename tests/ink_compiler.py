"""The compiler and player of Ink that is not ours, asked for all that a story may say.

It is the package inkjs, run by node. `INKJS` names a folder below which npm has put it; without it
the tests hold what was written down before.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

# A story that turns in a ring without a choice never ends; it is given up after a while.
_PROGRAM = """
const {Compiler} = require('inkjs/full');
const {Story} = require('inkjs');
const plain = text => text.split(/\\s+/).filter(Boolean).join(' ');
function seen(story) {
  let text = '';
  for (let turns = 0; story.canContinue; turns += 1) {
    story.ContinueAsync(500);
    if (!story.asyncContinueComplete || turns > 500) { throw new Error('endless'); }
    text += story.currentText;
  }
  return [plain(text), story.currentChoices.map(each => plain(each.text))];
}
function told(source, most, depth) {
  const quiet = {errorHandler: () => {}, countAllVisits: true, pluginNames: []};
  const story = new Story(new Compiler(source, quiet).Compile().ToJson());
  story.onError = () => {};
  const found = [];
  const walk = moves => {
    if (found.length >= most) { return; }
    story.ResetState();
    let last = seen(story);
    for (const move of moves) { story.ChooseChoiceIndex(move); last = seen(story); }
    found.push([moves, ...last]);
    if (moves.length < depth) { last[1].forEach((_, at) => walk([...moves, at])); }
  };
  walk([]);
  return found;
}
require('readline').createInterface({input: process.stdin}).on('line', line => {
  let answer;
  try { answer = told(...JSON.parse(line)); } catch (error) { answer = String(error.message); }
  process.stdout.write(JSON.stringify(answer) + '\\n');
});
"""
MOST_SIGHTS, MOST_MOVES = 60, 6


class InkJs:
    """A process that plays stories."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        """Take the process."""
        self.process = process

    def sights(self, source: str) -> list[Any] | str:
        """Return the moves, the words after them and the labels then offered; or what is wrong."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([source, MOST_SIGHTS, MOST_MOVES]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@contextmanager
def open_inkjs() -> Iterator[InkJs]:
    """Start it; where it is not there, the test is passed over."""
    folder, node = os.environ.get("INKJS", ""), shutil.which("node")
    if not node or not (Path(folder) / "node_modules" / "inkjs").is_dir():
        pytest.skip("Needs node, and INKJS naming a folder: npm install --prefix FOLDER inkjs")
    with subprocess.Popen(
        [node, "-e", _PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder
    ) as process:
        yield InkJs(process)
        process.kill()
