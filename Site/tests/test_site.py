"""The site in a browser: Chromium from Debian's packages, driven by Playwright."""
import json
import re
import subprocess
from pathlib import Path
from typing import Iterator

import pytest
from conftest import DESKTOP, PHONE, ROOT, Server

MODULES = ["corebluetooth", "corebluetoothextras", "bluetoothsimulation", "bluetoothservice", "servicemessages"]
TUTORIALS = ["testreconnecting", "followasensor"]
# Of the pages of symbols, the browser opens each hundredth; their links are all checked in the data.
EACH = 100
# Of text and its background (WCAG 2.2, 1.4.3).
CONTRAST = 4.5
# Of what each selector matches and is visible: the text, its colour, and the nearest background behind it.
COLOURS = """(selectors) => selectors.flatMap(selector => [...document.querySelectorAll(selector)]
    .filter(each => each.checkVisibility() && each.innerText.trim()).map(each => {
        let behind = each
        const isClear = () => /rgba\\(.*, 0\\)/.test(getComputedStyle(behind).backgroundColor)
        while (isClear() && behind.parentElement) behind = behind.parentElement
        const back = isClear() ? getComputedStyle(document.body) : getComputedStyle(behind)
        return [`${selector} ${each.innerText.slice(0, 40)}`, getComputedStyle(each).color, back.backgroundColor]
    }))"""
READ = ["main p", "main h2", "main h3", "main a", "main li", "main code", "main pre", "main pre span", "main td"]
# The links of a page, and whether each leads to a place on it.
LINKS = """[...document.querySelectorAll('a[href]')].map(a => [
    a.href, a.pathname === location.pathname && document.getElementById(decodeURIComponent(a.hash.slice(1))) !== null
])"""


def documents(site: Path) -> dict[str, dict]:
    """The data of each page, by its address."""
    root = site / "data"
    return {f"/{path.relative_to(root).with_suffix('')}": json.loads(path.read_text()) for path in sorted(root.rglob("*.json"))}


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, dict]:
    return documents(site)


def parts(value: object) -> Iterator[dict]:
    """All objects in a page's data."""
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from parts(each)
    elif isinstance(value, list):
        for each in value:
            yield from parts(each)


def anchors(page: dict) -> set[str]:
    return {each["anchor"] for each in parts(page) if "anchor" in each}


def split(url: str) -> tuple[str, str]:
    """The path of an address, and its anchor."""
    path, _, anchor = url.partition("#")
    return path.split("?")[0], anchor


def guides(pages: dict[str, dict]) -> list[str]:
    return [each for each in pages if each.startswith("/documentation/guides")]


def chosen(pages: dict[str, dict]) -> list[str]:
    """The pages that the browser opens: what was written as a page, and some of the symbols."""
    symbols = [each for each in pages if each.startswith("/documentation/") and each not in guides(pages)]
    return [*guides(pages), *[each for each in pages if each.startswith("/tutorials/")], "/documentation",
            *[f"/documentation/{each}" for each in MODULES], *symbols[::EACH]]


def test_references(site: Path, pages: dict[str, dict]) -> None:
    """each link in the data of each page leads to a page, and to a heading of it"""
    missing = set()
    for address, page in pages.items():
        for reference in page.get("references", {}).values():
            url = reference.get("url", "")
            target, anchor = split(url)
            if reference["type"] in ("image", "video", "download") or not target.startswith(("/documentation", "/tutorials")):
                continue
            if target.startswith("/tutorials/tutorials/"):
                # A chapter, which is a part of the list of tutorials.
                continue
            if target.rstrip("/") not in pages or not (site / target.strip("/") / "index.html").exists():
                missing.add(f"{address}: {url}")
            # A tutorial's sections have anchors that the renderer makes from their titles.
            elif anchor and not target.startswith("/tutorials") and anchor not in anchors(pages[target.rstrip("/")]):
                missing.add(f"{address}: {url}, a heading")
    assert not missing


def test_symbols(pages: dict[str, dict]) -> None:
    """each symbol with documentation in the sources has it on its page, and each module has an overview"""
    for module in MODULES:
        page = pages[f"/documentation/{module}"]
        assert page["abstract"] and page["primaryContentSections"], module
    assert "Bluetooth is on" in json.dumps(pages["/documentation/corebluetooth/cbmanagerstate/poweredon"]["abstract"])


def test_crawl_on_a_phone(visit, site: Path, pages: dict[str, dict]) -> None:
    """on a phone each page is drawn, fits into the width, and has no link to nowhere"""
    phone = visit(PHONE, "dark")
    wide, dead = [], set()
    for address in ["/", *chosen(pages)]:
        page = phone.open(address)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > PHONE["width"]:
            wide.append(f"{address}: {width} px")
        for link, is_here in page.evaluate(LINKS):
            if not link.startswith(phone.address):
                assert link.startswith("https://"), link
                continue
            target, anchor = split(link.removeprefix(phone.address))
            if not (site / target.strip("/") / "index.html").exists() and not (site / target.strip("/")).is_file():
                dead.add(f"{address}: {link}")
            elif anchor and not is_here and anchor not in anchors(pages.get(target.rstrip("/"), {})):
                dead.add(f"{address}: {link}, a heading")
    assert not wide
    assert not dead


