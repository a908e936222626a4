"""Files at the paths that commands are given: links, pipes, devices, and the files that a command reads itself."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

SECONDS = 20
STEPS = {"format": 1, "steps": [{"connect": True}]}


@pytest.fixture
def capture(binary: str, tmp_path: Path) -> Path:
    """A short capture."""
    path = tmp_path / "session.btsnoop"
    subprocess.run([binary, "demo", "heart-rate", "--virtual-time", "--capture", str(path)], check=True, capture_output=True)
    return path


def ran(binary: str, *arguments: str | Path, stdin: int | None = subprocess.DEVNULL) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end, which has to come soon."""
    command = [binary, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, stdin=stdin)


def writers(capture: Path, steps: Path, output: Path) -> dict[str, list[str | Path]]:
    """The commands that write a file and end by themselves."""
    return {
        "timeline": ["explain", "--timeline", output, capture],
        "redact": ["redact", capture, "-o", output],
        "svg": ["crowd", "--phones", "2", "--accessories", "2", "--seconds", "1", "--svg", output],
        "junit": ["test", "heart-rate", steps, "--junit", output],
        "capture": ["test", "heart-rate", steps, "--capture", output],
        "demo": ["demo", "heart-rate", "--virtual-time", "--capture", output],
    }


@pytest.mark.parametrize("command", writers(Path(), Path(), Path()))
def test_nothing_is_written_elsewhere(binary: str, capture: Path, tmp_path: Path, command: str) -> None:
    """AB-F02: every command refuses a link, a pipe, a device and a directory, and replaces a file of its own."""
    steps, victim = tmp_path / "steps.json", tmp_path / "victim"
    steps.write_text(json.dumps(STEPS))
    victim.write_text("precious")
    for name, target in [("link", victim), ("dangling", tmp_path / "nothing"), ("null", Path("/dev/null"))]:
        (tmp_path / name).symlink_to(target)
        tried = ran(binary, *writers(capture, steps, tmp_path / name)[command])
        assert tried.returncode == 1 and "symbolic link" in tried.stderr, tried.stderr
    os.mkfifo(tmp_path / "pipe")
    for path in [tmp_path / "pipe", tmp_path, Path("/dev/full")]:
        tried = ran(binary, *writers(capture, steps, path)[command])
        assert tried.returncode == 1 and "cannot write" in tried.stderr, tried.stderr
    assert victim.read_text() == "precious" and not (tmp_path / "nothing").exists()
    done = ran(binary, *writers(capture, steps, victim)[command])
    assert done.returncode == 0 and victim.read_bytes() not in (b"", b"precious"), done.stderr
    assert not [each.name for each in tmp_path.iterdir() if each.name.startswith(".harald")]


def test_no_command_replaces_what_it_reads(binary: str, capture: Path, tmp_path: Path) -> None:
    """AB-F02: a timeline, a redacted copy, results and a new capture do not take the place of the input."""
    before, steps = capture.read_bytes(), tmp_path / "steps.json"
    steps.write_text(json.dumps(STEPS))
    (tmp_path / "alias").symlink_to(capture)
    for arguments in [
        ["explain", "--timeline", capture, capture], ["redact", capture, "-o", capture],
        ["explain", "--timeline", capture, tmp_path / "alias"], ["test", "heart-rate", steps, "--junit", steps],
        ["test", "heart-rate", steps, "--capture", steps],
        ["scan", "--controller", f"capture:{capture}", "--capture", capture, "--timeout", "1"],
    ]:  # fmt: skip
        tried = ran(binary, *arguments)
        assert tried.returncode == 1 and "a file that this command reads" in tried.stderr, (arguments, tried.stderr)
    assert capture.read_bytes() == before and json.loads(steps.read_text()) == STEPS


def test_a_redaction_that_fails_leaves_the_file_alone(binary: str, capture: Path, tmp_path: Path) -> None:
    """AB-F02: standard input, a pipe and something else than a capture are refused, and the earlier copy stays."""
    output, pipe = tmp_path / "copy.btsnoop", tmp_path / "pipe"
    os.mkfifo(pipe)
    for source in ["-", pipe, __file__, tmp_path, tmp_path / "nothing", "/dev/zero"]:
        output.write_text("precious")
        with capture.open("rb") as file:
            tried = ran(binary, "redact", source, "-o", output, stdin=file.fileno())
        assert tried.returncode == 1 and output.read_text() == "precious", (source, tried.stderr)
    assert ran(binary, "redact", capture, "-o", output).returncode == 0


@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "/dev/tty", "."])
def test_nothing_waits_for_a_file_that_is_none(binary: str, tmp_path: Path, kind: str) -> None:
    """AB-F03: each option that names a file to read refuses a pipe, a device and a directory at once."""
    path = str(tmp_path / "pipe") if kind == "pipe" else kind
    os.mkfifo(tmp_path / "pipe")
    service = ["service", "--controller", "tcp:127.0.0.1:1", "--socket", tmp_path / "socket"]
    for arguments in [
        [*service, "--energy", path], [*service, "--policy", path], ["serve", path], ["test", path],
        ["test", path, path], ["test", "heart-rate", path], ["scan", "--controller", f"capture:{path}"],
        ["redact", path, "-o", tmp_path / "copy"],
    ]:  # fmt: skip
        tried = ran(binary, *arguments)
        assert tried.returncode not in (0, None) and tried.stderr.count("\n") < 10, (arguments, tried.stderr)


def test_a_capture_from_a_pipe_can_be_interrupted(binary: str, tmp_path: Path) -> None:
    """AB-F03: explain reads a pipe, as of a process substitution, and ends by a signal while nothing comes."""
    os.mkfifo(tmp_path / "pipe")
    process = subprocess.Popen([binary, "explain", str(tmp_path / "pipe")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(SECONDS) == -signal.SIGTERM
