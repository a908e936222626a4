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


def test_captures_of_virtual_controllers_need_their_folder(binary: str, tmp_path: Path) -> None:
    offer = ran(binary, tmp_path, "controllers", "--listen", "0", "--capture", str(tmp_path / "captures"))
    assert offer.returncode == 1
    assert f"there is no folder {tmp_path}/captures for the captures; create it, or choose another" in offer.stderr


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


def test_virtual_controllers_behind_terminals_for_programs(binary: str) -> None:
    command = [binary, "controllers", "--terminal", "h4", "--terminal", "h5", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as offer:
        assert offer.stdout
        first, second = (json.loads(offer.stdout.readline()) for _ in range(2))
        told = subprocess.run([binary, "scan", "--controller", first["listening"], "--timeout", "0.5"], timeout=20)
        offer.send_signal(signal.SIGTERM)
        assert offer.wait(20) == told.returncode == 0
        # Connections are progress, which programs do not see.
        assert offer.stdout.read() == ""
    assert first["event"] == "listening" and first["listening"].startswith("serial:/dev/pts/") and "port" not in first
    assert second["listening"].endswith(",h5")


@pytest.mark.skipif(Path("/sys/class/bluetooth").exists(), reason="this machine has Bluetooth")
def test_a_machine_without_bluetooth(binary: str, tmp_path: Path) -> None:
    listed = ran(binary, tmp_path, "controllers", "--json")
    failure = json.loads(listed.stdout)
    assert listed.returncode == failure["exitStatus"] == 3
    assert failure["event"] == "error" and "no Bluetooth support" in failure["message"]
    assert "harald demo" in ran(binary, tmp_path, "doctor").stdout


@pytest.mark.parametrize("command", [
    "status", "monitor", "devices", "app list", "app launch heart-rate", "bonds list", "bonds forget CB2E897C-E481-4D3F-B117-B799F0076361",
    "scan", "read Pulse 2A37",
])  # fmt: skip
def test_without_a_service_programs_get_an_error_in_json(binary: str, tmp_path: Path, command: str) -> None:
    told = ran(binary, tmp_path, *command.split(), "--service", str(tmp_path / "service"), "--json")
    failure = json.loads(told.stdout)
    assert told.returncode == failure["exitStatus"] == 1
    assert failure["event"] == "error" and failure["code"] == "service" and failure["schema"] == 1
    assert str(tmp_path / "service") in failure["message"] and failure["message"] in told.stderr


def test_a_monitor_at_a_terminal_says_that_it_watches(binary: str, tmp_path: Path) -> None:
    """On standard error, and to a user alone."""
    ours, theirs = os.openpty()
    command = [binary, "monitor", "--service", str(tmp_path / "service")]
    subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, timeout=20)
    os.close(theirs)
    assert os.read(ours, 4096).decode().startswith("watching the Bluetooth service (Ctrl-C ends)")
    os.close(ours)
    assert "watching" not in subprocess.run(command, capture_output=True, text=True, timeout=20).stderr


def test_a_server_that_is_no_controller_is_told(binary: str, tmp_path: Path) -> None:
    """Such as that of ssh, which closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        command = [binary, "scan", "--controller", f"tcp:127.0.0.1:{port}", "--timeout", "2"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as scan:
            server.accept()[0].close()
            assert scan.stderr
            said = scan.stderr.read()
        assert scan.returncode == 4
    assert "closed" in said and "check that it uses H4" in said and "closedByPeer" not in said


def test_data_that_do_not_fit_are_not_the_fault_of_the_controller(binary: str, tmp_path: Path) -> None:
    with subprocess.Popen([binary, "controllers", "--listen", "0", "--json"], stdout=subprocess.PIPE, text=True) as offer:
        assert offer.stdout
        address = json.loads(offer.stdout.readline())["listening"]
        told = ran(binary, tmp_path, "advertise", "--controller", address, "--manufacturer", "FFFF" + "00" * 31)
        offer.terminate()
    assert told.returncode == 1
    assert "the data has 46 octets, but only 31 fit; leave something out, or use extended advertising" in told.stderr
    assert "H4" not in told.stderr
