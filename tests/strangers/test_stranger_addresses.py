"""A key goes to its provider, or to an address the user tied it to. A clone names neither."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from clone import Clone

KEY = "tok-4f9a1c77e2b84d0c9e51"
VARIABLE = "HARBOUR_TOKEN"


class Listener(ThreadingHTTPServer):
    """Writes down everything it is sent; answers nothing of use, or sends callers elsewhere."""

    def __init__(self, elsewhere: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.heard: list[str] = []
        self.elsewhere = elsewhere

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        self.server.heard.append(f"{self.path}\n{self.headers}\n{body}")
        self.send_response(307 if self.server.elsewhere else 401)
        if self.server.elsewhere:
            self.send_header("location", self.server.elsewhere + self.path.removeprefix("/v1"))
        self.send_header("content-length", "0")
        self.end_headers()

    do_GET = do_POST  # noqa: N815 - the name the library looks for

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def providers(**settings: dict[str, str]) -> str:
    first = next(iter(settings))
    return json.dumps({"models": {"default": f"{first}:m", "providers": settings}})


@pytest.mark.parametrize(
    ("name", "more"),
    [("harbour", {"api_key_env": VARIABLE}), ("harbour", {}), ("openai", {}), ("anthropic", {}),
     ("openai", {"api_key_env": VARIABLE}), ("ollama", {"api_key_env": VARIABLE})],
)  # fmt: skip
@pytest.mark.parametrize("place", [".callboard/config.yaml", ".callboard/local/config.yaml"])
def test_a_clone_sends_nothing_anywhere(
    clone: Clone, listener: Listener, name: str, more: dict[str, str], place: str
) -> None:
    clone.ship(place, providers(**{name: {"base_url": listener.url, **more}}))
    keys = {VARIABLE: KEY, "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    if place == ".callboard/config.yaml":
        # Without the address the provider's own would be asked: nobody has a key for it here.
        keys = {VARIABLE: KEY}
    told = clone.chat(**keys)
    assert told.code != 0
    assert listener.heard == []
    assert KEY not in told.all
    if "local" in place:
        assert "callboard auth tie" in told.err and listener.url in told.err


def test_half_of_a_pair_from_the_clone_is_not_enough(clone: Clone, listener: Listener) -> None:
    """The user names the address and the clone the variable, or the other way round."""
    clone.own(providers(harbour={"base_url": listener.url}))
    clone.ship(".callboard/local/config.yaml", providers(harbour={"api_key_env": VARIABLE}))
    assert "auth tie harbour" in clone.chat(**{VARIABLE: KEY}).err
    clone.own(providers(harbour={"api_key_env": VARIABLE}))
    clone.ship(".callboard/local/config.yaml", providers(harbour={"base_url": listener.url}))
    assert "auth tie harbour" in clone.chat(**{VARIABLE: KEY}).err
    assert listener.heard == []


def test_a_usual_key_goes_to_another_address_only_when_paired(
    clone: Clone, listener: Listener
) -> None:
    clone.own(providers(openai={"base_url": listener.url}))
    refused = clone.chat(OPENAI_API_KEY=KEY)
    assert refused.code != 0 and listener.heard == []
    assert "openai" in refused.err and listener.url in refused.err
    clone.own(providers(openai={"base_url": listener.url, "api_key_env": "OPENAI_API_KEY"}))
    clone.chat(OPENAI_API_KEY=KEY)
    assert KEY in listener.heard[0]


def test_a_tie_lets_a_key_go_to_one_address_and_no_other(clone: Clone, listener: Listener) -> None:
    local = {"harbour": {"base_url": listener.url, "api_key_env": VARIABLE}}
    clone.ship(".callboard/local/config.yaml", providers(**local))
    wrong = ("http://127.0.0.1:9", listener.url.replace("http:", "https:"),
             listener.url.replace("127.0.0.1", "localhost"))  # fmt: skip
    for url in wrong:
        assert clone.call("auth", "tie", "harbour", "--url", url, "--env", VARIABLE).code == 0
    assert clone.call("auth", "tie", "harbour", "--url", listener.url).code == 0
    assert clone.chat(**{VARIABLE: KEY}).code != 0
    assert listener.heard == []
    tied = clone.call("auth", "tie", "harbour", "--url", listener.url, "--env", VARIABLE)
    assert tied.code == 0, tied.err
    clone.chat(**{VARIABLE: KEY})
    assert KEY in listener.heard[0]
    assert clone.call("auth", "untie", "harbour").code == 0
    count = len(listener.heard)
    clone.chat(**{VARIABLE: KEY})
    assert len(listener.heard) == count


def test_a_key_that_is_stored_is_not_tried_out_at_a_clones_address(
    clone: Clone, listener: Listener
) -> None:
    clone.ship(".callboard/local/config.yaml", providers(openai={"base_url": listener.url}))
    told = clone.call("auth", "openai", "--api-key", KEY)
    assert told.code != 0 and "auth tie openai" in told.err
    assert listener.heard == []


@pytest.mark.parametrize("name", ["harbour", "anthropic", "google-gla", "mistral", "groq"])
def test_a_redirect_takes_neither_key_nor_prompt_along(
    clone: Clone, listener: Listener, name: str
) -> None:
    with Listener(listener.url) as front:
        threading.Thread(target=front.serve_forever, daemon=True).start()
        clone.own(providers(**{name: {"base_url": front.url, "api_key_env": VARIABLE}}))
        assert clone.chat(**{VARIABLE: KEY}).code != 0
        front.shutdown()
        assert KEY in front.heard[0]
    assert listener.heard == []


@pytest.mark.parametrize("place", ["own", ".callboard/local/config.yaml", ".callboard/config.yaml"])
def test_a_password_in_an_address_is_never_shown(clone: Clone, place: str) -> None:
    text = providers(harbour={"base_url": "https://ines:hunter2-tide@models.example.org/v1"})
    if place == "own":
        clone.own(text)
    else:
        clone.ship(place, text)
    for words in (("config", "show"), ("config", "show", "--json"), ("doctor",),
                  ("doctor", "--json"), ("run", "examples/recipe"),
                  ("run", "examples/recipe", "--json"), ("models", "list"), ("auth", "status"),
                  ("auth", "tie", "harbour", "--url", "https://ines:hunter2-tide@x.org"),
                  ("models", "test", "harbour:m")):  # fmt: skip
        told = clone.call(*words)
        assert "hunter2-tide" not in told.all, words
    for file in clone.root.rglob("*"):
        is_config = file.name == "config.yaml"
        assert is_config or not file.is_file() or b"hunter2-tide" not in file.read_bytes()
