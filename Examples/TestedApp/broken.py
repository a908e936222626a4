#!/usr/bin/env python3
"""Breaks the classes of the app in ten ways that are common in apps, and checks that the failure of a test explains each:
its report has at most 40 lines, and names the cause in the first five.

    Examples/TestedApp/broken.py              all of them
    Examples/TestedApp/broken.py NAME...      only these, and shows what their tests print

Needs swift build --build-tests in the root of the repository, whose build it shares.
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / ".build" / "broken" / "TestedApp"
MONITOR, TERMINAL = "BeltMonitor.swift", "Terminal.swift"
# Seconds.
BUILDING, RUNNING = 20 * 60, 2 * 60
# Lines of the report of a failure, and those that a reader looks at first.
MOST, FIRST = 40, 5


class Broken(NamedTuple):
    """A version of the app with one fault."""
    name: str
    file: str
    # Replacements: the text that occurs once, and what replaces it.
    changes: list[tuple[str, str]]
    # The test that fails.
    test: str
    # What the text of its failure says, as regular expressions: first the cause.
    says: list[str]


VERSIONS = [
    Broken(
        "ForgottenDelegate", MONITOR, [("        peripheral.delegate = self\n", "")],
        "followsTheRate",
        [r"API MISUSE: Phone: belts: Discovering services for .* while delegate is nil"],
    ),
    Broken(
        "LostReference", MONITOR,
        [("        manager = CBCentralManager(delegate: self, queue: queue)", "        _ = CBCentralManager(delegate: self, queue: queue)")],
        "followsTheRate",
        [r"belts released its CBCentralManager at 00:00\.000, before it received its state: keep the manager in a property"],
    ),
    Broken(
        "NoRediscovery", MONITOR,
        [("        peripheral.discoverServices([Self.service])\n", """\
        let known = peripheral.services?.first?.characteristics?.first { $0.uuid == Self.measurement }
        guard let known = known ?? kept else { return peripheral.discoverServices([Self.service]) }
        peripheral.setNotifyValue(true, for: known)
