"""Harald's virtual controllers on serial ports, with the kernel's own `hci_uart` at the other end."""
from __future__ import annotations

import re

import pytest

from peers import machine as machines
from peers.machine import BLUEZ, LIBRARIES, MANAGE, Machine

# Everything is slow in an emulated machine.
pytestmark = pytest.mark.deadline(240)

PORT = 9710


@pytest.fixture(scope="session")
def binary(binary: str) -> str:
    """The path in the machine."""
    return machines.inside(binary)


@pytest.mark.parametrize(("ours", "theirs"), [("h4", "h4"), ("h5", "3wire")])
async def test_the_kernel_attaches_our_controller(machine: Machine, binary: str, ours: str, theirs: str) -> None:
    """It brings the controller up, and both directions work: a session of Harald's host on that adapter."""
    await machine.run("chroot /proc/1/root /bin/modprobe hci_uart; [ -p /tmp/nobody ] || mkfifo -m 666 /tmp/nobody")
    radio = f"{binary} controllers --terminal {ours} --listen {PORT}"
    async with machine.running("radio", radio, "listening on tcp"):
        path = re.search(r"serial:(/dev/pts/\d+)", await machine.run("cat /tmp/radio.log"))[1]
        # It ends by itself before the link is established; the driver keeps the serial line.
        await machine.begin("attach", f"env {LIBRARIES} {BLUEZ}/usr/bin/btattach -B {path} -P {theirs} -S 115200")
        await machine.until(f"[ $({MANAGE} info | grep -c '^.addr') = 1 ]", 40)
        assert "02:48:52:43:00" in await machine.run(f"{MANAGE} info")
        async with machine.running("serve", f"{binary} serve --controller tcp:127.0.0.1:{PORT}", "advertising as"):
            said = await machine.run(f"{binary} explore --controller hci0 --timeout 40 'Harald HR'", 150)
            for word in ("MTU 185", "180D Heart Rate", "Hello from Harald", "value of 2A37"):
                assert word in said
        await machine.end("attach")
    # The terminal is gone, and so is the adapter.
    await machine.until('[ -z "$(ls /sys/class/bluetooth)" ]')
