"""How often a process wakes: each time one of its threads had nothing to do, and then something (proc_pid_status(5))."""
from __future__ import annotations

from pathlib import Path

# A shell prints it, of the process in $p.
COUNT = "cat /proc/$p/task/*/status | awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }'"


def wakes(process: int) -> int:
    """How often until now, all threads together."""
    found = 0
    for status in Path(f"/proc/{process}/task").glob("*/status"):
        found += next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("voluntary_ctxt"))
    return found
