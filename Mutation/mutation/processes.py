"""Runs tests in a PID namespace of their own, within limits."""
import collections
import ctypes
import dataclasses
import functools
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from .places import TREE

GIGABYTE = 1 << 30
# Makes outcomes reproducible as far as they depend on the order of sets.
ENVIRONMENT = {"SWIFT_BACKTRACE": "enable=no", "SWIFT_DETERMINISTIC_HASHING": "1"}
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# The last lines of output to keep, and the longest part of a line.
KEPT_LINES = 2_000
LONGEST_LINE = 1 << 16


@dataclasses.dataclass
class Outcome:
    #: passed, failed, crashed or hung
    name: str
    #: the test that failed, if known
    test: str
    said: list[str]
    seconds: float


def run_tests(binary: Path, suites: list[str], environment: dict[str, str], seconds: float) -> Outcome:
    """Runs the suites until the first issue. `seconds` of CPU time are allowed, and more on the clock: it may be busy.

    No process of the tests and none of their temporary files outlive the call.
    """
    with tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True) as scratch:
        return run_within(binary, suites, environment | {"TMPDIR": scratch}, seconds)


def run_within(binary: Path, suites: list[str], environment: dict[str, str], seconds: float) -> Outcome:
    pattern = "^(" + "|".join(re.escape(suite) for suite in suites) + ")(/|$)"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        [*namespace(), binary, "--testing-library", "swift-testing", "--filter", pattern], cwd=TREE,
        env=os.environ | ENVIRONMENT | environment, start_new_session=True,
        preexec_fn=lambda: limit(seconds), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    hung = threading.Event()

    def end() -> None:
        hung.set()
        kill(process)

    timer = threading.Timer(20 + 4 * seconds, end)
    timer.start()
    said: collections.deque[str] = collections.deque(maxlen=KEPT_LINES)
    test = ""
    while line := process.stdout.readline(LONGEST_LINE):
        said.append(COLOUR.sub("", line.rstrip()))
        if found := re.search(r"Test (\S+?|\".*?\") recorded an issue", said[-1]):
            test = found[1]
            break
    kill(process)
    timer.cancel()
    status = process.wait()
    # The shell of the namespace reports a signal so.
    status = 128 - status if status > 128 else status
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if test:
        return Outcome("failed", test, list(said), used)
    if hung.is_set() or status in {-signal.SIGXCPU, -signal.SIGKILL}:
        return Outcome("hung", "", list(said), used)
    started = [found[1] for line in said if (found := re.search(r"Test (\S+) started", line))]
    return Outcome("passed" if status == 0 else "crashed", started[-1] if started and status else "", list(said), used)


@functools.cache
def namespace() -> tuple[str, ...]:
    """The command that runs another one in a PID namespace: its processes end with it, and it cannot signal any other.

    A shell is process 1 of the namespace: the tests have to be a process that a service may know by its number.
    """
    as_user = () if os.geteuid() == 0 else ("--user", "--map-current-user")
    command = ("unshare", *as_user, "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", '"$@"; exit $?', "sh")
    tried = subprocess.run([*command, "true"], capture_output=True, text=True)
    if tried.returncode:
        sys.exit(f"Mutation/run: no PID namespace for the tests, {tried.stderr.strip()}; run as root, or allow user namespaces")
    return command


def limit(seconds: float) -> None:
    # When this process is killed, so is the namespace (prctl(2)).
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 3))
    # An endless loop may consume memory or disk space too.
    resource.setrlimit(resource.RLIMIT_DATA, (2 * GIGABYTE, 2 * GIGABYTE))
    resource.setrlimit(resource.RLIMIT_FSIZE, (GIGABYTE, GIGABYTE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def kill(process: subprocess.Popen) -> None:
    """Ends the namespace, and all processes in it with it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