"""),
         ("            case Self.measurement: peripheral.setNotifyValue", "            case Self.measurement: kept = characteristic; peripheral.setNotifyValue"),
         ("    private var belt: CBPeripheral?\n", "    private var belt: CBPeripheral?\n    private var kept: CBCharacteristic?\n")],
        "goesOnWhenTheBeltIsBack",
        [r"API MISUSE: Phone: belts: <CBCharacteristic: .*2A37.*> is no longer part of <CBPeripheral",
         r'belts . connected "Heart Rate"'],
    ),
    Broken(
        "NoTimeOut", MONITOR, [("        queue.asyncAfter(deadline: .now() + Self.timeout, execute: timeOut)\n", "")],
        "givesUpAfterTenSeconds",
        [r'belts has waited for a connection to "Heart Rate" since .*: a connection request never times out'],
    ),
    Broken(
        "IgnoredError", MONITOR,
        [("""didDiscoverServices error: (any Error)?) {
        if let error { return report(.failed(error.localizedDescription)) }
""", "didDiscoverServices error: (any Error)?) {\n")],
        "reportsARefusedValue",
        [r'belts received an error of "Heart Rate" at .* and made no request since: discovering services: .*unlikely error'],
    ),
    Broken(
        "WriteWithoutRoom", TERMINAL, [("while !unsent.isEmpty, device.canSendWriteWithoutResponse {", "while !unsent.isEmpty {")],
        "sendsALongText",
        [r"terminal: <CBPeripheral.*> has no room for a response-less write; wait until canSendWriteWithoutResponse is true \(\d+ times"],
    ),
    Broken(
        "WrongUUID", MONITOR, [('service = CBUUID(string: "180D")', 'service = CBUUID(string: "180E")')],
        "followsTheRate",
        [r'belts has scanned for Phone Alert Status \(180E\) since .* and discovered nothing; advertised were: "Heart Rate" with Heart Rate \(180D\)'],
    ),
    Broken(
        "ReadBeforeDiscovery", MONITOR,
        [("        peripheral.discoverServices([Self.service])\n", """\
        for each in peripheral.services?.flatMap({ $0.characteristics ?? [] }) ?? [] { peripheral.readValue(for: each) }
""")],
        "followsTheRate",
        [r'belts connected to "Heart Rate" at .* and made no request since: services is nil until discoverServices'],
    ),
    Broken(
        "BlockedCallback", MONITOR,
        [("        peripheral.discoverServices([Self.service])\n", "        peripheral.discoverServices([Self.service])\n        discovered.wait()\n"),
         ("    private var belt: CBPeripheral?\n", "    private var belt: CBPeripheral?\n    private let discovered = DispatchSemaphore(value: 0)\n"),
         ("        for service in peripheral.services ?? [] {\n", "        discovered.signal()\n        for service in peripheral.services ?? [] {\n")],
        "followsTheRate",
        [r'the last callback on the queue "belts" does not return',
         r'belts . connected "Heart Rate"'],
    ),
    Broken(
        "PeripheralNotKept", MONITOR, [("        belt = peripheral\n", "")],
        "followsTheRate",
        [r'belts released the CBPeripheral of "Heart Rate" at .*, which canceled its connection: keep the peripheral'],
    ),
]


def replaced(text: str, changes: list[tuple[str, str]], name: str) -> str:
    for old, new in changes:
        if text.count(old) != 1:
            sys.exit(f"{name}: the text to replace occurs {text.count(old)} times:\n{old}")
        text = text.replace(old, new)
    return text


def manifest(versions: list[Broken]) -> str:
    """One package with two targets for each version: one build makes all of them."""
    targets = "".join(f"""
        .target(name: "{each.name}", dependencies: [.product(name: "CoreBluetooth", package: "harald-bluetooth")]),
        .testTarget(
            name: "{each.name}Tests",
            dependencies: [
                "{each.name}",
                .product(name: "CoreBluetooth", package: "harald-bluetooth"),
                .product(name: "Accessories", package: "harald-bluetooth"),
                .product(name: "BluetoothTesting", package: "harald-bluetooth"),
            ]
        ),""" for each in versions)
    return f"""// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "BrokenApps",
    dependencies: [.package(name: "harald-bluetooth", path: "{ROOT}")],
    targets: [{targets}
    ]
)
"""


def write(versions: list[Broken]) -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    for each in versions:
        sources, tests = WORK / "Sources" / each.name, WORK / "Tests" / f"{each.name}Tests"
        shutil.copytree(HERE / "Sources" / "TestedApp", sources)
        shutil.copytree(HERE / "Tests" / "TestedAppTests", tests)
        file = sources / each.file
        file.write_text(replaced(file.read_text(), each.changes, each.name))
        for file in tests.glob("*.swift"):
            file.write_text(file.read_text().replace("import TestedApp", f"import {each.name}"))
    (WORK / "Package.swift").write_text(manifest(versions))


def swift(*arguments: str, limit: int) -> tuple[str, int]:
    line = ["swift", *arguments, "--package-path", str(WORK), "--scratch-path", str(ROOT / ".build")]
    done = subprocess.run(line, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit, check=False)
    return done.stdout, done.returncode


def reports(output: str) -> list[list[str]]:
    """Returns the lines of each failure in the output of a test."""
    found: list[list[str]] = []
    is_inside = False
    for line in output.splitlines():
        if " recorded an issue" in line:
            found.append([])
            is_inside = True
        elif not line.startswith(("\u21b3", "  ")):
            is_inside = False
        if is_inside:
            found[-1].append(line)
    return found


def faults(version: Broken, output: str, status: int) -> list[str]:
    """Returns what is wrong with the failure of a version's test."""
    if status == 0:
        return [f"{version.name}: {version.test} passed"]
    missing = [f"{version.name}: the failure of {version.test} does not say /{each}/" for each in version.says
               if not re.search(each, output, re.M)]
    all_reports = reports(output)
    long = [f"{version.name}: a report has {len(each)} lines" for each in all_reports if len(each) > MOST]
    beginnings = ["\n".join(each[:FIRST]) for each in all_reports]
    late = [] if missing or any(re.search(version.says[0], each, re.M) for each in beginnings) else [
        f"{version.name}: the first {FIRST} lines do not say /{version.says[0]}/"]
    return missing + long + late


def main() -> int:
    named = sys.argv[1:]
    versions = [each for each in VERSIONS if not named or each.name in named]
    if unknown := set(named) - {each.name for each in VERSIONS}:
        sys.exit(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(each.name for each in VERSIONS)}")
    write(VERSIONS)
    output, status = swift("build", "--build-tests", limit=BUILDING)
    if status:
        sys.exit(output[-8000:])
    found = []
    for each in versions:
        output, status = swift("test", "--skip-build", "--filter", rf"^{each.name}Tests\..*{each.test}", limit=RUNNING)
        if named:
            print(output)
        found += faults(each, output, status)
    for line in found:
        print(line)
    print(f"broken versions: {len(versions)}, unexplained: {len({line.split(':')[0] for line in found})}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
