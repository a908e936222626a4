"""`harald page` in a browser, used as a person would: by mouse and by keyboard alone, on a phone and on a desktop."""
import http.server
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from conftest import PHONE, ROOT, Visitor, tshark

HARALD = os.environ.get("HARALD", str(ROOT / ".build/debug/harald"))
PICTURES = ROOT / ".build/page"
DESKTOP = {"width": 1440, "height": 900}
WINDOWS = [(DESKTOP, "light"), (PHONE, "dark")]
NAMES = [f"{'desktop' if size is DESKTOP else 'phone'}-{scheme}" for size, scheme in WINDOWS]
# For programs that begin and devices that are found; on a quiet machine it takes a second.
SECONDS = 60


class Program:
    """A program with its output, which ends with the test."""

    def __init__(self, *arguments: str, log: Path, program: str = HARALD, **variables: str) -> None:
        self.log = log
        with log.open("w") as output:
            self.process = subprocess.Popen([program, *arguments], stdout=output, stderr=subprocess.STDOUT,
                                            stdin=subprocess.DEVNULL, env=os.environ | variables)

    def line(self, pattern: str) -> str:
        """Waits for a line of the output, and returns its part in parentheses."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            found = re.search(pattern, self.log.read_text())
            if found:
                return found.group(1)
            assert self.process.poll() is None, f"{self.process.args} ended: {self.log.read_text()}"
            time.sleep(0.05)
        raise AssertionError(f"no {pattern} of {self.process.args}: {self.log.read_text()}")

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page, whose service has two accessories in range."""
    folder = tmp_path_factory.mktemp("page")
    programs: list[Program] = []

    def start(name: str, *arguments: str) -> Program:
        programs.append(Program(*arguments, log=folder / f"{name}.log"))
        return programs[-1]

    radio = "tcp:127.0.0.1:" + start("radio", "controllers", "--listen", "0").line(r"127\.0\.0\.1:(\d+)")
    start("service", "service", "--controller", radio, "--socket", f"{folder}/service", "--store", f"{folder}/store"
          ).line("is (listening)")
    start("belt", "serve", "--controller", radio, "heart-rate")
    start("hostile", "serve", "--controller", radio, "--name", "<b>x</b>", "lock")
    yield start("page", "page", "--service", f"{folder}/service").line(r"(http://\S+)")
    for program in reversed(programs):
        program.end()


@pytest.fixture
def open_page(browser: Browser, address: str) -> Iterator:
    """Opens the page in a window, and fails the test if anything went wrong in one of them."""
    visitors: list[Visitor] = []

    def new(size: dict[str, int] = DESKTOP, scheme: str = "light", view: str = "devices") -> Page:
        visitor = Visitor(browser, address.partition("#")[0], size, scheme)
        visitors.append(visitor)
        visitor.page.goto(address)
        visitor.page.goto(f"{visitor.page.url}#{view}")
        expect(visitor.page.get_by_role("status").first).to_have_text("Bluetooth is on", timeout=SECONDS * 1_000)
        return visitor.page

    yield new
    for visitor in visitors:
        visitor.context.close()
    assert not [fault for each in visitors for fault in each.faults]


def scan(page: Page) -> None:
    page.get_by_role("button", name="Scan").click()
    expect(page.get_by_role("link", name="Heart Rate")).to_be_visible(timeout=SECONDS * 1_000)


def connect(page: Page) -> None:
    """Opens the device that the scan has found, and connects."""
    page.get_by_role("link", name="Heart Rate").click()
    page.get_by_role("button", name="Connect", exact=True).click()


