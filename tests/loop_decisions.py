"""What a model that has nothing against it decides about a loop."""

import json
import re


def decide_as_usual(kind: str, prompt: str) -> str:
    """Return the reply that lets a loop go on as its playbook says."""
    if kind == "next":
        found = re.findall(r"The playbook would take: (\S+)\.", prompt)
        return json.dumps({"step": found[-1], "reason": "as usual"})
    if kind == "next_loop":
        return json.dumps({"suggested_loop": "hook_harvest", "reasoning": ["as usual"]})
    if kind == "stable":
        return json.dumps({"goal_achieved": True})
    if kind == "join":
        return json.dumps({"approved": True, "reason": "it helps"})
    found = re.findall(r"Steps its verdict rests on: (\w+)", prompt)
    return json.dumps({"action": "revise", "target_step": found[-1]})
