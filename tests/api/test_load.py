"""Many clients on kept connections: every request is answered, and what was made is there."""

import pytest
from front_door import House
from load import REQUESTS, load

from sizes import size

pytestmark = [pytest.mark.anyio, pytest.mark.chaos]

CLIENTS, EACH = size((40, 6), (200, 60))


async def test_no_request_of_a_crowd_is_cut_off(house: House) -> None:
    async with house.serve() as door:
        tally = await load(door.port, clients=CLIENTS, seconds=3600, requests=EACH)
        assert tally.resets == []
        assert sum(tally.statuses.values()) == CLIENTS * EACH
        assert set(tally.statuses) <= {200, 201}
        assert tally.made > 0 and len(REQUESTS) > 1
        listed = await door.client.get("/api/sessions", params={"limit": 1})
        assert int(listed.headers["x-total-count"]) == tally.made
