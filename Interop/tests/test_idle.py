"""An idle service leaves the machine alone."""
from __future__ import annotations

import asyncio
from pathlib import Path

from conftest import Start
from peers.apps import installed
from peers.controllers import controllers
from peers.sleep import wakes
from test_service import NOTE, NOTES, service

SECONDS = 20.0


async def test_an_idle_service_wakes_less_than_once_in_ten_seconds(harald: Start, binary: str, tmp_path: Path) -> None:
    """Alone, and with an app that advertises without any central around; the controller advertises by itself."""
    (tmp_path / "alone").mkdir()
    async with controllers() as air, service(harald, air.address, tmp_path) as host:
        async with service(harald, air.address, tmp_path / "alone") as alone:
            with installed(binary, tmp_path, tmp_path / "service", "notebook", (str(NOTES), str(NOTE))) as app:
                async with app.opened() as process:
                    await app.line("advertising")
                    await sleeps(alone.child.pid, host.child.pid, process.child.pid)


async def sleeps(*processes: int) -> None:
    # Lets activity in progress finish.
    await asyncio.sleep(3)
    before = [wakes(each) for each in processes]
    await asyncio.sleep(SECONDS)
    found = [wakes(each) - then for each, then in zip(processes, before)]
    assert all(each * 10 < SECONDS for each in found), found
