"""`harald doctor` on this machine, whatever its hardware: it never fails by itself, and its text matches its JSON."""
from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

FIELDS = {"severity", "code", "place", "what"}


def doctor(binary: str, tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    environment.pop("HARALD_SERVICE", None)
    return subprocess.run([binary, "doctor", *arguments], env=environment, capture_output=True, text=True, timeout=60)


def findings(result: subprocess.CompletedProcess[str]) -> list[dict[str, str]]:
    assert result.stderr == ""
    return json.loads(result.stdout)["findings"]


def test_a_machine_is_looked_at(binary: str, tmp_path: Path) -> None:
    """The exit status follows from the findings, each of which has a place and a description, and the text matches."""
    result = doctor(binary, tmp_path, "--json")
    found = findings(result)
    assert all(FIELDS <= set(finding) for finding in found)
    assert result.returncode == (1 if any(finding["severity"] == "problem" for finding in found) else 0)
    if not Path("/sys/class/bluetooth").exists():
        assert {finding["code"] for finding in found} & {"no-kernel-bluetooth", "namespace", "no-adapter"}
    words = doctor(binary, tmp_path)
    assert words.returncode == result.returncode
    assert all(finding["what"] in words.stdout for finding in found)


def test_a_service_that_is_dead_is_found(binary: str, tmp_path: Path) -> None:
    """A socket left behind by a dead service is a problem, with advice."""
    (tmp_path / "harald").mkdir()
    (tmp_path / "harald" / "service").touch()
    found = findings(doctor(binary, tmp_path, "--json"))
    dead = next(finding for finding in found if finding["code"] == "service-dead")
    assert dead["place"] == f"{tmp_path}/harald/service" and "harald service" in dead["remedy"]


def test_a_controller_that_is_named_is_asked(binary: str, tmp_path: Path) -> None:
    """An unreachable controller is a problem."""
    result = doctor(binary, tmp_path, "--json", "--controller", "tcp:127.0.0.1:1")
    assert result.returncode == 1
    found = next(finding for finding in findings(result) if finding["code"] == "controller")
    assert found["remedy"] == "start it, or check the host and port"
