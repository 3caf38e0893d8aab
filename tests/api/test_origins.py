"""Pages of others change and read nothing, whichever port of this machine they come from."""

import re

import pytest
from front_door import House

pytestmark = pytest.mark.anyio

ELSEWHERE = (
    "http://127.0.0.1:1",
    "http://localhost:{port}",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1",
    "http://127.0.0.1:{port}.evil.example",
    "http://127.0.0.1:{port}@evil.example",
    "http://127.0.0.1:{port}/",
    "http://[::1]:{port}",
    "http://evil.example",
    "chrome-extension://abcdefgh",
    "file://",
    "null",
    "",
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
STRANGE_HOSTS = (
    "evil.example",
    "evil.com@127.0.0.1",
    "127.0.0.1/evil",
    "127.0.0.1:8321/evil",
    "127.0.0.1:",
    "127.0.0.1:port",
    "127.0.0.1:123456",
    "127.0.0.1#evil",
    "127.0.0.1?evil",
    "127.0.0.1\\evil",
    "localhost.evil.example",
    "localhost evil",
    "[::1",
    "::1",
    "[::1]evil",
    "2130706433",
    "0x7f.1",
    "%31%32%37.0.0.1",
)


async def test_an_origin_is_compared_whole_for_every_method(house: House) -> None:
    async with house.serve() as door:
        for origin in ELSEWHERE:
            told = origin.replace("{port}", str(door.port))
            for method in METHODS:
                answer = await door.client.request(
                    method, "/api/sessions", json={}, headers={"Origin": told}
                )
                assert answer.status_code == 403, (method, told, answer.text)
                assert method == "HEAD" or answer.json()["error"]["code"] == "forbidden"
        assert await door.sessions() == 0
        own = {"Origin": door.address}
        made = await door.client.post("/api/sessions", json={}, headers=own)
        assert made.status_code == 201, made.text
        assert await door.sessions() == 1


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_what_a_browser_says_of_another_site_is_refused(house: House, site: str) -> None:
    """No origin is sent with a plain look at something, yet a page of others would begin it."""
    async with house.serve() as door:
        for mode in ("no-cors", "cors", "navigate"):
            headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
            answer = await door.client.get("/api/sessions", headers=headers)
            assert answer.status_code == 403, (mode, answer.text)
        for own in ("same-origin", "none"):
            looked = await door.client.get("/api/sessions", headers={"Sec-Fetch-Site": own})
            assert looked.status_code == 200


async def test_a_second_origin_does_not_hide_the_first(house: House) -> None:
    async with house.serve() as door:
        for headers in (
            [("Origin", door.address), ("Origin", "http://evil.example")],
            [("Origin", "http://evil.example"), ("Origin", door.address)],
        ):
            answer = await door.client.get("/api/sessions", headers=headers)
            assert answer.status_code == 403


async def test_only_a_plain_host_names_this_machine(house: House) -> None:
    async with house.serve() as door:
        for host in STRANGE_HOSTS:
            async with door.connection() as wire:
                wire.send(f"GET /api/sessions HTTP/1.1\nHost: {host}\nConnection: close\n\n")
                assert await wire.status() in (400, 403), host
        for host in (f"127.0.0.1:{door.port}", "localhost", "LocalHost:80", "[::1]:8321"):
            answer = await door.client.get("/api/sessions", headers={"Host": host})
            assert answer.status_code == 200, host


async def test_a_change_needs_a_header_no_page_can_send_unasked(house: House) -> None:
    async with house.serve() as door:
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            unasked = await door.client.request(
                method, "/api/sessions", json={}, headers={"X-Callboard": ""}
            )
            assert unasked.status_code == 403
            error = unasked.json()["error"]
            assert error["code"] == "header_missing"
            assert "`X-Callboard: 1`" in error["details"]["fix"]
        assert await door.sessions() == 0
        del door.client.headers["X-Callboard"]
        assert (await door.client.get("/api/sessions")).status_code == 200
        # A form, or a beacon, of a page that was opened from a file.
        beacon = await door.client.post("/api/sessions", content="{}")
        assert beacon.status_code == 403


async def test_who_shows_the_token_needs_no_header(house: House) -> None:
    async with house.serve(token="let me in") as door:  # noqa: S106 - of the test
        shown = {"Authorization": "Bearer let me in", "X-Callboard": ""}
        made = await door.client.post("/api/sessions", json={}, headers=shown)
        assert made.status_code == 201
        elsewhere = {**shown, "Origin": "http://127.0.0.1:1"}
        assert (await door.client.get("/api/sessions", headers=elsewhere)).status_code == 403
        for host in ("studio.example", "studio.example:8321"):
            answer = await door.client.get("/api/sessions", headers={**shown, "Host": host})
            assert answer.status_code == 200
        strange = await door.client.get("/api/sessions", headers={**shown, "Host": "a@b.example"})
        assert strange.status_code == 403


async def test_the_description_names_the_header(house: House) -> None:
    async with house.serve() as door:
        described = (await door.client.get("/api/openapi.json")).json()
        changing = [
            (f"{method} {path}", operation)
            for path, item in described["paths"].items()
            for method, operation in item.items()
            if re.fullmatch("post|put|patch|delete", method)
        ]
        assert len(changing) > 90
        for name, operation in changing:
            named = {each["name"]: each for each in operation["parameters"]}
            assert named["X-Callboard"]["required"], name
        reading = described["paths"]["/api/sessions"]["get"]["parameters"]
        assert "X-Callboard" not in {each["name"] for each in reading}
