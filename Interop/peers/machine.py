"""A small machine whose kernel supports Bluetooth, under QEMU: for the user channel, and for BlueZ as a peer.

It has no files of its own: it sees those of this machine, read-only, at the same paths, and runs the same programs.
Files written there go to its /tmp and /run, which hide the contents of these directories here. So it has this clone,
the foreign peers and the programs under test a second time below `HOME`, at paths that a shell reads as one word
(`inside`). `Interop/machine/build` has created its kernel.
"""
from __future__ import annotations

import asyncio
import os
import shlex
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from .processes import die_with_parent

ROOT = Path(__file__).parents[2]
DIRECTORY = Path(os.environ.get("HARALD_INTEROP_DIR") or ROOT / ".build/interop").resolve() / "machine"
# The location of files in the machine that may be hidden there, or have spaces in their paths.
HOME = "/run/harald"
PLACES = [ROOT.resolve(), DIRECTORY.parent]
if "HARALD" in os.environ:
    PLACES.append(Path(os.environ["HARALD"]).resolve().parent)


def inside(path: str | Path) -> str:
    """The path in the machine, for a shell, of a file here. Links are followed up to the directory of the file."""
    name = Path(path).name
    directory = Path(path).parent.resolve()
    for number, place in enumerate(PLACES):
        if directory.is_relative_to(place):
            return str(Path(HOME, str(number)) / directory.relative_to(place) / name)
    return shlex.quote(str(directory / name))


def showing(place: Path, target: str) -> str:
    """The command that mounts a directory of this machine at another path there. Process 1 there has all files of
    this machine below /files, whatever its own directories hide."""
    command = f"mkdir -p /host{target} && mount --bind {shlex.quote(f'/files{place}')} /host{target}"
    return f"chroot /proc/1/root /bin/sh -c {shlex.quote(command)}"


BLUEZ = inside(DIRECTORY / "root")
LIBRARIES = f"LD_LIBRARY_PATH={BLUEZ}/usr/lib/x86_64-linux-gnu"
# btmgmt does nothing without a terminal to read from.
MANAGE = f"<>/tmp/nobody env {LIBRARIES} {BLUEZ}/usr/bin/btmgmt"
# A user without privileges.
USER = "setpriv --reuid 1000 --regid 1000 --clear-groups"
BOOT = 240.0  # seconds; without KVM it takes ten, and much longer on a slow host
PROMISE = 15.0  # seconds; with KVM it takes two, and with a broken KVM it may never boot
LOOKS = 10  # polls per command while waiting
SLOWNESS = 3.0  # the factor for limits in an emulated machine, in addition to other load
# Without KVM, the machine's clock counts its instructions, 2 ns each, and follows the clock outside only while the machine
# is idle. So other load here cannot make its programs or its kernel miss a time-out: Linux and Harald's host both give a
# controller 2 s for an answer (HCI_CMD_TIMEOUT), and a machine that is starved of processor time needs longer.
EMULATED = ["-accel", "tcg,thread=single,tb-size=256", "-icount", "shift=1,sleep=on"]


def missing() -> str | None:
    """Why there is no machine, or None if there is one."""
    if (DIRECTORY / "reason").exists():
        return (DIRECTORY / "reason").read_text().strip()
    if not (DIRECTORY / "stamp").exists():
        return f"there is no {DIRECTORY}: run Interop/setup"
    return None


