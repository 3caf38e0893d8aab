"""litellm's Router, in an environment of its own: it needs an openai package older than ours.

Run as a script there. For each line on standard input (how many calls) it prints one line of
JSON: the median milliseconds of a call through the Router, and of the same call without it. The
provider is litellm's own `mock_response`: an answer from memory, no socket, no wait.
"""

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

MODEL = "openai/gpt-4o"
MESSAGES = [{"role": "user", "content": "Who has the key?"}]
REPLY = "The lighthouse keeper."


async def median_ms(call: Callable[[], Awaitable[object]], times: int) -> float:
    took: list[float] = []
    for _ in range(times):
        started = time.perf_counter()
        await call()
        took.append((time.perf_counter() - started) * 1000)
    return statistics.median(took)


async def main() -> None:
    # Before the import, which would ask the network for prices.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    known = {"model": MODEL, "api_key": "none", "mock_response": REPLY}
    router = litellm.Router(model_list=[{"model_name": "m", "litellm_params": known}])
    for line in sys.stdin:
        times = int(line)
        told = {
            "router_ms": await median_ms(
                lambda: router.acompletion(model="m", messages=MESSAGES), times
            ),
            "bare_ms": await median_ms(
                lambda: litellm.acompletion(messages=MESSAGES, **known), times
            ),
        }
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
