"""Runs the tests, which are coroutines, each on a loop of its own with a deadline, and provides the `harald` binary."""
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
DEADLINE = 30.0  # seconds for one test; the slowest needs a third of that, and others have a mark
GRACE = 15  # more, for code that blocks the loop


# The slowest files start first, so that none of them delays the end. Two machines rarely run at once.
LONG = [
    "test_usb.py", "test_channels.py", "test_pairing.py", "test_bluez.py", "test_service.py", "test_demo.py",
    "test_kernel.py", "test_uart.py", "test_serial.py",
]  # fmt: skip


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
        # Cancelling unwinds every `async with`, which ends the processes.
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
    # Fixtures of the whole module have started theirs already, and keep them.
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
    """A machine whose kernel supports Bluetooth, shared by all tests of a process."""
    if reason := machines.missing():
        pytest.skip(reason)
    machine = machines.Machine()
    machine.start()
    yield machine
    machine.stop()


@pytest.fixture(autouse=True)
def needs_rootcanal(request: pytest.FixtureRequest) -> None:
    """A test that uses controllers of rootcanal has the mark of that name."""
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
    """`harald` in a place where only root can replace it and units of the machine see it, in a directory whose name
    has a space and a percent sign."""
    if os.geteuid() != 0:
        pytest.skip("only root can install a program for the machine")
    above = Path(tempfile.mkdtemp(prefix="harald-", dir="/opt" if Path("/opt").is_dir() else "/usr/local"))
    above.chmod(0o755)
    try:
        home = above / "a 100%"
        home.mkdir()
        # Copied rather than linked, because the path of a program is that of its file.
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
    """Names a capture file of the test. At the end, every capture must be free of malformed packets."""
    paths: list[Path] = []

    def named(name: str) -> Path:
        paths.append(tmp_path / f"{name}.btsnoop")
        return paths[-1]

    yield named
    for path in paths:
        # If it does not exist, the test has failed with a better message.
        if path.exists():
            check_capture(path)


def check_capture(path: Path) -> None:
    assert captures.records(path) > 0, f"{path} has no packets"
    assert captures.malformed(path) == [], f"tshark finds malformed packets in {path}"
