"""`harald swift check` as users of an installed tool run it, without a checkout of Harald."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

MANIFEST = """// swift-tools-version: 6.0
import PackageDescription
let package = Package(name: "Gauge", targets: [.target(name: "Gauge")])
"""
CODE = """import CoreBluetooth
import UIKit

class Base: NSObject, CBPeripheralDelegate {}
class Derived: Base {
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {}
}
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    place = tmp_path / "Gauge"
    (place / "Sources/Gauge").mkdir(parents=True)
    (place / "Package.swift").write_text(MANIFEST)
    (place / "Sources/Gauge/Gauge.swift").write_text(CODE)
    return place


@pytest.fixture
def installed(binary: str, tmp_path: Path) -> Path:
    """The tool in a folder without a checkout above it."""
    (tmp_path / "bin").mkdir()
    return Path(shutil.copy2(binary, tmp_path / "bin/harald"))


def check(tool: Path, package: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(package.parent / "cache")}
    command = [tool, "swift", "check", package, *options]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=package.parent, timeout=120)


def test_an_installed_tool_checks_a_package(installed: Path, package: Path) -> None:
    """Errors make it fail, for CI, and nothing is written into the package."""
    told = check(installed, package)
    assert told.returncode == 1
    assert "Sources/Gauge/Gauge.swift:2: error: Linux has no UIKit" in told.stderr
    assert "Sources/Gauge/Gauge.swift:6: warning: peripheral(_:didDiscoverServices:) is never called" in told.stderr
    assert "1 place does not work on Linux, 1 compiles but has no effect" in told.stderr
    assert sorted(each.name for each in package.iterdir()) == ["Package.swift", "Sources"]
    assert {each.name for each in package.parent.iterdir()} <= {"Gauge", "bin", "cache"}


def test_a_package_without_errors_passes(installed: Path, package: Path) -> None:
    (package / "Sources/Gauge/Gauge.swift").write_text("import CoreBluetooth\n")
    assert check(installed, package).returncode == 0


def test_findings_are_told_in_json(installed: Path, package: Path) -> None:
    told = check(installed, package, "--json")
    documents = [json.loads(line) for line in told.stdout.splitlines()]
    assert told.returncode == 1
    assert [(each["event"], each.get("line"), each.get("severity")) for each in documents] == [
        ("finding", 2, "error"), ("finding", 6, "warning"), ("checked", None, None),
    ]  # fmt: skip
    assert documents[0]["file"] == "Sources/Gauge/Gauge.swift"
    assert documents[2]["errors"] == documents[2]["warnings"] == 1


def test_what_is_no_package_is_an_error_in_json(installed: Path, tmp_path: Path) -> None:
    told = check(installed, tmp_path, "--json")
    assert told.returncode == 1
    assert [(each["event"], each["code"]) for each in map(json.loads, told.stdout.splitlines())] == [("error", "package")]


@pytest.mark.parametrize("target", ["../../../victim.swift", "/", "../../..", "nothing.swift", "Linked.swift"])
def test_an_adapted_copy_leads_nowhere(installed: Path, package: Path, target: str) -> None:
    """AB-T01: a link out of the package is refused, and what it leads to stays as it is."""
    victim = package.parent / "victim.swift"
    victim.write_text("@objc class Victim: NSObject {}\n")
    (package / "Sources/Gauge/Linked.swift").symlink_to(target)
    told = check(installed, package, "--adapt")
    assert told.returncode == 1, told.stdout
    assert "Sources/Gauge/Linked.swift is a symbolic link that lea" in told.stderr, told.stderr
    assert victim.read_text() == "@objc class Victim: NSObject {}\n"


def test_an_adapted_copy_has_what_links_lead_to(installed: Path, package: Path) -> None:
    """AB-T01: links within the package become files of the copy, and the package stays as it is."""
    code = "import CoreBluetooth\n@objc class Other: NSObject {}\n"
    (package / "Shared").mkdir()
    (package / "Shared/Other.swift").write_text(code)
    (package / "Sources/Gauge/Other.swift").symlink_to("../../Shared/Other.swift")
    (package / "Sources/Gauge/Gauge.swift").write_text("import CoreBluetooth\n")
    assert check(installed, package, "--adapt").returncode == 0
    assert (package / "Shared/Other.swift").read_text() == code
    [copy] = (package.parent / "cache").rglob("Gauge/Other.swift")
    assert "@objc" not in copy.read_text() and not copy.is_symlink()


def test_the_help_says_that_the_manifest_is_run(installed: Path) -> None:
    """AB-T01: a manifest is a program."""
    said = subprocess.run([installed, "swift", "--help"], capture_output=True, text=True, check=True).stdout
    assert "manifest, Package.swift, is a program" in " ".join(said.split())


def test_building_needs_a_checkout(installed: Path, package: Path) -> None:
    told = subprocess.run([installed, "swift", "build", package], capture_output=True, text=True, timeout=20)
    assert told.returncode == 1
    assert "specify one with --harald DIRECTORY" in told.stderr
