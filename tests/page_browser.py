"""The browser that tests of pages look through."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start the system's own Chromium; where it must be there, its absence is a failure."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        told = "The tests of pages need a browser: apt-get install chromium"
        (pytest.fail if os.environ.get("BROWSER_TESTS") == "required" else pytest.skip)(told)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()
