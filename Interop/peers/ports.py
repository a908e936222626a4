"""TCP ports on the loopback interface."""
from __future__ import annotations

import asyncio
import socket
import time
from pathlib import Path

HOST = "127.0.0.1"
LISTEN = "0A"  # the state in /proc/net/tcp


def free_ports(count: int) -> list[int]:
    """Ports that no process listens on now. Another process may take them first: listen on port 0 yourself if you
    can."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind((HOST, 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def listening(port: int) -> bool:
    """Whether a process listens on the port. Checks without connecting, because for some peers a connection is a new
    device on the air."""
    files = [Path("/proc/net/tcp"), Path("/proc/net/tcp6")]
    fields = [line.split() for file in files if file.exists() for line in file.read_text().splitlines()[1:]]
    return any(field[1].endswith(f":{port:04X}") and field[3] == LISTEN for field in fields)


async def wait_until_listening(ports: list[int], timeout: float = 30) -> None:
    deadline = time.monotonic() + timeout
    while not all(listening(port) for port in ports):
        if time.monotonic() > deadline:
            missing = [port for port in ports if not listening(port)]
            raise TimeoutError(f"nobody listens on {HOST} port {missing} after {timeout} s")
        await asyncio.sleep(0.01)
