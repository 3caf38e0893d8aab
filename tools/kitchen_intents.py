"""Learn what is wanted by a sentence in a kitchen, and say how well that carries over.

    python tools/kitchen_intents.py learn [FILE ...] writes the weights the pack ships
    python tools/kitchen_intents.py check [FILE ...] cross-validates; scores files of trials

The sentences are `kitchen_intents.yaml`. A softmax over words and pairs of words, by gradient
descent in a fixed order: the same sentences give the same weights.
"""

import itertools
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from callboard.packs.alfred.kitchen import hearing
from callboard.packs.alfred.kitchen.hearing.intents import Guess, features, rank

SENTENCES = Path(__file__).with_name("kitchen_intents.yaml")
WEIGHTS = Path(hearing.__file__).with_name("intents.json")
ROUNDS = 30
RATE = 0.3
DECAY = 2e-4
SCALE = 100
FOLDS = 10
Labelled = tuple[str, list[str], float]


def expand(line: str) -> list[str]:
    """Return every way to read a line."""
    parts = re.split(r"\(([^()]*)\)", line)
    choices = [each.split("|") if at % 2 else [each] for at, each in enumerate(parts)]
    return [re.sub(r"\s+", " ", "".join(way)).strip() for way in itertools.product(*choices)]


def read_sentences(files: Sequence[Path] = ()) -> list[list[Labelled]]:
    """Return the sentences with their features, those of one line together; and those of trials."""
    cases = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    lines: list[list[Labelled]] = [[(c["expect"], features(c["message"]), 1.0)] for c in cases]
    for intent, block in yaml.safe_load(SENTENCES.read_text()).items():
        for line in block.splitlines():
            ways = expand(line)
            share = max(1 / len(ways), 0.25)
            lines.append([(intent, features(way), share) for way in ways])
    return lines


def learn(lines: Sequence[Sequence[Labelled]], intents: Sequence[str]) -> dict[str, list[float]]:
    """Return the weights of every feature for every intent."""
    cases = [case for line in lines for case in line]
    weights: dict[str, list[float]] = {}
    order = random.Random(7)  # noqa: S311
    for turn in range(ROUNDS):
        order.shuffle(cases)
        rate = RATE / (1 + turn / 5)
        for intent, found, share in cases:
            guess = dict(rank(found, weights, intents).ranked)
            steps = [rate * share * ((each == intent) - guess[each]) for each in intents]
            for name in found:
                row = weights.setdefault(name, [0.0] * len(intents))
                for at, step in enumerate(steps):
                    row[at] += step - rate * share * DECAY * row[at]
    return weights


def compact(weights: Mapping[str, Sequence[float]]) -> dict[str, list[int]]:
    """Return the weights as whole numbers, without those that weigh next to nothing."""
    rounded = {name: [round(each * SCALE) for each in row] for name, row in weights.items()}
    return {name: row for name, row in sorted(rounded.items()) if max(map(abs, row)) >= 3}


def check(files: Sequence[Path]) -> None:
    """Print how often the likeliest intent is the meant one, by how sure it is."""
    lines = read_sentences()
    intents = sorted({line[0][0] for line in lines})
    random.Random(3).shuffle(lines)  # noqa: S311
    told: list[tuple[str, Guess]] = []
    for fold in range(FOLDS):
        kept = [line for at, line in enumerate(lines) if at % FOLDS != fold]
        weights = learn(kept, intents)
        for line in lines[fold::FOLDS]:
            told += [(intent, rank(found, weights, intents)) for intent, found, _ in line[:1]]
    print_score(f"own sentences, {FOLDS} folds", told)
    weights = learn(lines, intents)
    for file in files:
        cases = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
        guesses = [(c["expect"], rank(features(c["message"]), weights, intents)) for c in cases]
        print_score(str(file), guesses)
        if "--show" in sys.argv:
            for case, (meant, guess) in zip(cases, guesses, strict=True):
                if meant != guess.intent:
                    ranked = ", ".join(f"{n} {p:.2f}" for n, p in guess.ranked[:3])
                    print(f"  {meant:15} {case['message'][:70]!r}: {ranked}")


def print_score(name: str, told: Sequence[tuple[str, Guess]]) -> None:
    """Print how many are right, over all and from some certainties on."""
    print(f"{name}: {len(told)} sentences")
    for least in (0.0, 0.4, 0.6, 0.8):
        sure = [(meant, guess.intent) for meant, guess in told if guess.certainty >= least]
        right = sum(meant == said for meant, said in sure)
        print(
            f"  from {least:.1f}: {len(sure):4} told, {right / max(len(sure), 1):.1%} of them right"
        )
    missed = Counter(f"{m} as {g.intent}" for m, g in told if m != g.intent)
    print("  most often missed:", ", ".join(f"{n} {c}" for n, c in missed.most_common(8)))


def main() -> None:
    """Read the command line."""
    if sys.argv[1] == "check":
        check([Path(each) for each in sys.argv[2:] if not each.startswith("--")])
        return
    lines = read_sentences([Path(each) for each in sys.argv[2:]])
    intents = sorted({line[0][0] for line in lines})
    weights = compact(learn(lines, intents))
    rows = [
        f"{json.dumps(name)}:{json.dumps(row, separators=(',', ':'))}"
        for name, row in weights.items()
    ]
    WEIGHTS.write_text(
        f'{{"intents":{json.dumps(intents)},\n"features":{{\n' + ",\n".join(rows) + "\n}}\n"
    )
    print(f"{len(lines)} lines, {len(weights)} features, {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
