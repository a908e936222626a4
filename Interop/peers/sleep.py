"""Counts the wakeups of a process: each time one of its threads was idle, and then not (proc_pid_status(5))."""
from __future__ import annotations

from pathlib import Path

# For a shell, with the process in $p.
COUNT = "cat /proc/$p/task/*/status | awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }'"


def wakes(process: int) -> int:
    """The number of wakeups so far, of all threads."""
    found = 0
    for status in Path(f"/proc/{process}/task").glob("*/status"):
        found += next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("voluntary_ctxt"))
    return found
