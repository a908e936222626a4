"""Accessories on `harald page` in a browser: an app sets one up, and the distance to another one is measured."""
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from conftest import DESKTOP, PHONE, ROOT, Visitor
from test_page import HARALD, SECONDS, Program, check, open_view

PROMPT_SETTLES = 600
DISTANCE = re.compile(r"^\d+\.\d\d m$")


class Place(NamedTuple):
    folder: Path
    address: str

    @property
    def service(self) -> str:
        return f"{self.folder}/service"

    def tool(self, *arguments: str) -> str:
        """Runs a command of the tool for the service, and returns its output."""
        command = [HARALD, *arguments, "--service", self.service]
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True).stdout


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A page, whose service has a heart-rate belt and a tag in range."""
    folder = tmp_path_factory.mktemp("accessories")
    programs: list[Program] = []

    def start(name: str, *arguments: str) -> Program:
        programs.append(Program(*arguments, log=folder / f"{name}.log"))
        return programs[-1]

    radio = start("radio", "controllers", "--channel-sounding", "--listen", "0").line(r"127\.0\.0\.1:(\d+)")
    controller = ("--controller", f"tcp:127.0.0.1:{radio}")
    start("service", "service", *controller, "--socket", f"{folder}/service", "--store", f"{folder}/store"
          ).line("is (listening)")
    # One after the other, since the place of a controller follows from its number.
    start("belt", "serve", *controller, "heart-rate").line("(?i)(advertising)")
    start("tag", "serve", *controller, "tag")
    yield Place(folder, start("page", "page", "--service", f"{folder}/service").line(r"(http://\S+)"))
    for program in reversed(programs):
        program.end()


@pytest.fixture
def show(browser: Browser, place: Place) -> Iterator:
    """Opens the page in a window, and fails the test if anything went wrong in one of them."""
    visitors: list[Visitor] = []

    def new(view: str, size: dict[str, int] = DESKTOP, scheme: str = "light") -> Page:
        visitor = Visitor(browser, place.address.partition("#")[0], size, scheme)
        visitors.append(visitor)
        visitor.page.goto(place.address)
        visitor.page.goto(f"{visitor.page.url}#{view}")
        expect(visitor.page.get_by_role("status").first).to_have_text("Bluetooth is on", timeout=SECONDS * 1_000)
        return visitor.page

    yield new
    for visitor in visitors:
        visitor.context.close()
    assert not [fault for each in visitors for fault in each.faults]


@pytest.fixture
def belts(place: Place) -> Iterator:
    """Starts the example belt-setup with its property list beside it, as an app of the service."""
    home = place.folder / "belts"
    home.mkdir()
    shutil.copy2(Path(HARALD).with_name("belt-setup"), home)
    shutil.copy2(ROOT / "Examples/BeltSetup/Info.plist", home)
    started: list[Program] = []

    def start() -> Program:
        started.append(Program(log=home / "log", program=str(home / "belt-setup"), HARALD_SERVICE=place.service))
        return started[-1]

    yield start
    for program in started:
        program.end()


def test_an_accessory_is_set_up_renamed_and_removed(show, belts, place: Place) -> None:
    """Behaviours 16.5, 16.7 and 16.8: by the picker, and as in the settings."""
    page = show("apps", PHONE, "dark")
    app = belts()
    questions = page.get_by_role("region", name="Questions")
    # A prompt that comes just after another one takes no answer: the picker with a belt after the one without.
    choice = questions.get_by_role("button", name=re.compile('^"Heart-rate belt"'))
    expect(choice).to_be_visible(timeout=SECONDS * 1_000)
    page.wait_for_timeout(PROMPT_SETTLES)
    choice.click()
    name = questions.get_by_label("Name")
    expect(name).to_be_visible(timeout=SECONDS * 1_000)
    page.wait_for_timeout(PROMPT_SETTLES)
    name.fill("Chest belt")
    questions.get_by_role("button", name="Rename").click()
    app.line(r'added\("(Chest belt)"\)')
    row = page.locator(".accessories li")
    expect(row).to_contain_text('accessory "Chest belt"', timeout=SECONDS * 1_000)
    check(page, "accessories")
    row.get_by_label("New name of Chest belt").fill("Left <b>belt</b>")
    # The text stays while the page is drawn anew.
    page.wait_for_timeout(2_000)
    row.get_by_role("button", name="Rename Chest belt").click()
    expect(row).to_contain_text('accessory "Left <b>belt</b>"', timeout=SECONDS * 1_000)
    app.line(r'renamed\("(Left <b>belt</b>)"\)')
    identifier = re.search(r'accessory (\S+) "Left', place.tool("app", "list"))
    assert identifier
    place.tool("app", "rename-accessory", "com.example.belt-setup", identifier.group(1), "Belt")
    expect(row.get_by_label("New name of Belt")).to_have_value("Belt", timeout=SECONDS * 1_000)
    row.get_by_role("button", name="Remove Belt").click()
    expect(row).to_have_count(0, timeout=SECONDS * 1_000)
    app.line("(removed)")


def test_the_distance_is_measured_and_plotted(show, place: Place) -> None:
    """Behaviours 17.2 and 17.3: the page pairs, and shows distances until it ends the session. The tool measures too."""
    page = show("devices")
    page.get_by_role("button", name="Scan").click()
    page.get_by_role("link", name="Tag").click(timeout=SECONDS * 1_000)
    page.get_by_role("button", name="Connect", exact=True).click()
    page.get_by_role("button", name="Measure the distance").click(timeout=SECONDS * 1_000)
    page.get_by_role("region", name="Questions").get_by_role("button", name="Pair").click(timeout=SECONDS * 1_000)
    distance = page.locator("#distance")
    expect(distance.locator(".value")).to_have_text(DISTANCE, timeout=SECONDS * 1_000)
    expect(distance.locator(".plot")).to_be_visible(timeout=SECONDS * 1_000)
    # The service and the tag have the first and the third controller.
    assert abs(float(distance.locator(".value").inner_text().split()[0]) - 2) < 0.5
    check(page, "distance")
    page.get_by_role("button", name="Stop measuring").click()
    expect(page.get_by_role("button", name="Measure the distance")).to_be_visible(timeout=SECONDS * 1_000)
    # Another session begins, since the last one has ended.
    shown = distance.locator(".quiet.small").inner_text()
    page.get_by_role("button", name="Measure the distance").click()
    expect(distance.locator(".quiet.small")).not_to_have_text(shown, timeout=SECONDS * 1_000)
    page.get_by_role("button", name="Disconnect").click()
    expect(page.get_by_text("Not connected.")).to_be_visible(timeout=SECONDS * 1_000)
    measured = [json.loads(line) for line in place.tool("distance", "Tag", "--count", "2", "--json").splitlines()]
    assert [each["event"] for each in measured] == ["distance"] * 2
    assert all(abs(each["metres"] - 2) < 0.5 for each in measured)
    open_view(page, "Devices")
    page.get_by_role("link", name="Heart Rate").click()
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_role("heading", name="Heart Rate (180D)")).to_be_visible(timeout=SECONDS * 1_000)
    expect(page.get_by_role("button", name="Measure the distance")).to_have_count(0)
