"""A program at a terminal: a pseudoterminal that the test types on, and whose screen it reads."""
from __future__ import annotations

import asyncio
import os
import pty
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from peers.processes import die_with_parent

# Sequences that move the cursor or clear: the terminal is one that hardly needs others.
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


class Terminal:
    def __init__(self, child: asyncio.subprocess.Process, keyboard: int) -> None:
        self.child, self.keyboard = child, keyboard
        self.shown = ""
        self._seen = 0
        self._changed = asyncio.Event()
        asyncio.get_running_loop().add_reader(keyboard, self._read)

    def _read(self) -> None:
        try:
            text = os.read(self.keyboard, 65_536)
        except OSError:  # The program has closed its side.
            text = b""
        if not text:
            asyncio.get_running_loop().remove_reader(self.keyboard)
        print(f"[terminal] {text!r}", file=sys.stderr)
        self.shown += CONTROL.sub("", text.decode(errors="replace"))
        self._changed.set()

    def type(self, keys: str | bytes) -> None:
        print(f"[terminal] < {keys!r}", file=sys.stderr)
        os.write(self.keyboard, keys.encode() if isinstance(keys, str) else keys)

    async def sees(self, text: str, timeout: float = 20) -> str:
        """Waits until the screen shows `text` after what was seen before. Returns what was shown up to its end."""
        async with asyncio.timeout(timeout):
            while (found := self.shown.find(text, self._seen)) < 0:
                self._changed.clear()
                await self._changed.wait()
        start, self._seen = self._seen, found + len(text)
        return self.shown[start : self._seen]

    async def status(self, timeout: float = 20) -> int:
        return await asyncio.wait_for(self.child.wait(), timeout)


@asynccontextmanager
async def at_terminal(*command: str, **environment: str) -> AsyncIterator[Terminal]:
    """Runs a command at a terminal of its own for the length of an `async with`."""
    keyboard, other = pty.openpty()

    def lead() -> None:
        die_with_parent()
        os.login_tty(0)  # The controlling terminal, whose Ctrl-C reaches the program.

    child = await asyncio.create_subprocess_exec(
        *command,
        stdin=other,
        stdout=other,
        stderr=other,
        preexec_fn=lead,
        env={**os.environ, "TERM": "vt100", **environment},
    )
    os.close(other)
    terminal = Terminal(child, keyboard)
    try:
        yield terminal
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
        asyncio.get_running_loop().remove_reader(keyboard)
        os.close(keyboard)
