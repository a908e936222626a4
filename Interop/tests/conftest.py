"""Runs the tests, which are coroutines, each on a loop of its own with a deadline; gives them the `harald` binary."""
from __future__ import annotations

import asyncio
import inspect
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import FrameType

import pytest

from peers import captures
from peers import machine as machines
from peers.processes import Process, running
from peers.rootcanal import RUNNER

ROOT = Path(__file__).parents[2]
DEADLINE = 30.0  # seconds for one test; the slowest need a third of that, and others say so by a mark
GRACE = 15  # more, for code that blocks the loop


# The files that take longest begin first, so that nobody waits for one of them at the end.
LONG = ["test_usb.py", "test_bluez.py", "test_channels.py", "test_kernel.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    asyncio.run(with_deadline(pyfuncitem.obj(**arguments), deadline(pyfuncitem)))
    return True


def deadline(test: pytest.Item) -> float:
    mark = test.get_closest_marker("deadline")
    return mark.args[0] if mark else DEADLINE


async def with_deadline(test: object, limit: float) -> None:
    task = asyncio.ensure_future(test)
    done, _ = await asyncio.wait([task], timeout=limit)
    if not done:
        # Cancelling unwinds every `async with`, and so ends the processes.
        task.cancel()
        await asyncio.wait([task], timeout=10)
        pytest.fail(f"the test still ran after {limit} s", pytrace=False)
    task.result()


@pytest.fixture(autouse=True)
def hard_deadline(request: pytest.FixtureRequest) -> Iterator[None]:
    limit = deadline(request.node) + GRACE

    def ring(_: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"the test blocked for {limit} s")

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.fixture(autouse=True)
def no_process_left(hard_deadline: None) -> Iterator[None]:
    # Those of the whole module are there already, and stay.
    before = children()
    yield
    left = [process for process in children() if process not in before]
    for process in left:
        os.kill(int(process), signal.SIGKILL)
    assert not left, f"the test left {len(left)} processes behind"


def children() -> list[str]:
    path = Path(f"/proc/self/task/{os.getpid()}/children")
    return path.read_text().split() if path.exists() else []


@pytest.fixture(scope="session")
def machine(binary: str) -> Iterator[machines.Machine]:
    """A machine whose kernel has Bluetooth, one for all tests of a process."""
    if reason := machines.missing():
        pytest.skip(reason)
    machine = machines.Machine()
    machine.start()
    yield machine
    machine.stop()


@pytest.fixture(autouse=True)
def needs_rootcanal(request: pytest.FixtureRequest) -> None:
    """A test that takes its controllers from rootcanal says so with the mark of that name."""
    if request.node.get_closest_marker("rootcanal") and not RUNNER.exists():
        pytest.skip(f"there is no {RUNNER}: not installed, or none exists for this machine (see Interop/setup)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "rootcanal: takes its controllers from rootcanal")
    config.addinivalue_line("markers", "deadline(seconds): may take longer than others")


# --- harald ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def binary() -> str:
    named = os.environ.get("HARALD")
    path = Path(named) if named else ROOT / ".build/debug/harald"
    if not path.is_file():
        where = "HARALD names a file that does not exist" if named else "harald is not built"
        pytest.fail(f"{where}: {path}\nBuild it with `swift build --product harald`.", pytrace=False)
    return str(path.resolve())


@pytest.fixture
def program(binary: str) -> Iterator[Path]:
    """`harald` where only root can replace it, and where units of the machine see it, in a directory whose name has a space and a percent sign."""
    if os.geteuid() != 0:
        pytest.skip("only root can install a program for the machine")
    above = Path(tempfile.mkdtemp(prefix="harald-", dir="/opt" if Path("/opt").is_dir() else "/usr/local"))
    above.chmod(0o755)
    try:
        home = above / "a 100%"
        home.mkdir()
        # Not by a symbolic link: a program is where its file is.
        shutil.copy2(binary, home / "harald")
        (home / "harald").chmod(0o755)
        yield home / "harald"
    finally:
        shutil.rmtree(above)


Start = Callable[..., AbstractAsyncContextManager[Process]]


@pytest.fixture
def harald(binary: str) -> Start:
    """`async with harald("serve", "--controller", ...) as process:` ends it at the end of the block."""

    @asynccontextmanager
    async def start(*arguments: str) -> AsyncIterator[Process]:
        async with running(binary, *arguments, name=f"harald {arguments[0]}", has_keyboard=True) as process:
            yield process

    return start


# --- captures --------------------------------------------------------------------------------------------------------


@pytest.fixture
def capture(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Names a capture file of the test. At the end of it, each that was written must be without malformed packets."""
    paths: list[Path] = []

    def named(name: str) -> Path:
        paths.append(tmp_path / f"{name}.btsnoop")
        return paths[-1]

    yield named
    for path in paths:
        # Not written at all: the test has failed, and says so better.
        if path.exists():
            check_capture(path)


def check_capture(path: Path) -> None:
    assert captures.records(path) > 0, f"{path} has no packets"
    assert captures.malformed(path) == [], f"tshark finds malformed packets in {path}"
