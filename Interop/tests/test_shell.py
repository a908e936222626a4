"""`harald shell`: at a terminal, with libedit, and with a pipe as its input."""
from __future__ import annotations

import ctypes
import signal
import stat
from pathlib import Path

import pytest

from conftest import Start
from peers.controllers import controllers
from peers.database import BODY_SENSOR_LOCATION, NOTE, text
from peers.pairing import NOTHING, Pairing
from peers.peripheral import NAME, peripheral
from peers.processes import Process
from peers.terminal import Terminal, at_terminal
from test_client_verbs import documents
from test_service import service

NOT_FOUND, USAGE, INTERRUPTED, TERMINATED = 5, 64, 130, 143
TAB, UP, CTRL_C, CTRL_D = "\t", "\x1b[A", "\x03", "\x04"
LOCATION = text(BODY_SENSOR_LOCATION)


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "service")


@pytest.fixture
def editor() -> None:
    """Swift's debugger depends on libedit, so wherever Swift is installed, there is one."""
    try:
        ctypes.CDLL("libedit.so.2")
    except OSError:
        pytest.skip("there is no libedit.so.2: `apt-get install libedit2`")


def give(process: Process, *lines: str | bytes) -> None:
    """Writes the whole input."""
    for line in lines:
        process.child.stdin.write(line if isinstance(line, bytes) else f"{line}\n".encode())
    process.child.stdin.close()


# --- a pipe ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("own", [False, True], ids=["service", "controller"])
async def test_lines_of_a_pipe_share_a_connection(harald: Start, tmp_path: Path, place: str, own: bool) -> None:
    """The device stays connected from `connect` to the end, and standard output has results only."""
    async with controllers() as air, peripheral(air.transport) as sensor, service(harald, air.address, tmp_path):
        where = ("--controller", air.address) if own else ("--service", place)
        async with harald("shell", *where) as shell:
            give(
                shell,
                "# comment",
                f"connect '{NAME.lower()}'",
                f'read "{NAME}" {LOCATION}',
                f"write foreign {text(NOTE)} --text on",
                "follow foreign 2A37 --count 2",
                "devices",
            )
            assert await shell.status() == 0
        await sensor.event("disconnection")
        assert len(sensor.seen("connection")) == 1
        assert shell.err == [] and "wrist" in shell.out and "harald>" not in shell.output
        assert f"wrote 2 octets to {text(NOTE)}" in shell.out
        assert any(NAME in line and "connected" in line and "seen" in line for line in shell.out)
        assert shell.out[-1] == "disconnected" and shell.out.count("connected") == 1


async def test_the_first_failure_of_a_pipe_is_the_status(harald: Start, tmp_path: Path, place: str) -> None:
    async with controllers() as air, peripheral(air.transport), service(harald, air.address, tmp_path):
        lines = (f"read foreign {LOCATION}", "scan --until nobody --timeout 1", "raed x", f"read foreign {LOCATION}")
        async with harald("shell", "--service", place) as shell:
            give(shell, *lines)
            assert await shell.status() == NOT_FOUND
        assert shell.out.count("wrist") == 1
        async with harald("shell", "--service", place, "--keep-going", "--json") as shell:
            give(shell, *lines)
            assert await shell.status() == NOT_FOUND
        values = [each for each in documents(shell) if each["event"] == "value"]
        assert [each["text"] for each in values] == ["wrist", "wrist"]
        assert 'there is no command "raed"; did you mean `read`?' in shell.errors
        async with harald("shell", "--service", place) as shell:
            give(shell, "help", "read --help", "quit", "banana")
            assert await shell.status() == 0
        assert "disconnect" in shell.output and "USAGE: read" in shell.output and shell.err == []


async def test_hostile_lines_are_errors(harald: Start, tmp_path: Path, place: str) -> None:
    """Each is refused, and the next one runs."""
    hostile = [
        b"read \xff\xfe 2A38\n", b"re\0ad x\n", b"read 'x\n", b"read x\\\n", b"x" * 100_000 + b"\n", b"\x1b[2J\n",
        b"scan --timeout nan\n", b"scan --controller hci0\n", b"write x 2A38 xyz\n", b"--help\n", b"-- x\n", b"''\n",
        b"help '\x07'\n", b"read x 2A38 'unfinished",
    ]  # fmt: skip
    async with controllers() as air, service(harald, air.address, tmp_path):
        for line in hostile:
            async with harald("shell", "--service", place) as shell:
                give(shell, line)
                assert await shell.status() == USAGE, line
            assert shell.out == [] and shell.err and "\x1b" not in shell.errors, line
        async with harald("shell", "--service", place, "--keep-going") as shell:
            give(shell, *hostile[:-1], "devices", hostile[-1])
            assert await shell.status() == USAGE
        assert shell.out == ["no devices"] or len(shell.out) == 1


