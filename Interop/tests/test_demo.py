"""`harald demo`: Harald's heart rate sensor and app, as decoded by tshark."""
from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from checks import CCCD_NOTIFY, NOTIFICATION, WRITE_REQUEST, values
from conftest import Start
from peers import captures

Capture = Callable[[str], Path]


async def demo(harald: Start, *arguments: str) -> None:
    async with harald("demo", *arguments) as process:
        assert await process.status(timeout=25) == 0


def of_sensor(path: Path) -> Path:
    return path.with_suffix(f".sensor{path.suffix}")


@pytest.mark.parametrize("clock", [("--virtual-time",), ()], ids=["virtual-time", "real-time"])
async def test_tshark_reads_the_demo_on_both_sides(harald: Start, capture: Capture, clock: tuple[str, ...]) -> None:
    central_log = capture("heart")
    sensor_log = capture("heart.sensor")
    await demo(harald, *clock, "--seed", "7", "--capture", str(central_log))
    assert sensor_log == of_sensor(central_log)

    heard = captures.advertising(central_log)
    assert any("180D" in each.uuids and each.rssi is not None for each in heard)
    assert any("180D" in each.uuids and each.rssi is None for each in captures.advertising(sensor_log))

    subscriptions = values(central_log, WRITE_REQUEST)
    assert CCCD_NOTIFY in subscriptions
    beats = values(central_log, NOTIFICATION)
    assert beats, "the demo has no notification"
    # One side received what the other side sent, in the same order; the last ones may be in flight at the end.
    assert values(sensor_log, NOTIFICATION)[: len(beats)] == beats
    assert subscriptions == values(sensor_log, WRITE_REQUEST)


async def test_the_same_seed_gives_the_same_bytes(harald: Start, capture: Capture) -> None:
    logs = [capture(name) for name in ("first", "second", "other")]
    for log, seed in zip(logs, ("1", "1", "2")):
        await demo(harald, "--virtual-time", "--seed", seed, "--capture", str(log))
    first, second, other = ((log.read_bytes(), of_sensor(log).read_bytes()) for log in logs)
    assert first == second
    assert first[0] != other[0] and first[1] != other[1]


@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", "<&- >&- 2>&-"])
def test_no_file_takes_the_place_of_a_closed_stream(binary: str, tmp_path: Path, closed: str) -> None:
    """The output of the program would go into the capture."""
    logs = tmp_path / "usual.pcap", tmp_path / "closed.pcap"
    for log, streams in zip(logs, ("", closed)):
        command = f'exec "$0" demo background --air "$1" {streams}'
        subprocess.run(["bash", "-c", command, binary, log], check=True, capture_output=True, timeout=30)
    assert logs[0].read_bytes() == logs[1].read_bytes()


def test_faults_can_be_typed_at_a_terminal(binary: str) -> None:
    keyboard, terminal = pty.openpty()
    with subprocess.Popen([binary, "demo"], stdin=terminal, stdout=subprocess.PIPE, text=True) as run:
        os.write(keyboard, b"?\nlossy=2\nout-of-range\nend out-of-range\n")
        told = (line.split("  fault   ")[1].strip() for line in run.stdout if "  fault   " in line)
        first, second, *rest = (next(told) for _ in range(4))
        run.kill()
    os.close(keyboard)
    os.close(terminal)
    assert first.startswith("faults: out-of-range, lossy[=0.5], ")
    assert "write a share of packets from 0 to 1" in second
    assert rest == ["fault: out-of-range", "end out-of-range"]


def test_the_small_demo_tells_the_same(binary: str) -> None:
    """`harald-demo` builds in half the time of `harald`. Its beginning is enough, since it runs in real time."""
    tool = subprocess.run([binary, "demo", "--virtual-time"], capture_output=True, text=True, check=True, timeout=30)
    with subprocess.Popen([f"{binary}-demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as small:
        beginning = [small.stdout.readline() for _ in range(25)]
        small.kill()
        assert small.stderr.read() == ""
    assert beginning == tool.stdout.splitlines(keepends=True)[:25]