def picture(page: Page, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")


def check(page: Page, name: str) -> None:
    """Takes a picture, and fails if the page is too wide or axe-core reports something serious."""
    picture(page, name)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
    faults = [f"{each['id']}: {node['html']}: {node['failureSummary']}" for each in Axe().run(page).response["violations"]
              if each["impact"] in ("serious", "critical") for node in each["nodes"][:3]]
    assert not faults, f"{name}: {faults}"


def open_view(page: Page, name: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=name).click()


def test_the_token_leaves_the_address_and_outlasts_a_reload(open_page, address: str) -> None:
    page = open_page()
    token = address.partition("token=")[2]
    assert token and token not in page.url and token not in page.content()
    assert page.evaluate("document.cookie") == ""
    page.reload()
    expect(page.get_by_role("status").first).to_have_text("Bluetooth is on", timeout=SECONDS * 1_000)


def test_a_browser_without_the_token_is_told_what_to_open(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(address.partition("#")[0])
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Open the address that was printed")
    page.goto(f"{page.url}#token=0123456789abcdef0123456789abcdef")
    expect(alert).to_contain_text("from an earlier start")
    # The address without a reload, as a person pastes it into the same tab.
    page.goto(address)
    expect(page.get_by_role("status").first).to_have_text("Bluetooth is on", timeout=SECONDS * 1_000)
    page.close()


class Listening(http.server.BaseHTTPRequestHandler):
    """Another server on this machine, which keeps what a browser sends."""
    heard: list[str] = []

    def do_GET(self) -> None:
        self.heard.append(f"{self.path} {self.headers}")
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<h1>Another server</h1>")

    def log_message(self, *_: object) -> None:
        pass


def test_another_local_server_learns_no_token_and_opens_nothing(browser: Browser, address: str) -> None:
    """AB-P04: a browser that has the page open visits a server on another port of the same host."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listening)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    context = browser.new_context()
    page = context.new_page()
    page.goto(address)
    expect(page.get_by_role("status").first).to_have_text("Bluetooth is on", timeout=SECONDS * 1_000)
    page.evaluate(f"location.href = 'http://127.0.0.1:{server.server_port}/'")
    expect(page.get_by_role("heading", name="Another server")).to_be_visible()
    assert address.partition("token=")[2] not in "".join(Listening.heard)
    assert page.evaluate("sessionStorage.length + document.cookie.length") == 0
    socket = address.partition("#")[0].replace("http", "ws", 1) + "socket"
    code = page.evaluate(f"new Promise((done) => {{ new WebSocket('{socket}').onclose = (event) => done(event.code); }})")
    assert code == 1006
    context.close()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("size", "scheme"), WINDOWS, ids=NAMES)
def test_a_sensor_is_found_and_followed(open_page, size: dict[str, int], scheme: str) -> None:
    page = open_page(size, scheme)
    name = NAMES[WINDOWS.index((size, scheme))]
    open_view(page, "Packets")
    page.get_by_role("button", name="Capture packets").click()
    open_view(page, "Devices")
    scan(page)
    check(page, f"{name}-devices")
    connect(page)
    expect(page.get_by_role("heading", name="Heart Rate (180D)")).to_be_visible(timeout=SECONDS * 1_000)
    page.get_by_role("button", name=re.compile("^Read Body Sensor Location")).click()
    expect(page.locator(".value", has_text="chest")).to_be_visible(timeout=SECONDS * 1_000)
    page.get_by_role("button", name=re.compile("^Follow Heart Rate Measurement")).click()
    expect(page.locator(".plot")).to_be_visible(timeout=SECONDS * 1_000)
    check(page, f"{name}-device")
    page.get_by_role("button", name="Disconnect").click()
    expect(page.get_by_text("Not connected.")).to_be_visible(timeout=SECONDS * 1_000)
    open_view(page, "Events")
    page.get_by_label("Filter events").fill("heart rate measurement")
    page.get_by_role("option", name=re.compile(r"Heart Rate Measurement \(2A37\): ")).last.click()
    expect(page.get_by_role("link", name="Show its packet")).to_be_visible()
    check(page, f"{name}-events")
    page.get_by_role("link", name="Show its packet").click()
    packet = page.get_by_role("region", name="Packet", exact=True)
    expect(packet.get_by_text("Handle Value Notification")).to_be_visible(timeout=SECONDS * 1_000)
    check(page, f"{name}-packets")
    page.get_by_role("link", name="Show its event").click()
    expect(page.get_by_role("region", name="Event", exact=True).get_by_text("Heart Rate Measurement")).to_be_visible()
    open_view(page, "Apps")
    expect(page.get_by_role("img", name=re.compile("The life of harald"))).to_be_visible()
    check(page, f"{name}-apps")
    open_view(page, "Advice")
    # The scan of the page is no app's.
    expect(page.locator("#own-advice")).to_be_visible(timeout=SECONDS * 1_000)
    expect(page.get_by_role("article")).to_have_count(0)
    expect(page.locator("#advice-count")).to_be_hidden()
    check(page, f"{name}-advice")
    open_view(page, "Packets")
    page.get_by_role("button", name="Stop capturing").click()


def test_a_click_outlasts_a_new_drawing_of_the_list(open_page) -> None:
    page = open_page()
    scan(page)
    link = page.get_by_role("link", name="Heart Rate")
    link.hover()
    page.mouse.down()
    row = link.element_handle()
    page.wait_for_timeout(2_000)
    assert row.evaluate("each => each.isConnected")
    page.mouse.up()
    expect(page.get_by_role("button", name="Connect", exact=True)).to_be_visible()
    open_view(page, "Devices")
    row = link.element_handle()
    # The list is drawn anew again.
    page.wait_for_function("each => !each.isConnected", arg=row)


def test_packets_are_filtered_and_saved(open_page, tmp_path: Path) -> None:
    page = open_page(view="packets")
    expect(page.get_by_text("Press Capture packets.")).to_be_visible()
    page.get_by_role("button", name="Capture packets").click()
    expect(page.get_by_text("Press Capture packets.")).to_be_hidden()
    open_view(page, "Devices")
    scan(page)
    open_view(page, "Packets")
    options = page.get_by_role("listbox", name="Packets").get_by_role("option")
    field = page.get_by_label("Filter packets")
    field.fill('hci "le set"')
    expect(options.first).to_contain_text("LE Set", timeout=SECONDS * 1_000)
    assert all("le set" in each.lower() for each in options.all_inner_texts())
    field.fill("advertising")
    expect(options.first).to_contain_text("Advertising Report", timeout=SECONDS * 1_000)
    # The names of devices are offered, once there are packets of them.
    field.fill("device he")
    expect(page.get_by_role("listbox", name="Completions").get_by_role("option")).to_have_count(1, timeout=SECONDS * 1_000)
    field.press("ArrowDown")
    field.press("Enter")
    expect(field).to_have_value('device "Heart Rate" ')
    expect(options.first).to_contain_text("Advertising Report")
    field.fill('device "Heart Rate" rssi <')
    field.press("Escape")
    expect(page.get_by_text("Character 27: a number is missing after <")).to_be_visible()
    # The last right filter stays in force.
    expect(options.first).to_contain_text("Advertising Report")
    field.fill('device "Heart Rate" rssi < 0')
    expect(options.first).to_contain_text("Advertising Report")
    page.get_by_role("button", name="Stop capturing").click()
    expect(page.get_by_role("button", name="Capture packets")).to_be_visible()
    shown = int(page.locator("#packets-count").inner_text().split()[0])
    for form in ["btsnoop", "pcapng"]:
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save {form}").click()
        assert download.value.suggested_filename == f"harald.{form}"
        download.value.save_as(tmp_path / f"saved.{form}")
        # All of them are LE Meta events. The last ones may have come after the button.
        saved = tshark(tmp_path / f"saved.{form}", "bthci_evt.code")
        assert len(saved) >= shown > 0 and saved == [["0x3e"]] * len(saved)


def test_a_question_is_answered(open_page) -> None:
    page = open_page()
    scan(page)
    page.get_by_role("link", name="<b>x</b>").first.click()
    page.get_by_role("button", name="Connect", exact=True).click()
    page.get_by_role("button", name=re.compile("^Read ")).first.click(timeout=SECONDS * 1_000)
    questions = page.get_by_role("region", name="Questions")
    pair = questions.get_by_role("button", name="Pair")
    expect(pair).to_be_visible(timeout=SECONDS * 1_000)
    check(page, "question")
    pair.focus()
    page.keyboard.press("Enter")
    expect(questions.get_by_role("heading")).to_have_count(0)
    # The value that the device had refused before.
    expect(page.locator(".value").first).to_be_visible(timeout=SECONDS * 1_000)
    expect(page.get_by_text(", bonded")).to_be_visible(timeout=SECONDS * 1_000)
    page.get_by_role("button", name="Forget the bond").click()
    expect(page.get_by_text("Not connected.")).to_be_visible(timeout=SECONDS * 1_000)


def test_a_value_is_written_as_text_or_in_hexadecimal(open_page) -> None:
    page = open_page()
    sent: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(str(frame))))
    page.reload()
    scan(page)
    connect(page)
    title = "Heart Rate Control Point (2A39)"
    point = page.locator(".attribute", has_text=title)
    expect(point.locator(".tag")).to_have_text(["write"], timeout=SECONDS * 1_000)
    point.get_by_label(f"Form of the value for {title}").select_option("Text")
    point.get_by_label(f"Value for {title}, as text").fill("é1")
    point.get_by_role("button", name=f"Write {title}").click()
    point.get_by_label(f"Form of the value for {title}").select_option("Hex")
    point.get_by_label(f"Value for {title}, in hexadecimal").fill("01")
    point.get_by_role("button", name=f"Write {title}").click()
    values = [found.group(1) for each in sent if (found := re.search(r'"verb":"write".*"value":"([^"]*)"', each))]
    assert values == ["c3a931", "01"]
    page.get_by_role("button", name="Disconnect").click()
    expect(page.get_by_text("Not connected.")).to_be_visible(timeout=SECONDS * 1_000)


def test_the_keyboard_is_enough(open_page) -> None:
    """A tour without a pointer, on which each element is reached by Tab: events, packets, a device, its values."""
    page = open_page()

    def reach(name: str, key: str = "Tab") -> None:
        """Presses Tab until an element with this name has the focus."""
        for _ in range(60):
            page.keyboard.press(key)
            if page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.textContent") == name:
                return
        raise AssertionError(f"{key} does not reach {name}")

    def press(name: str, key: str = "Tab") -> None:
        reach(name, key)
        page.keyboard.press("Enter")

    press("Packets")
    press("Capture packets")
    expect(page.get_by_role("button", name="Stop capturing")).to_be_focused()
    press("Devices", "Shift+Tab")
    press("Scan")
    expect(page.get_by_role("link", name="Heart Rate")).to_be_visible(timeout=SECONDS * 1_000)
    press("Heart Rate")
    expect(page.get_by_role("button", name="Connect", exact=True)).to_be_visible()
    press("Connect")
    expect(page.get_by_role("heading", name="Heart Rate (180D)")).to_be_visible(timeout=SECONDS * 1_000)
    press("Read Body Sensor Location (2A38)")
    expect(page.locator(".value", has_text="chest")).to_be_visible(timeout=SECONDS * 1_000)
    press("Events", "Shift+Tab")
    reach("Filter events")
    page.keyboard.type("body sensor location")
    reach("Events")
    page.keyboard.press("End")
    expect(page.get_by_role("region", name="Event", exact=True)).to_be_visible()
    reach("Show its packet")
    page.keyboard.press("Enter")
    # The list has the focus, with the packet chosen.
    expect(page.get_by_role("listbox", name="Packets")).to_be_focused()
    chosen = page.get_by_role("listbox", name="Packets").get_by_role("option", selected=True)
    expect(chosen).to_contain_text("Read ")
    first = chosen.inner_text()
    page.keyboard.press("ArrowUp")
    expect(chosen).not_to_have_text(first)
    expect(page.get_by_role("region", name="Packet", exact=True).get_by_text("HCI", exact=True)).to_be_visible()
    press("Stop capturing", "Shift+Tab")
    press("Devices", "Shift+Tab")
    press("Heart Rate")
    press("Disconnect")
    expect(page.get_by_text("Not connected.")).to_be_visible(timeout=SECONDS * 1_000)


def test_the_name_of_a_device_is_text(open_page) -> None:
    page = open_page()
    scan(page)
    expect(page.get_by_text("<b>x</b>").first).to_be_visible(timeout=SECONDS * 1_000)
    assert page.locator("#view b").count() == 0


def test_lists_are_filtered_and_sorted(open_page) -> None:
    page = open_page()
    scan(page)
    page.get_by_label("Filter devices").fill("heart")
    expect(page.get_by_text("1 device", exact=True)).to_be_visible()
    page.get_by_label("Filter devices").fill("")
    page.get_by_role("button", name="Name").click()
    names = page.locator("tbody a").all_inner_texts()
    assert names == sorted(names)
