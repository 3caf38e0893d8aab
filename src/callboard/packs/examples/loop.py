"""A loop: a model picks the next of four steps until it calls the work stable, or a guard does."""

from typing import Any

from callboard.choreography import Stage, choreography

STEPS = ("expand", "tighten", "brighten", "ground")
STABLE = "stable"


@choreography
async def loop(stage: Stage, text: str, most_rounds: int = 4) -> Any:
    """Improve a text step by step; the showrunner chooses each step and when to stop."""
    history: list[str] = []
    for number in range(1, most_rounds + 1):
        offered = [step for step in STEPS if step not in history] + [STABLE]
        chosen = await stage.choose(
            f"round/{number}/next", "showrunner", offered, text=text, taken=", ".join(history)
        )
        if chosen == STABLE:
            break
        reply = await stage.ask(
            f"round/{number}/{chosen}", "writer", prompt="revise", way=chosen, text=text
        )
        text = reply.text
        history.append(chosen)
    return {"text": text, "steps": history, "stable": len(history) < most_rounds}
