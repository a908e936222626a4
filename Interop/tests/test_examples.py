"""The programs of Examples, as programs."""
from __future__ import annotations

import os
import re
import signal
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from conftest import Start
from peers.controllers import controllers
from peers.processes import running
from test_service import service


@pytest.mark.parametrize("name, arguments, report", [
    ("heart-rate", [], "searching"), ("text-transfer", ["receive"], "searching"), ("thermometer", [], "advertising"),
    ("file-transfer", ["fetch", "copy"], "searching"),
])  # fmt: skip
async def test_an_example_prints_at_once(binary: str, tmp_path: Path, name: str, arguments: list[str], report: str) -> None:
    """Standard output is no terminal, as under systemd."""
    program = Path(binary).with_name(name)
    if not program.exists():
        pytest.skip(f"{program} is not built")
    words = [str(tmp_path / each) if each == "copy" else each for each in arguments]
    async with controllers() as air:
        environment = {**os.environ, "HARALD_CONTROLLER": air.address, "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}
        async with running("env", *[f"{key}={value}" for key, value in environment.items()], str(program), *words, name=name) as process:
            await process.line(f"^{report}$")
            assert process.child.returncode is None


@pytest.mark.parametrize("place", ["embedded", "service"])
async def test_a_program_says_what_it_should_do_better_when_it_is_interrupted(harald: Start, binary: str, tmp_path: Path, place: str) -> None:
    """With a service of its own, and with one in another process."""
    program = Path(binary).with_name("text-transfer")
    if not program.exists():
        pytest.skip(f"{program} is not built")
    async with controllers() as air, AsyncExitStack() as stack:
        where = {"HARALD_CONTROLLER": air.address}
        if place == "service":
            await stack.enter_async_context(service(harald, air.address, tmp_path))
            where = {"HARALD_SERVICE": str(tmp_path / "service")}
        environment = {**os.environ, **where, "HARALD_ADVICE": "1", "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}
        words = [f"{key}={value}" for key, value in environment.items()]
        async with running("env", *words, str(program), "send", "hello", name="text-transfer") as process:
            await process.line("^advertising$")
            assert await process.gone(signal.SIGINT, timeout=60) == -signal.SIGINT
            await process.line(r"^== Harald: text-transfer could do better in one way ==$")
            await process.line(r"^12\.15 text-transfer advertised within .* \(TextSender\.swift:\d+\)\. Start advertising when")


@pytest.mark.parametrize("name, peripheral, central, end", [
    ("text-transfer", ["send", "hello"], ["receive"], "^disconnected$"), ("file-transfer", ["offer", "sent"], ["fetch", "copy"], "^disconnected$"),
    ("heart-rate", None, [], r"^heartRate\(\d+\)$"),
])  # fmt: skip
async def test_programs_that_meet_get_no_advice_but_hints(
    binary: str, tmp_path: Path, name: str, peripheral: list[str] | None, central: list[str], end: str
) -> None:
    program = Path(binary).with_name(name)
    if not program.exists():
        pytest.skip(f"{program} is not built")
    (tmp_path / "sent").write_bytes(bytes(10_000))
    async with controllers() as air:
        def command(role: str, words: list[str]) -> list[str]:
            (tmp_path / role).mkdir(mode=0o700)
            environment = {"HARALD_ADVICE": "1", "HARALD_CONTROLLER": air.address, "XDG_RUNTIME_DIR": f"{tmp_path}/{role}", "HOME": f"{tmp_path}/{role}"}
            words = [str(tmp_path / each) if each in ("sent", "copy") else each for each in words]
            return ["env", *[f"{key}={value}" for key, value in {**os.environ, **environment}.items()], str(program), *words]

        device = [binary, "serve", "--controller", air.address, "--answer", "no"] if peripheral is None else command("peripheral", peripheral)
        async with running(*device, name="peripheral") as server, running(*command("central", central), name="central") as client:
            await client.line(end)
            for process in [client, server] if peripheral else [client]:
                assert await process.stop(signal.SIGINT, timeout=60) == -signal.SIGINT
                # The machine may stop any callback (12.29).
                assert [line for line in process.err if re.match(r"12\.(?!29 )\d+ ", line) and not line.endswith("(A hint only.)")] == []