async def test_signals_end_a_shell_with_a_pipe(harald: Start, tmp_path: Path, place: str) -> None:
    """While a command runs, and while the shell waits for a line. Links are closed."""
    async with controllers() as air, peripheral(air.transport) as sensor, service(harald, air.address, tmp_path):
        for number, status in ((signal.SIGINT, INTERRUPTED), (signal.SIGTERM, TERMINATED)):
            for line in ("follow foreign 2A37", "devices"):
                async with harald("shell", "--service", place) as shell:
                    shell.type("connect foreign")
                    shell.type(line)
                    await shell.line("bpm" if line != "devices" else "seen")
                    assert await shell.stop(number) == status
                    await sensor.event("disconnection")
                assert shell.out[-1] == "disconnected" and shell.err == []


async def test_goes_on_with_the_next_service(harald: Start, tmp_path: Path, place: str) -> None:
    """While there is none, each command says so, and nothing else is printed."""
    async with controllers() as air, peripheral(air.transport):
        async with service(harald, air.address, tmp_path) as host:
            async with harald("shell", "--service", place, "--keep-going") as shell:
                shell.type(f'read "{NAME}" {LOCATION}')
                await shell.line("wrist")
                await host.gone(signal.SIGKILL)
                shell.type("devices")
                await shell.line("harald: no service is running at ")
                async with service(harald, air.address, tmp_path):
                    shell.type(f'read "{NAME}" {LOCATION}')
                    await shell.lines("wrist", 2)
                    shell.type("quit")
                    assert await shell.status() == 1
                assert len(shell.err) == 1


async def test_a_controller_that_is_missing_is_the_error_of_the_shell(harald: Start) -> None:
    async with harald("shell", "--controller", "tcp:127.0.0.1:1") as shell:
        give(shell, "scan")
        assert await shell.status() == 3
    assert "cannot reach the controller" in shell.errors


# --- a terminal ------------------------------------------------------------------------------------------------------


async def prompt(terminal: Terminal, device: str = "") -> str:
    return await terminal.sees(f"harald [{device}]> " if device else "harald> ")


async def test_edits_completes_and_remembers(
    harald: Start, binary: str, tmp_path: Path, place: str, editor: None
) -> None:
    home = tmp_path / "state"
    async with controllers() as air, peripheral(air.transport) as sensor, service(harald, air.address, tmp_path):
        async with at_terminal(binary, "shell", "--service", place, XDG_STATE_HOME=str(home)) as terminal:
            await prompt(terminal)
            terminal.type(f"sc{TAB}--unt{TAB}{NAME[:3]}\n")
            await terminal.sees("--until ")
            await terminal.sees("connectable")
            await prompt(terminal)
            terminal.type(f"connect {NAME[:3].lower()}{TAB}\n")
            await terminal.sees(f'"{NAME}" ')
            await prompt(terminal, NAME)
            terminal.type(f"rx\x7fead {NAME[:3].lower()}{TAB}body{TAB}\n")
            await terminal.sees('"Body Sensor Location" ')
            await terminal.sees("wrist")
            await prompt(terminal, NAME)
            terminal.type(UP)
            await terminal.sees("Body Sensor Location")
            terminal.type(f"{CTRL_C} write foreign {text(NOTE)} 7a\n")
            await terminal.sees("wrote 1 octet")
            await prompt(terminal, NAME)
            terminal.type("pair foreign --answer 123456\n")
            await terminal.sees("cannot be given in the shell")
            await prompt(terminal, NAME)
            terminal.type("disc" + TAB + "\n")
            await terminal.sees("disconnected")
            await prompt(terminal)
            terminal.type(CTRL_D)
            assert await terminal.status() == 0
        history = home / "harald" / "shell-history"
        kept = history.read_text().splitlines()
        assert kept == [
            f"scan --until {NAME[:3]}",
            f'connect "{NAME}" ',
            f'read "{NAME}" "Body Sensor Location" ',
            "disconnect ",
        ]
        assert stat.S_IMODE(history.stat().st_mode) == 0o600
        async with at_terminal(binary, "shell", "--service", place, XDG_STATE_HOME=str(home)) as terminal:
            await prompt(terminal)
            terminal.type(UP + UP + UP + UP + "\n")
            await terminal.sees("connectable")
            await prompt(terminal)
            terminal.type("quit\n")
            assert await terminal.status() == 0


