"""Runs tests in a separate process, within limits."""
import dataclasses
import os
import re
import resource
import signal
import subprocess
import threading
from pathlib import Path

from .places import TREE

GIGABYTE = 1 << 30
# Makes outcomes reproducible as far as they depend on the order of sets.
ENVIRONMENT = {"SWIFT_BACKTRACE": "enable=no", "SWIFT_DETERMINISTIC_HASHING": "1"}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclasses.dataclass
class Outcome:
    #: passed, failed, crashed or hung
    name: str
    #: the test that failed, if known
    test: str
    said: list[str]
    seconds: float


def run_tests(binary: Path, suites: list[str], environment: dict[str, str], seconds: float) -> Outcome:
    """Runs the suites until the first issue. `seconds` is the limit of CPU time; the wall-clock limit is higher,
    because the machine may be busy."""
    pattern = "^(" + "|".join(re.escape(suite) for suite in suites) + ")(/|$)"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        [binary, "--testing-library", "swift-testing", "--filter", pattern], cwd=TREE,
        env=os.environ | ENVIRONMENT | environment, start_new_session=True,
        preexec_fn=lambda: limit(seconds), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    hung = threading.Event()

    def end() -> None:
        hung.set()
        kill(process)

    timer = threading.Timer(20 + 4 * seconds, end)
    timer.start()
    said, test = [], ""
    for line in process.stdout:
        said.append(COLOUR.sub("", line.rstrip()))
        if found := re.search(r"Test (\S+?|\".*?\") recorded an issue", said[-1]):
            test = found[1]
            break
    kill(process)
    timer.cancel()
    status = process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if test:
        return Outcome("failed", test, said, used)
    if hung.is_set() or status in {-signal.SIGXCPU, -signal.SIGKILL}:
        return Outcome("hung", "", said, used)
    started = [found[1] for line in said if (found := re.search(r"Test (\S+) started", line))]
    return Outcome("passed" if status == 0 else "crashed", started[-1] if started and status else "", said, used)


def limit(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 3))
    # An endless loop may consume memory or disk space too.
    resource.setrlimit(resource.RLIMIT_DATA, (2 * GIGABYTE, 2 * GIGABYTE))
    resource.setrlimit(resource.RLIMIT_FSIZE, (GIGABYTE, GIGABYTE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def kill(process: subprocess.Popen) -> None:
    """Kills a process and its children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
