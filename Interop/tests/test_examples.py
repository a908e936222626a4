"""The programs of Examples, as programs."""
from __future__ import annotations

import os
from pathlib import Path

import pytest

from peers.controllers import controllers
from peers.processes import running


@pytest.mark.parametrize("name, arguments, report", [
    ("heart-rate", [], "searching"), ("text-transfer", ["receive"], "searching"), ("thermometer", [], "advertising"),
    ("file-transfer", ["fetch", "copy"], "searching"),
])  # fmt: skip
async def test_an_example_prints_at_once(binary: str, tmp_path: Path, name: str, arguments: list[str], report: str) -> None:
    """Standard output is no terminal, as under systemd."""
    program = Path(binary).with_name(name)
    if not program.exists():
        pytest.skip(f"{program} is not built")
    words = [str(tmp_path / each) if each == "copy" else each for each in arguments]
    async with controllers() as air:
        environment = {**os.environ, "HARALD_CONTROLLER": air.address, "XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)}
        async with running("env", *[f"{key}={value}" for key, value in environment.items()], str(program), *words, name=name) as process:
            await process.line(f"^{report}$")
            assert process.child.returncode is None
