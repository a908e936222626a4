"""Child processes that end with the test in any case, and whose output is kept for its report."""
from __future__ import annotations

import asyncio
import ctypes
import re
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


def die_with_parent() -> None:
    """Runs in the child: makes the kernel kill it if the test run is killed and cannot clean up."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    def __init__(self, child: asyncio.subprocess.Process, name: str, mute: str | None) -> None:
        self.child, self.name, self.mute = child, name, mute
        self.out: list[str] = []
        self.err: list[str] = []
        self._changed = asyncio.Event()
        self._readers = [
            asyncio.create_task(self._read(child.stdout, self.out, "")),
            asyncio.create_task(self._read(child.stderr, self.err, "! ")),
        ]

    async def _read(self, stream: asyncio.StreamReader, lines: list[str], mark: str) -> None:
        while line := await stream.readline():
            lines.append(line.decode(errors="replace").rstrip("\n"))
            # pytest shows the output if the test fails.
            if not self.mute or not re.search(self.mute, lines[-1]):
                print(f"[{self.name}] {mark}{lines[-1]}", file=sys.stderr)
            self._changed.set()
        self._changed.set()

    @property
    def output(self) -> str:
        return "\n".join(self.out)

    @property
    def errors(self) -> str:
        return "\n".join(self.err)

    async def line(self, pattern: str, timeout: float = 30) -> re.Match[str]:
        """Waits for a line of either stream that matches, and returns the match."""
        return (await self.lines(pattern, 1, timeout))[0]

    async def lines(self, pattern: str, count: int, timeout: float = 30) -> list[re.Match[str]]:
        """Waits for `count` lines of either stream that match, and returns the matches."""

        def find() -> list[re.Match[str]]:
            return [match for text in self.out + self.err if (match := re.search(pattern, text))]

        return await self._until(find, count, f"lines that match {pattern!r}", timeout)

    async def shows(self, pattern: str, timeout: float = 30) -> re.Match[str]:
        """Waits until the output matches, in which the lines of both streams follow each other. Returns the match."""

        def find() -> list[re.Match[str]]:
            match = re.search(pattern, "\n".join(self.out + self.err), re.MULTILINE)
            return [match] if match else []

        return (await self._until(find, 1, f"texts that match {pattern!r}", timeout))[0]

    async def _until(
        self, find: Callable[[], list[re.Match[str]]], count: int, what: str, timeout: float
    ) -> list[re.Match[str]]:
        deadline = time.monotonic() + timeout
        while True:
            ended = all(reader.done() for reader in self._readers)
            if len(matches := find()) >= count:
                return matches
            remaining = deadline - time.monotonic()
            if ended or remaining <= 0:
                why = f"ended with {self.child.returncode}" if ended else f"ran for {timeout} s"
                raise AssertionError(f"{self.name} {why} and printed {len(matches)} of {count} {what}")
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), remaining)
            except TimeoutError:
                pass

    def type(self, text: str) -> None:
        """Types a line on its keyboard."""
        print(f"[{self.name}] < {text}", file=sys.stderr)
        self.child.stdin.write(f"{text}\n".encode())

    async def status(self, timeout: float = 20) -> int:
        """Waits for the process to end by itself, and returns the exit status."""
        try:
            await asyncio.wait_for(self.child.wait(), timeout)
        except TimeoutError:
            raise AssertionError(f"{self.name} still runs after {timeout} s") from None
        await asyncio.gather(*self._readers)
        return self.child.returncode

    async def gone(self, with_signal: int, timeout: float = 20) -> int:
        """Ends it by a signal, and returns the exit status. Programs that it has started may still hold its streams."""
        if self.child.returncode is None:
            self.child.send_signal(with_signal)
        deadline = time.monotonic() + timeout
        while self.child.returncode is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"{self.name} still runs {timeout} s after signal {with_signal}")
            await asyncio.sleep(0.01)
        return self.child.returncode

    async def stop(self, with_signal: int = signal.SIGTERM, timeout: float = 5) -> int:
        """Asks it to end, kills it if it does not, and returns the exit status."""
        if self.child.returncode is None:
            self.child.send_signal(with_signal)
        try:
            return await self.status(timeout)
        except AssertionError:
            await self.kill()
            raise

    async def kill(self) -> None:
        if self.child.returncode is None:
            self.child.kill()
        await self.child.wait()
        # A child of the process may hold the pipes open.
        await asyncio.wait(self._readers, timeout=1)
        self.child._transport.close()


@asynccontextmanager
async def running(
    *command: str, name: str, mute: str | None = None, has_keyboard: bool = False, keyboard: int | None = None
) -> AsyncIterator[Process]:
    """Runs a command for the length of an `async with`. Lines that match `mute` are not shown. `keyboard` is the end
    of a pipe or terminal to read from, instead of the pipe that `type` writes to."""
    without = asyncio.subprocess.DEVNULL if keyboard is None else keyboard
    child = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE if has_keyboard else without,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=die_with_parent,
    )
    process = Process(child, name, mute)
    try:
        yield process
    finally:
        if child.returncode is None:
            child.terminate()
            try:
                await asyncio.wait_for(child.wait(), 3)
            except TimeoutError:
                print(f"[{process.name}] ignored SIGTERM and was killed", file=sys.stderr)
        await process.kill()
