"""A process that asks the shared circuit for leave, once, when it is told to.

Arguments: database file, resource, cooldown in seconds. Protocol on stdin and stdout: prints
`ready`, waits for a line, prints `probe`, `pass` or `refused`, waits for a line (`ok` or `bad`),
reports it and prints the state of the circuit.
"""

import asyncio
import sys
from pathlib import Path

from callboard.core.breaker import BreakerOutcome, Permit
from callboard.core.settings.circuit import BreakerRules
from callboard.models.traffic.shared_breakers import SharedBreakers
from stores import open_store


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def work(path: Path, resource: str, cooldown_seconds: float) -> None:
    database = open_store(path)
    rules = {
        "llm": BreakerRules(
            consecutive_failures=3,
            failure_rate=0.5,
            window_size=10,
            cooldown_seconds=cooldown_seconds,
            success_threshold=1,
        )
    }
    breakers = SharedBreakers(database, rules)
    say("ready")
    for order in iter(sys.stdin.readline, ""):
        permit = await breakers.admit(resource)
        if isinstance(permit, Permit):
            say("probe" if permit.is_probe else "pass")
        else:
            say("refused")
        outcome = sys.stdin.readline().strip()
        if isinstance(permit, Permit):
            await breakers.report(
                resource,
                permit,
                BreakerOutcome.SUCCEEDED if outcome == "ok" else BreakerOutcome.FAILED,
            )
            # A healthy result is not waited for; an empty write comes after it.
            await database.write(lambda _connection: None)
            await asyncio.sleep(0)
        say(f"{order.strip()}:{breakers.breaker(resource).state}")
    database.close()


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])))
