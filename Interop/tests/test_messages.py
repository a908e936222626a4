"""Messages that have got in the way of new users: each says what is wrong, and what to do."""

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest


def ran(binary: str, state: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_STATE_HOME": str(state), "XDG_RUNTIME_DIR": str(state), "HARALD_SERVICE": ""}
    environment.pop("HARALD_CONTROLLER", None)
    return subprocess.run([binary, *arguments], capture_output=True, text=True, env=environment, timeout=30)


def test_a_user_without_bonds_has_none(binary: str, tmp_path: Path) -> None:
    listed = ran(binary, tmp_path, "bonds", "list")
    assert (listed.returncode, listed.stdout, listed.stderr) == (0, "no bonds\n", "")
    assert json.loads(ran(binary, tmp_path, "bonds", "list", "--json").stdout) == []
    named = ran(binary, tmp_path, "bonds", "list", "--store", str(tmp_path / "bonds"))
    assert named.returncode == 1 and "no bonds in" in named.stderr


def test_a_bond_that_does_not_exist(binary: str, tmp_path: Path) -> None:
    forgotten = ran(binary, tmp_path, "bonds", "forget", "1234")
    assert forgotten.returncode == 1
    assert 'there is no bond "1234"' in forgotten.stderr and "Usage" not in forgotten.stderr


def test_a_host_that_does_not_exist(binary: str, tmp_path: Path) -> None:
    scan = ran(binary, tmp_path, "scan", "--controller", "tcp:nohost.invalid:9100")
    assert scan.returncode == 3
    assert "there is no host nohost.invalid" in scan.stderr and "SocketAddressError" not in scan.stderr


def test_a_port_in_use(binary: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        offer = ran(binary, tmp_path, "controllers", "--listen", str(port))
    assert offer.returncode == 1
    assert f"cannot listen on port {port}: Address already in use; choose another, or 0" in offer.stderr


def test_the_address_of_virtual_controllers_for_programs(binary: str) -> None:
    command = [binary, "controllers", "--listen", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as offer:
        assert offer.stdout
        document = json.loads(offer.stdout.readline())
        offer.send_signal(signal.SIGTERM)
        assert offer.wait(20) == 0
    assert document == {
        "schema": 1, "event": "listening", "listening": f"tcp:127.0.0.1:{document['port']}", "port": document["port"]
    }


@pytest.mark.skipif(Path("/sys/class/bluetooth").exists(), reason="this machine has Bluetooth")
def test_a_machine_without_bluetooth(binary: str, tmp_path: Path) -> None:
    listed = ran(binary, tmp_path, "controllers", "--json")
    failure = json.loads(listed.stdout)
    assert listed.returncode == failure["exitStatus"] == 3
    assert failure["event"] == "error" and "no Bluetooth support" in failure["message"]
    assert "harald demo" in ran(binary, tmp_path, "doctor").stdout