def test_search(visit) -> None:
    """the filter of the navigator finds a method by a part of its name, and opens its page"""
    page = visit().open("/documentation/corebluetooth/")
    page.fill(".navigator input", "openL2CAP")
    found = page.locator(".navigator-card-item a", has_text="openL2CAPChannel")
    found.first.click()
    page.wait_for_url("**/cbperipheral/openl2capchannel(_:)**")
    assert "openL2CAPChannel" in page.inner_text("h1")


def test_search_finds_guides(visit) -> None:
    """the filter finds a guide, from the page of another module"""
    page = visit().open("/documentation/")
    page.fill(".navigator input", "Troubleshooting")
    page.locator(".navigator-card-item a", has_text="Troubleshooting").first.click()
    page.wait_for_url("**/documentation/guides/troubleshooting**")


def test_code_blocks(visit) -> None:
    """code has colours: of Swift in a guide and in an overview, and of a shell's commands is all there"""
    visitor = visit()
    for address in ["/documentation/guides/testing/", "/documentation/bluetoothsimulation/"]:
        page = visitor.open(address)
        page.wait_for_selector("pre .syntax-keyword")
        colours = page.evaluate("new Set([...document.querySelectorAll('pre span')].map(s => getComputedStyle(s).color)).size")
        assert colours >= 3, address
    page = visitor.open("/documentation/guides/readme/")
    assert "Scripts/demo" in page.inner_text("main")
    source = (ROOT / "README.md").read_text()
    assert page.locator("main pre").count() == len(re.findall(r"^```\w+$", source, re.M))


def test_declarations(visit) -> None:
    """a declaration links to the types of other modules, and a comment to the rules that it cites"""
    page = visit().open("/documentation/corebluetooth/cbcentralmanager/connect(_:options:)/")
    page.locator("main a", has_text="behaviour 3.1").first.click()
    page.wait_for_url(lambda url: url.endswith("/documentation/guides/behaviours?rule=3.1#3-Connecting"))
    page = visit().open("/documentation/corebluetoothextras/discovery/peripheral/")
    page.locator("a.type-identifier-link", has_text="CBPeripheral").first.click()
    page.wait_for_url("**/documentation/corebluetooth/cbperipheral**")


def luminance(colour: str) -> float:
    channels = [int(each) / 255 for each in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(colours: list[str]) -> float:
    high, low = sorted(map(luminance, colours), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("address", ["/", "/documentation/corebluetooth/", "/documentation/guides/service/"])
def test_dark_mode(visit, address: str) -> None:
    """dark mode changes the background, and text, links and code stay readable in both"""
    backgrounds = {}
    for scheme in ["light", "dark"]:
        page = visit(DESKTOP, scheme).open(address)
        page.wait_for_selector("main a")
        backgrounds[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
        read = [(what, contrast(colours)) for what, *colours in page.evaluate(COLOURS, READ)]
        assert len(read) > 20 and not [(what, value) for what, value in read if value < CONTRAST], scheme
    assert luminance(backgrounds["light"]) > 0.8 and luminance(backgrounds["dark"]) < 0.2


@pytest.mark.parametrize("tutorial", TUTORIALS)
def test_tutorials(visit, tutorial: str) -> None:
    """a tutorial opens from the list, and shows all its steps with their code"""
    page = visit().open("/tutorials/tutorials/")
    page.locator(f"main a[href*='{tutorial}'], a[href*='{tutorial}']").last.click()
    page.wait_for_url(f"**/tutorials/guides/{tutorial}**")
    page.wait_for_selector(".step")
    file = next(each for each in (ROOT / "Site/Guides.docc/Tutorials").iterdir() if each.stem.lower() == tutorial)
    assert page.locator(".step").count() == len(re.findall(r"@Step\b(?!s)", file.read_text()))
    page.locator(".step").nth(1).scroll_into_view_if_needed()
    listing = page.locator(".code-listing:visible", has_text="CoreBluetooth").first
    listing.wait_for()
    assert listing.locator(".syntax-keyword").count() > 0


def test_home(visit) -> None:
    """the first page has the two commands of the README, and leads to all products"""
    page = visit().open("/")
    assert page.inner_text("pre").split("\n") == ["Scripts/demo", "Scripts/test"]
    for module in MODULES[:4]:
        page.goto("/")
        page.locator("main a h3", has_text=re.compile(f"^{module}$", re.I)).click()
        page.wait_for_url(f"**/documentation/{module}/")
        page.wait_for_selector("h1")


def test_base_path(visit, site: Path, tmp_path: Path) -> None:
    """under a path of a host, pages load, and links lead there"""
    subprocess.run(["docc", "process-archive", "transform-for-static-hosting", site, "--hosting-base-path", "/docs",
                    "--output-path", tmp_path / "docs"], check=True, capture_output=True)
    (tmp_path / "docs/theme-settings.json").write_bytes((site / "theme-settings.json").read_bytes())
    server = Server(tmp_path)
    try:
        page = visit(address=server.address).open("/docs/documentation/corebluetooth/cbcentralmanager/connect(_:options:)/")
        page.locator("main a", has_text="behaviour 3.1").first.click()
        page.wait_for_url(lambda url: url.endswith("/docs/documentation/guides/behaviours?rule=3.1#3-Connecting"))
    finally:
        server.close()
