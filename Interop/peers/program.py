"""Runs an example or an app of Bumble as it is, but without colors: examples by file name, apps by module name.

    Interop/peer program battery_server.py device1.json tcp-client:127.0.0.1:9100
    Interop/peer program gatt_dump tcp-client:127.0.0.1:9100 "Heart Rate"
    Interop/peer program --stay run_hap_server.py device1.json tcp-client:127.0.0.1:9100     keeps its controller at the end
    Interop/peer program --to Speed run_connection_updates.py ...     connects to this name rather than to a fixed address
"""
from __future__ import annotations

import argparse
import asyncio
import importlib.metadata
import os
import pty
import runpy
import signal
import sys
from pathlib import Path
from typing import Any

from bumble import apps, colors

VERSION = importlib.metadata.version("bumble")
INSTALLED = Path(os.environ.get("HARALD_INTEROP_DIR") or Path(__file__).parents[2] / ".build/interop")
EXAMPLES = INSTALLED / f"bumble-{VERSION}/examples"
APPS = Path(apps.__file__).parent


def programs() -> set[str]:
    """The names of all examples and apps: `run_scanner.py` is an example, `scan` an app."""
    examples = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.py")}
    return examples | {str(path.relative_to(APPS).with_suffix("")) for path in APPS.rglob("[!_]*.py")}


def keep_controllers() -> None:
    """Makes a program that is done keep its controller until it is ended."""

    from bumble.transport.common import Transport

    async def stay(*_: object) -> None:
        await asyncio.get_running_loop().create_future()

    Transport.__aexit__ = stay


def redirect(name: str) -> None:
    """Makes every connection of the program go to the device with this name."""
    from bumble.device import Device

    connect = Device.connect

    async def connect_to_name(device: Device, _: object, **options: Any) -> object:
        return await connect(device, name, **options)

    Device.connect = connect_to_name


def main() -> None:
    parser = argparse.ArgumentParser(prog="Interop/peer program", description="Runs an example or an app of Bumble.")
    parser.add_argument("--stay", action="store_true", help="keep the controller when the program is done")
    parser.add_argument("--to", metavar="NAME", help="connect to the device with this name, whatever the program says")
    parser.add_argument("--terminal", action="store_true", help="run the program at a terminal of its own")
    parser.add_argument("program", help="the file of an example, or the name of an app")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.terminal:
        pty.spawn([sys.executable, "-m", "peers.program", options.program, *options.arguments])
        return
    # Its files are complete when it is ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Before anything imports it from there.
    colors.color = lambda text, *_, **__: str(text)
    if options.stay:
        keep_controllers()
    if options.to:
        redirect(options.to)
    sys.argv = [options.program, *options.arguments]
    if options.program.endswith(".py"):
        # The examples name their configurations relative to their folder.
        os.chdir(EXAMPLES)
        sys.path.insert(0, str(EXAMPLES))
        runpy.run_path(str(EXAMPLES / options.program), run_name="__main__")
    else:
        if EXAMPLES.is_dir():
            os.chdir(EXAMPLES)
        runpy.run_module(f"bumble.apps.{options.program.replace('/', '.')}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
