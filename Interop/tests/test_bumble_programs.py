"""Bumble's examples and apps with Harald, in both roles, as `bumble-programs.txt` lists them."""
from __future__ import annotations

import asyncio
import os
import re
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from string import Template

import pytest
from websockets.asyncio.client import connect

from conftest import Start
from peers.ports import HOST, free_ports, wait_until_listening
from peers.processes import Process, running
from peers.program import programs

INTEROP = Path(__file__).parents[1]
LIST = INTEROP / "bumble-programs.txt"
IS_THOROUGH = bool(os.environ.get("HARALD_THOROUGH"))
ACCESSORIES = {"serve", "advertise", "channel"}


@dataclass(frozen=True)
class Line:
    """A line of the list: commands, and the expressions that each must print."""

    text: str
    in_sample: bool
    bumble: list[str]
    harald: str
    tool: str
    bumble_prints: list[list[str]]
    harald_prints: list[str]

    @property
    def starts_with_harald(self) -> bool:
        words = shlex.split(self.harald)
        return words[0] in ACCESSORIES and "--to" not in words

    @property
    def names(self) -> list[str]:
        """The programs that it runs."""
        return [next(word for word in shlex.split(each) if word in programs()) for each in self.bumble]


def expressions(text: str) -> list[str]:
    return [each for each in re.split(r" & ", text.strip()) if each]


def columns(text: str) -> list[str]:
    return [each.strip() for each in re.split(r" \|(?= |$)", text)]


def line(text: str) -> Line:
    bumble, _, harald, bumble_prints, harald_prints = columns(text.lstrip("* "))
    harald, _, tool = harald.partition(" while ")
    shown = [expressions(each) for each in f" {bumble_prints} ".split(" then ")]
    return Line(text, text.startswith("*"), bumble.split(" then "), harald, tool, shown, expressions(harald_prints))


TEXTS = [text for text in LIST.read_text().splitlines() if text and not text.startswith("#")]
LEFT_OUT = {columns(text)[0]: columns(text)[2] for text in TEXTS if columns(text)[1] == "left out"}
LINES = [line(text) for text in TEXTS if columns(text)[1] != "left out"]


def test_each_program_of_bumble_is_in_the_list_once() -> None:
    """Bumble's examples and apps either run or are left out for a reason, and a new version cannot add one silently."""
    running = {name for each in LINES for name in each.names}
    assert running.isdisjoint(LEFT_OUT)
    assert running | LEFT_OUT.keys() == programs()
    assert all(LEFT_OUT.values())


# --- tools that a line runs beside the programs


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while octets := await reader.read(65_536):
        writer.write(octets)
    writer.close()


async def socket(port: str, text: str) -> None:
    """Sends a text to a TCP port, and expects it back."""
    await wait_until_listening([int(port)])
    reader, writer = await asyncio.open_connection(HOST, int(port))
    writer.write(text.encode())
    assert await reader.readexactly(len(text)) == text.encode()
    writer.close()


async def web(port: str, *messages: str) -> None:
    """Sends the messages of a web page in turn, twice a second, until it is cancelled."""
    await wait_until_listening([int(port)])
    async with connect(f"ws://localhost:{port}") as page:
        while True:
            for message in messages:
                await page.send(message)
                await asyncio.sleep(0.5)


async def type_lines(program: Process, *lines: str) -> None:
    """Types lines in turn, one every two seconds, until it is cancelled."""
    while True:
        for each in lines:
            program.type(f"{each}\r")
            await asyncio.sleep(2)


@asynccontextmanager
async def beside(program: Process, words: list[str]) -> AsyncIterator[None]:
    """Runs a tool beside the program: `socket` to its end, any other for as long as the program runs."""
    name, *arguments = words or [""]
    if name == "socket":
        await socket(*arguments)
    task = asyncio.create_task(
        web(*arguments) if name == "web" else type_lines(program, *arguments) if name == "type" else asyncio.sleep(0)
    )
    yield
    task.cancel()
    await asyncio.wait([task])