async def test_ctrl_c_ends_the_command_and_not_the_shell(
    harald: Start, binary: str, tmp_path: Path, place: str, editor: None
) -> None:
    """The link that `connect` made stays. At the end, and when the terminal is terminated, it is closed."""
    async with controllers() as air, peripheral(air.transport) as sensor, service(harald, air.address, tmp_path):
        command = (binary, "shell", "--service", place)
        async with at_terminal(*command, XDG_STATE_HOME=str(tmp_path)) as terminal:
            await prompt(terminal)
            terminal.type("connect foreign\n")
            await prompt(terminal, NAME)
            for _ in range(2):
                terminal.type("follow foreign 2A37\n")
                await terminal.sees("bpm")
                terminal.type(CTRL_C)
                # The terminal shows ^C; the prompt begins a line.
                shown = (await prompt(terminal, NAME)).removesuffix(f"harald [{NAME}]> ")
                assert "^C" in shown and shown.rstrip("\r").endswith("\n"), shown
            terminal.type("scan --timeout 60\n")
            await terminal.sees("scanning")
            terminal.type(CTRL_C)
            await prompt(terminal, NAME)
            assert len(sensor.seen("connection")) == 1 and not sensor.seen("disconnection")
            terminal.type("quit\n")
            await terminal.sees("disconnected")
            assert await terminal.status() == 0
            await sensor.event("disconnection")
        async with at_terminal(*command, XDG_STATE_HOME=str(tmp_path)) as terminal:
            await prompt(terminal)
            terminal.type("connect foreign\n")
            await prompt(terminal, NAME)
            terminal.child.send_signal(signal.SIGTERM)
            assert await terminal.status() == TERMINATED
            await sensor.event("disconnection")


async def test_names_cannot_control_the_terminal(
    harald: Start, binary: str, tmp_path: Path, place: str, editor: None
) -> None:
    """Neither in the prompt, nor in completions."""
    name = "a\x1b[2J\x07b"
    async with controllers() as air, peripheral(air.transport, name), service(harald, air.address, tmp_path):
        async with at_terminal(binary, "shell", "--service", place, XDG_STATE_HOME=str(tmp_path)) as terminal:
            await prompt(terminal)
            terminal.type("connect service:180D\n")
            await terminal.sees("harald [a\\u{1b}[2J\\u{7}b]> ")
            terminal.type(f"read {TAB}")
            await terminal.sees("-")
            assert "\x07" not in terminal.shown
            terminal.type(f"{CTRL_C}{CTRL_D}")
            assert await terminal.status() == 0


async def test_answers_a_prompt_at_the_terminal(binary: str, tmp_path: Path, editor: None) -> None:
    """The question appears while `pair` runs, and its answer is no line of the shell."""
    async with controllers() as air, peripheral(air.transport, pairing=Pairing(NOTHING)):
        async with at_terminal(
            binary, "shell", "--controller", air.address, XDG_STATE_HOME=str(tmp_path)
        ) as terminal:
            await prompt(terminal)
            terminal.type("pair foreign\n")
            await terminal.sees("yes or no")
            terminal.type("no\n")
            await terminal.sees("is not secured")
            await prompt(terminal)
            terminal.type("pair foreign\n")
            await terminal.sees("yes or no")
            terminal.type("yes\n")
            await terminal.sees("paired: ")
            await prompt(terminal)
            terminal.type("devices\n")
            await prompt(terminal)
            terminal.type(CTRL_D)
            assert await terminal.status() == 0
        assert (tmp_path / "harald" / "shell-history").read_text().split() == ["pair", "foreign", "devices"]


async def test_a_terminal_without_libedit_has_plain_lines(
    harald: Start, binary: str, tmp_path: Path, place: str
) -> None:
    """The loader finds no library of that name, as where it is not installed."""
    decoy = tmp_path / "decoy"
    decoy.mkdir()
    for name in ("libedit.so.2", "libedit.so.0"):
        (decoy / name).write_text("not a library")
    async with controllers() as air, service(harald, air.address, tmp_path):
        async with at_terminal(
            binary, "shell", "--service", place, LD_LIBRARY_PATH=str(decoy), XDG_STATE_HOME=str(tmp_path)
        ) as terminal:
            await terminal.sees("`apt-get install libedit2` installs it")
            await prompt(terminal)
            terminal.type("devices\n")
            await terminal.sees("no devices")
            await prompt(terminal)
            terminal.type(CTRL_C)
            await prompt(terminal)
            terminal.type(CTRL_D)
            assert await terminal.status() == 0
