"""The site on a server of its own, and a browser that reports what goes wrong on a page."""
import functools
import http.server
import os
import subprocess
import threading
from pathlib import Path
from typing import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("SITE", ROOT / ".build/site/public"))
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}
# For what appears in tenths of a second on a quiet machine.
MILLISECONDS = 20_000
expect.set_options(timeout=MILLISECONDS)


def tshark(path: Path, *fields: str) -> list[list[str]]:
    """The fields of each packet of a capture, as tshark decodes it."""
    options = [option for field in fields for option in ("-e", field)]
    done = subprocess.run(["tshark", "-n", "-r", path, "-T", "fields", *options], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass


class Server:
    def __init__(self, folder: Path) -> None:
        handler = functools.partial(Handler, directory=folder)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Visitor:
    """A window of the browser. It collects errors on the console, failed requests, and requests to other hosts."""

    def __init__(self, browser: Browser, address: str, size: dict[str, int], scheme: str) -> None:
        self.address = address
        self.context: BrowserContext = browser.new_context(
            viewport=size, color_scheme=scheme, base_url=address, reduced_motion="reduce")
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(MILLISECONDS)
        self.faults: list[str] = []
        self.page.on("console", lambda each: self.note(f"console: {each.text}") if each.type == "error" else None)
        self.page.on("pageerror", lambda error: self.note(f"script: {error}"))
        # The browser itself aborts what it is loading when the test opens the next page. A missing file is a response.
        self.page.on("requestfailed", lambda each: None if each.failure == "net::ERR_ABORTED"
                     else self.note(f"no answer: {each.url} {each.failure}"))
        self.page.on("response", lambda each: self.note(f"{each.status}: {each.url}") if each.status >= 400 else None)
        self.page.on("request", lambda each: None if each.url.startswith((address, "data:"))
                     else self.note(f"another host: {each.url}"))

    def note(self, text: str) -> None:
        self.faults.append(f"{self.page.url}: {text}")

    def open(self, path: str) -> Page:
        """Loads a page and waits until the renderer has drawn it."""
        self.page.goto(path)
        self.page.wait_for_selector("h1, .title")
        return self.page


@pytest.fixture(scope="session")
def site() -> Path:
    assert (SITE / "documentation").is_dir(), f"{SITE} is missing; run Site/build"
    return SITE


@pytest.fixture(scope="session")
def assets() -> Iterator[str]:
    """The address of the page's files, without a program behind them."""
    server = Server(ROOT / "Sources/Tools/Page/Assets")
    yield server.address
    server.close()


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[Server]:
    server = Server(site)
    yield server
    server.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Chromium has no sandbox when it runs as root, as in a container.
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, server: Server) -> Iterator:
    """Opens windows, and fails the test if anything went wrong in one of them."""
    visitors: list[Visitor] = []

    def new(size: dict[str, int] = DESKTOP, scheme: str = "light", address: str = "") -> Visitor:
        visitors.append(Visitor(browser, address or server.address, size, scheme))
        return visitors[-1]

    yield new
    for visitor in visitors:
        visitor.context.close()
    assert not [fault for each in visitors for fault in each.faults]