# --- a line


class Stage:
    """The programs of a line on their radio, and the variables of its commands."""

    def __init__(self, line: Line, harald: Start, directory: Path, stack: AsyncExitStack) -> None:
        self.line, self.harald, self.directory, self.stack = line, harald, directory, stack
        port, other = free_ports(2)
        accessories = str(INTEROP / "accessories")
        self.variables = {"tmp": str(directory), "accessories": accessories, "port": str(port), "port2": str(other)}

    def words(self, command: str) -> list[str]:
        return [Template(word).safe_substitute(self.variables) for word in shlex.split(command)]

    async def prepare(self) -> None:
        radio = await self.stack.enter_async_context(self.harald("controllers", "--listen", "0"))
        port = (await radio.line(r"listening on .*?(\d+)\D*$"))[1]
        self.variables |= {"hci": f"tcp-client:{HOST}:{port}", "radio": f"tcp:{HOST}:{port}"}
        server = await self.stack.enter_async_context(await asyncio.start_server(echo, HOST, 0))
        self.variables["echo"] = str(server.sockets[0].getsockname()[1])

    async def begin_harald(self) -> Process:
        verb, *options = self.words(self.line.harald)
        where = ["--controller", self.variables["radio"]]
        if "--controller" in options:
            # A controller of Bumble.
            await wait_until_listening([int(self.variables["port"])])
            where = []
        process = await self.stack.enter_async_context(self.harald(verb, *where, *options))
        if self.line.starts_with_harald:
            await process.line("(?i)advertising")
            await self.expect(process, [each for each in self.line.harald_prints if "?P<" in each])
        return process

    def bumble(self, command: str) -> AbstractAsyncContextManager[Process]:
        words = self.words(command)
        log = "DEBUG" if "--debug" in words else "INFO"
        settings = [f"XDG_DATA_HOME={self.directory}", f"BUMBLE_LOGLEVEL={log}", f"PYTHONPATH={INTEROP}"]
        rest = [each for each in words if each != "--debug"]
        command = ["env", *settings, sys.executable, "-u", "-m", "peers.program", *rest]
        return running(*command, name="bumble", has_keyboard="--terminal" in words)

    async def expect(self, process: Process, prints: list[str]) -> None:
        for each in prints:
            match = await process.shows(Template(each).safe_substitute(self.variables))
            self.variables |= match.groupdict()
        assert "Traceback" not in process.errors or any("Error" in each for each in prints)

    async def play(self) -> None:
        await self.prepare()
        ours = await self.begin_harald() if self.line.starts_with_harald else None
        # A client of Bumble's first program does its work with that one, and an accessory serves all of them.
        last = self.line.bumble[-1 if ours else 0]
        for command, prints in zip(self.line.bumble, self.line.bumble_prints, strict=True):
            async with self.bumble(command) as theirs:
                ours = ours or await self.begin_harald()
                async with beside(theirs, self.words(self.line.tool)):
                    await self.expect(theirs, prints)
                    if command == last:
                        await self.finish(ours)

    async def finish(self, process: Process) -> None:
        """Expects what harald prints, and that it ends well: an accessory when it is asked to, anything else by itself."""
        if not self.line.starts_with_harald:
            assert await process.status() == 0
        await self.expect(process, self.line.harald_prints)
        if self.line.starts_with_harald:
            assert await process.stop() == 0


@pytest.mark.deadline(60)
@pytest.mark.parametrize("line", [pytest.param(each, id=each.text) for each in LINES if IS_THOROUGH or each.in_sample])
async def test_bumbles_programs_work_with_harald(line: Line, harald: Start, tmp_path: Path) -> None:
    """A program of Bumble and a command of harald do together what the list says."""
    async with AsyncExitStack() as stack:
        await Stage(line, harald, tmp_path, stack).play()
