"""256 connections to a page that are no browsers: `hostile_browsers.py KIND PORT`, until it is killed."""
from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

COUNT = 256
# Seconds until a connection that the server has closed begins again.
PAUSE = 0.5
HEAD = "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
HANDSHAKE = HEAD.replace("/", "/socket", 1) + (
    "Origin: http://127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")


async def pipelined(writer: asyncio.StreamWriter, port: int) -> None:
    """Requests without end, whose answers are never read."""
    requests = (HEAD.format(port=port) + "\r\n").encode() * 100
    while True:
        writer.write(requests)
        await writer.drain()


async def endless(writer: asyncio.StreamWriter, port: int) -> None:
    """A head without an end."""
    writer.write(HEAD.format(port=port).encode())
    while True:
        writer.write(b"x" * 4_096)
        await writer.drain()


async def slow(writer: asyncio.StreamWriter, port: int) -> None:
    """A head of one octet at a time."""
    for octet in HEAD.format(port=port).encode() * 1_000:
        writer.write(bytes([octet]))
        await writer.drain()
        await asyncio.sleep(1)


async def mute(writer: asyncio.StreamWriter, _: int) -> None:
    """A connection without an octet."""
    while not writer.transport.is_closing():
        await asyncio.sleep(0.1)


async def pinging(writer: asyncio.StreamWriter, port: int) -> None:
    """A WebSocket without a token, and its pings."""
    writer.write(HANDSHAKE.format(port=port).encode())
    while True:
        writer.write(bytes([0x89, 0x80 | 125, 0, 0, 0, 0]) + bytes(125))
        await writer.drain()
        await asyncio.sleep(0.1)


async def again(kind: str, port: int) -> None:
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
            try:
                await globals()[kind](writer, port)
            finally:
                writer.transport.abort()
        await asyncio.sleep(PAUSE)


async def main(kind: str, port: int) -> None:
    await asyncio.gather(*(again(kind, port) for _ in range(COUNT)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
