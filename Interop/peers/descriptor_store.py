"""A stand-in for systemd's descriptor store, which lets a service keep its controller across a crash (sd_notify(3),
FDSTORE). Runs as a program, in the machine."""
from __future__ import annotations

import array
import json
import os
import signal
import socket
import subprocess
import sys
import time


class Store:
    """Starts a service twice, and passes the descriptors of the first instance to the second."""

    def __init__(self, binary: str, directory: str, controller: str) -> None:
        self.binary, self.directory, self.controller = binary, directory, controller
        os.makedirs(directory, exist_ok=True)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(f"{directory}/notify")
        self.notify.settimeout(60)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(f"{directory}/service")
        self.listener.listen()
        self.kept: int | None = None

    def start(self) -> subprocess.Popen[bytes]:
        handed = [self.listener.fileno()] + ([] if self.kept is None else [self.kept])
        names = ["harald.socket", "controller"][: len(handed)]

        def prepare() -> None:
            copies = [os.dup(each) for each in handed]
            for number, copy in enumerate(copies):
                os.dup2(copy, 50 + number)
            for number in range(len(copies)):
                os.dup2(50 + number, 3 + number, inheritable=True)

        environment = {
            **os.environ, "NOTIFY_SOCKET": f"{self.directory}/notify", "LISTEN_FDS": str(len(handed)),
            "LISTEN_FDNAMES": ":".join(names),
        }  # fmt: skip
        shell = 'export LISTEN_PID=$$; exec "$@"'
        return subprocess.Popen(
            ["sh", "-c", shell, "sh", self.binary, "service", "--controller", self.controller, "--store", f"{self.directory}/store"],
            env=environment, preexec_fn=prepare, close_fds=False,
        )  # fmt: skip

    def hear(self, wanted: str) -> None:
        """Waits for a notification, and keeps the descriptors that arrive until then."""
        while True:
            text, ancillary, _, _ = self.notify.recvmsg(4096, socket.CMSG_SPACE(4 * 4))
            lines = text.decode().splitlines()
            for level, kind, octets in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    descriptors = array.array("i", octets[: len(octets) - len(octets) % 4])
                    assert "FDSTORE=1" in lines and "FDNAME=controller" in lines, lines
                    assert self.kept is None and len(descriptors) == 1, "a second one"
                    self.kept = descriptors[0]
                    print("kept", flush=True)
            if "FDSTOREREMOVE=1" in lines:
                assert "FDNAME=controller" in lines
                os.close(self.kept)
                self.kept = None
                print("removed", flush=True)
            if any(line.startswith(wanted) for line in lines):
                return

    def ask(self, *arguments: str) -> object:
        return json.loads(subprocess.run([self.binary, *arguments, "--json"], check=True, capture_output=True).stdout)

    def until_on(self) -> None:
        for _ in range(300):
            if self.ask("status", "--service", f"{self.directory}/service")["state"] == "poweredOn":
                return
            time.sleep(0.1)
        raise AssertionError("Bluetooth does not come on")

    def holder(self) -> str:
        return self.ask("controllers")[0]["holder"]


def main() -> None:
    store = Store(*sys.argv[1:4])
    service = store.start()
    store.hear("READY=1")
    store.until_on()
    if store.kept is None:
        store.hear("FDSTORE=1")
    service.send_signal(signal.SIGKILL)
    service.wait()
    print("after the crash:", store.holder(), flush=True)
    service = store.start()
    store.hear("READY=1")
    store.until_on()
    print("on again with the one that was kept", flush=True)
    service.send_signal(signal.SIGTERM)
    while store.kept is not None:
        store.hear("FDSTOREREMOVE=1")
    service.wait()
    print("after the end:", store.holder(), flush=True)


if __name__ == "__main__":
    main()
