"""`harald install`: the units by which systemd starts the service, read by systemd itself."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.mark.parametrize("scope", ["user", "machine"])
def test_systemd_takes_the_units(binary: str, tmp_path: Path, scope: str) -> None:
    """No unknown setting, and a program that is there, although its name has a space and a percent sign."""
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        pytest.skip("there is no systemd-analyze")
    home = tmp_path / "a 100%"
    home.mkdir()
    tool = home / "harald"
    # Not by a symbolic link: a program is where its file is.
    try:
        os.link(binary, tool)
    except OSError:
        shutil.copy2(binary, tool)
    machine = ["--machine"] if scope == "machine" else []
    command = [str(tool), "install", "--controller", "tcp:127.0.0.1:6402", "--directory", str(tmp_path), *machine]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "systemctl" in printed
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    units = [str(tmp_path / f"harald.{kind}") for kind in ("socket", "service")]
    assert "a 100%%/harald\" service" in Path(units[1]).read_text()
    verified = subprocess.run(
        [analyze, "verify", f"--{'user' if scope == 'user' else 'system'}", "--man=no", *units],
        capture_output=True, text=True, env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)},
    )  # fmt: skip
    complaints = [line for line in verified.stderr.splitlines() if "harald" in line]
    assert complaints == [] and verified.returncode == 0, verified.stderr


def test_a_rule_for_udev_is_written(binary: str, tmp_path: Path) -> None:
    """It names the class of Bluetooth controllers, for whoever sits at the machine, and for the service of the machine."""
    command = [binary, "install", "--udev", "--directory", str(tmp_path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "udevadm" in printed
    rule = tmp_path / "70-harald-usb.rules"
    assert rule.read_text().count('TAG+="uaccess"') == 2 and "e00101" in rule.read_text() and "GROUP" not in rule.read_text()
    subprocess.run([*command, "--machine"], check=True, capture_output=True)
    assert rule.read_text().count('GROUP="harald"') == 2
    udevadm = shutil.which("udevadm")
    # Older ones cannot check a rule.
    if udevadm and subprocess.run([udevadm, "verify", "--help"], capture_output=True).returncode == 0:
        subprocess.run([udevadm, "verify", "--no-summary", str(rule)], check=True)