class Machine:
    """Boots with `start`, and ends with `stop`. Commands run in a shell, as root."""

    def __init__(self) -> None:
        self.state = tempfile.TemporaryDirectory(prefix="harald-machine-")
        self.port = f"{self.state.name}/commands"
        self.console = Path(self.state.name) / "console"
        self.child: subprocess.Popen[bytes] | None = None
        # The factor for limits.
        self.patience = 1.0
        self.begun = time.monotonic()

    def start(self) -> None:
        # Whether KVM works is determined once.
        verdict = DIRECTORY / "kvm"
        if os.access("/dev/kvm", os.R_OK | os.W_OK) and not (verdict.exists() and verdict.read_text() == "no"):
            if self._boot(["-accel", "kvm", "-cpu", "host"], PROMISE):
                return self._show()
            verdict.write_text("no")
        self.patience = SLOWNESS
        if not self._boot([*EMULATED, "-cpu", "qemu64,+rdrand"], BOOT):
            raise RuntimeError(f"the machine did not come up:\n{self._said()}")
        self._show()

    def _show(self) -> None:
        for number, place in enumerate(PLACES):
            self._command(showing(place, f"{HOME}/{number}"))

    def _command(self, command: str) -> str:
        """Runs a command that must succeed, without an event loop, and returns its output."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(30 * self.patience)
            line.connect(self.port)
            line.sendall(command.encode() + b"\n")
            answer = line.makefile("rb")
            _, status, length = answer.readline().split()
            text = answer.read(int(length)).decode(errors="replace")
        if int(status):
            raise RuntimeError(f"{command} ended with {int(status)} in the machine:\n{text}")
        return text

    def _boot(self, how: list[str], seconds: float) -> bool:
        self.console.unlink(missing_ok=True)
        options = "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off cryptomgr.notests no_timer_check tsc=reliable nokaslr audit=0 random.trust_cpu=on"
        self.child = subprocess.Popen(
            ["qemu-system-x86_64", *how, "-M", "pc,hpet=off", "-nodefaults", "-no-user-config", "-display", "none",
             "-no-reboot", "-m", "768", "-kernel", f"{DIRECTORY}/vmlinux", "-initrd", f"{DIRECTORY}/first.gz",
             "-append", options, "-serial", f"file:{self.console}",
             "-object", "rng-random,id=rng,filename=/dev/urandom", "-device", "virtio-rng-pci,rng=rng",
             "-fsdev", "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap",
             "-device", "virtio-9p-pci,fsdev=host,mount_tag=host", "-device", "virtio-serial-pci",
             "-chardev", f"socket,id=commands,path={self.port},server=on,wait=off",
             "-device", "virtserialport,chardev=commands,name=commands"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=(Path(self.state.name) / "qemu").open("wb"),
            preexec_fn=die_with_parent,
        )
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.child.poll() is None:
            if "machine: up" in self._said():
                return True
            # QEMU then stands still, as it does if KVM runs in a machine that lacks some feature.
            if "KVM internal error" in self._said():
                break
            time.sleep(0.05)
        self._kill()
        return False

    def _said(self) -> str:
        files = [self.console, Path(self.state.name) / "qemu"]
        return "\n".join(file.read_text(errors="replace")[-4000:] for file in files if file.exists())

    def _kill(self) -> None:
        if self.child:
            self.child.kill()
            self.child.wait()
            self.child = None

    def stop(self) -> None:
        self._kill()
        self.state.cleanup()

    async def ask(self, command: str, timeout: float = 30, quiet: bool = False) -> tuple[int, str]:
        """Runs a command, and returns its status and its output. The limit only guards against a hang: after it, the
        port still receives the stale response."""
        reader, writer = await asyncio.open_unix_connection(self.port)
        try:
            writer.write(command.replace("\n", " ").encode() + b"\n")
            line = await asyncio.wait_for(reader.readline(), timeout * self.patience)
            mark, status, length = line.split()
            assert mark == b"@@", line
            text = (await reader.readexactly(int(length))).decode(errors="replace")
        finally:
            writer.close()
        if not quiet:
            print(f"[machine] $ {command}\n{text}[machine] = {int(status)}")
        return int(status), text

    async def run(self, command: str, timeout: float = 30) -> str:
        """Runs a command that must succeed."""
        status, text = await self.ask(command, timeout)
        assert status == 0, f"{command} ended with {status}:\n{text}"
        return text

    async def begin(self, name: str, command: str) -> None:
        """Runs a command in the background. `end` ends it, and `wait` waits for its output."""
        await self.run(f"rm -f /tmp/{name}.log; setsid sh -c {shlex.quote(f'echo $$ > /tmp/{name}.pid; exec {command}')} > /tmp/{name}.log 2>&1 &")

    async def wait(self, name: str, pattern: str, seconds: float = 20) -> str:
        """Waits for a line that matches, in the syntax of grep -E, and returns all output until then."""
        holds = await self.comes(f"grep -qE {shlex.quote(pattern)} /tmp/{name}.log", seconds)
        _, text = await self.ask(f"cat /tmp/{name}.log")
        assert holds, f"{name} did not print {pattern} within {seconds * self.patience} s"
        return text

    async def end(self, name: str, signal: str = "TERM") -> None:
        """Ends a background command, and waits for it."""
        # It may have ended by itself.
        await self.ask(f"kill -{signal} $(cat /tmp/{name}.pid)")
        await self.until(f"! kill -0 $(cat /tmp/{name}.pid)", 20)

    async def until(self, condition: str, seconds: float = 15) -> None:
        """Waits until a command succeeds."""
        holds = await self.comes(condition, seconds)
        assert holds, f"{condition} did not hold within {seconds * self.patience} s"

    async def comes(self, condition: str, seconds: float) -> bool:
        """Polls a condition, by the clock outside. Polls several times per command, because each command takes a
        while and blocks all others."""
        end = time.monotonic() + seconds * self.patience
        looks = f"i=0; until {condition}; do i=$((i+1)); [ $i -ge {LOOKS} ] && exit 1; sleep 0.1; done"
        while (await self.ask(looks, 60, quiet=True))[0] != 0:
            if time.monotonic() > end:
                # Diagnostics for the failure: the machine's clock, and the processes that have ended.
                print(f"[machine] begun {time.monotonic() - self.begun:.0f} s ago by the clock outside; by its own, and with what runs:")
                await self.ask("cat /proc/uptime; ps -eo pid,etimes,args | grep -v '\\]$'; chroot /proc/1/root /bin/dmesg | tail -n 15")
                return False
        return True

    @asynccontextmanager
    async def running(self, name: str, command: str, pattern: str) -> AsyncIterator[None]:
        """Runs a command in the background, and waits until it reports that it is ready."""
        await self.begin(name, command)
        try:
            await self.wait(name, pattern, 60)
            yield
        finally:
            await self.ask(f"tail -n 30 /tmp/{name}.log")
            await self.end(name)

    @asynccontextmanager
    async def bluetoothd(self, adapters: int, says: str = "-d") -> AsyncIterator[None]:
        """Runs BlueZ's daemon with this number of adapters. By default it logs all its actions, which costs time."""
        await self.run("[ -p /tmp/nobody ] || mkfifo -m 666 /tmp/nobody")
        bus = f"{BLUEZ}/usr/bin/dbus-daemon --nofork --config-file={inside(ROOT / 'Interop/machine/bus.conf')}"
        await self.begin("bus", f"env {LIBRARIES} {bus}")
        await self.until("[ -S /run/dbus/system_bus_socket ]")
        await self.begin("bluetoothd", f"env {LIBRARIES} {BLUEZ}/usr/libexec/bluetooth/bluetoothd -n {says}")
        try:
            last = adapters - 1
            await self.wait("bluetoothd", f"hci{last}|index {last}" if says else "management interface")
            for index in range(adapters):
                await self.run(f"{MANAGE} --index {index} power on")
            yield
        finally:
            await self.ask("tail -n 20 /tmp/bluetoothd.log; cat /tmp/bus.log")
            await self.end("bluetoothd")
            await self.end("bus")
            await self.run("rm -f /run/dbus/system_bus_socket")
