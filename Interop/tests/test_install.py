"""`harald install`: the units with which systemd starts the service, checked by systemd itself."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.mark.parametrize("scope", ["user", "machine"])
def test_systemd_takes_the_units(program: Path, tmp_path: Path, scope: str) -> None:
    """All settings are known, and the program exists, although its name has a space and a percent sign."""
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        pytest.skip("there is no systemd-analyze")
    machine = ["--machine"] if scope == "machine" else []
    command = [str(program), "install", "--controller", "tcp:127.0.0.1:6402", "--directory", str(tmp_path), *machine]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "systemctl" in printed
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    units = [str(tmp_path / f"harald.{kind}") for kind in ("socket", "service")]
    assert "a 100%%/harald\" service" in Path(units[1]).read_text()
    verified = subprocess.run(
        [analyze, "verify", f"--{'user' if scope == 'user' else 'system'}", "--man=no", *units],
        capture_output=True, text=True, env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)},
    )  # fmt: skip
    complaints = [line for line in verified.stderr.splitlines() if "harald" in line]
    assert complaints == [] and verified.returncode == 0, verified.stderr


def refusal(program: Path, *arguments: str) -> str:
    """The reason for which `harald install` refuses."""
    tried = subprocess.run([str(program), "install", "--print", *arguments], capture_output=True, text=True)
    assert tried.returncode == 1 and tried.stdout == "", tried.stdout
    return tried.stderr


def test_no_unit_runs_a_program_that_others_can_replace(program: Path) -> None:
    """AB-G05: for all users of the machine, only a program and directories owned by root are accepted; for one user,
    any location is."""
    mine = ["--controller", "tcp:127.0.0.1:6402"]
    machine = [*mine, "--machine"]
    for place, mode in ((program, 0o777), (program.parent, 0o775), (program.parent.parent, 0o757)):
        before = place.stat().st_mode & 0o7777
        place.chmod(mode)
        said = refusal(program, *machine)
        assert f"other users can write to {place}, which has mode {mode:o}" in said and "/usr/local/bin" in said
        place.chmod(before)
    os.chown(program.parent, 12345, -1)
    assert f"{program.parent} belongs to user 12345" in refusal(program, *machine)
    subprocess.run([str(program), "install", "--print", *mine], check=True, capture_output=True)
    os.chown(program.parent, 0, -1)
    subprocess.run([str(program), "install", "--print", *machine], check=True, capture_output=True)


def test_no_unit_names_what_it_hides(program: Path, tmp_path: Path) -> None:
    """The private /tmp of the service and the hidden home directories contain neither its program nor its
    controller."""
    copy = tmp_path / "harald"
    shutil.copy2(program, copy)
    if tmp_path.is_relative_to("/tmp"):
        said = refusal(copy, "--machine", "--controller", "hci0")
        assert f"does not see {copy}" in said and "hides /tmp" in said
    for path in ("/tmp/controller", "/home/a/controller", "/run/user/1000/controller"):
        said = refusal(program, "--machine", "--controller", f"unix:{path}")
        assert f"does not see {path}" in said
    subprocess.run([str(program), "install", "--print", "--machine", "--controller", "unix:/run/c"], check=True, capture_output=True)


def test_a_refusal_has_the_commands_to_paste(program: Path, tmp_path: Path) -> None:
    """Only a machine-wide service may use an adapter, and only from a place that it sees and that root alone can
    change."""
    copy = tmp_path / "harald"
    shutil.copy2(program, copy)
    install = "sudo /usr/local/bin/harald install --machine --controller hci"
    copying = f"sudo install -m 755 {copy} /usr/local/bin/harald"
    assert f"`{copying} && {install}`" in refusal(copy)
    if tmp_path.is_relative_to("/tmp"):
        assert f"`{copying}`" in refusal(copy, "--machine")
    # The path of this one has to be quoted for a shell.
    assert f"`sudo '{program}' install --machine --controller hci0`" in refusal(program, "--controller", "hci0")


def test_units_for_a_package_name_its_program(binary: str) -> None:
    """They are printed before the program is where they look for it, and only printed."""
    command = [binary, "install", "--machine", "--program", "/usr/bin/harald"]
    printed = subprocess.run([*command, "--print"], capture_output=True, text=True, check=True).stdout
    assert "ExecStart=/usr/bin/harald service --controller hci --all-users" in printed
    tried = subprocess.run(command, capture_output=True, text=True)
    assert tried.returncode == 64 and "--program requires --print" in tried.stderr
    tried = subprocess.run([binary, "install", "--print", "--program", "harald"], capture_output=True, text=True)
    assert tried.returncode == 64 and "absolute path" in tried.stderr


@pytest.mark.parametrize("character", ["\n", "\r", "\r\n", "\t", "\x0b", "\x7f", "\x1b"])
def test_no_argument_splits_a_line(program: Path, tmp_path: Path, character: str) -> None:
    """AB-G05: a control character in the address of a controller is escaped, and one in the program's path is
    refused."""
    controller = f"unix:/run/a{character}ExecStartPre=/bin/false"
    printed = subprocess.run(
        [str(program), "install", "--print", "--machine", "--controller", controller], check=True, capture_output=True,
    ).stdout  # fmt: skip
    assert b"ExecStartPre" in printed and not any(octet < 32 and octet != 10 or octet == 127 for octet in printed)
    assert [line for line in printed.splitlines() if line.startswith(b"ExecStartPre")] == []
    escapes = "".join(f"\\x{ord(each):02x}" for each in character)
    assert f"/run/a{escapes}ExecStartPre=/bin/false".encode() in printed
    home = program.parent / f"b{character}"
    home.mkdir()
    os.link(program, home / "harald")
    assert "control characters" in refusal(home / "harald", "--controller", "tcp:127.0.0.1:6402")


UNEXPRESSED = [chr(code) for code in [*range(1, 32), 127]]


@pytest.mark.parametrize("text", ["%h", "$HOME", '"', "'", "\\", " ", ";", "#", "é", *UNEXPRESSED])
def test_the_path_of_a_device_is_one_setting(binary: str, text: str) -> None:
    """AB-T02: in the path of a serial port, no text has a meaning of its own, and a control character is refused."""
    controller = f"serial:/dev/a{text}DeviceAllow=char-mem rwm"
    command = [binary, "install", "--print", "--machine", "--program", "/usr/bin/harald", "--controller", controller]
    printed = subprocess.run(command, capture_output=True, text=True)
    if text in UNEXPRESSED:
        assert printed.returncode == 1 and printed.stdout == "" and "control characters" in printed.stderr
        return
    allowed = [line for line in printed.stdout.splitlines() if line.startswith("DeviceAllow=")]
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    assert allowed == [f'DeviceAllow="/dev/a{escaped}DeviceAllow=char-mem rwm" rw']
    started = [line for line in printed.stdout.splitlines() if line.startswith("ExecStart=")]
    assert len(started) == 1 and escaped.replace("$", "$$") in started[0]


def test_no_file_is_written_through_a_link(binary: str, tmp_path: Path) -> None:
    """AB-F02: a link at the place of a unit or a rule is refused, such as one that masks a unit."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name, options in [("harald.service", ["--controller", "tcp:127.0.0.1:6402"]), ("70-harald-usb.rules", ["--udev"])]:
        directory = tmp_path / name
        directory.mkdir()
        for target in [victim, Path("/dev/null")]:
            (directory / name).symlink_to(target)
            tried = subprocess.run([binary, "install", "--directory", str(directory), *options], capture_output=True, text=True)
            assert tried.returncode == 1 and "symbolic link" in tried.stderr
            (directory / name).unlink()
    assert victim.read_text() == "precious"


def test_the_next_steps_can_be_pasted(binary: str, tmp_path: Path) -> None:
    """AB-T02: a directory's name is quoted for the shell."""
    directory = tmp_path / "a b; echo 'c"
    command = [binary, "install", "--directory", str(directory), "--controller", "tcp:127.0.0.1:6402"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    quoted = str(directory).replace("'", "'\\''")
    assert f"link '{quoted}/harald.socket' '{quoted}/harald.service'" in printed


def test_the_next_steps_fit_the_directory(binary: str, tmp_path: Path) -> None:
    """systemd and udev do not look in another directory by themselves."""
    command = [binary, "install", "--directory", str(tmp_path)]
    printed = subprocess.run(
        [*command, "--controller", "tcp:127.0.0.1:6402"], capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert f"systemctl --user link {tmp_path}/harald.socket {tmp_path}/harald.service" in printed
    printed = subprocess.run([*command, "--udev"], capture_output=True, text=True, check=True).stdout
    assert f"cp {tmp_path}/70-harald-usb.rules /etc/udev/rules.d" in printed


def test_a_controller_that_is_none_is_refused_with_the_forms(binary: str) -> None:
    result = subprocess.run([binary, "install", "--controller", "foo"], capture_output=True, text=True)
    assert result.returncode == 64 and "tcp:HOST:PORT" in result.stderr


def test_the_rule_alone_is_printed(binary: str) -> None:
    result = subprocess.run([binary, "install", "--machine", "--udev", "--print"], capture_output=True, text=True)
    assert result.returncode == 0 and "harald-usb" in result.stdout and "the units are left out" in result.stderr


def test_a_rule_for_udev_is_written(binary: str, tmp_path: Path) -> None:
    """AB-T03: it covers the class of Bluetooth controllers, for the user at the machine. Beside the machine's service, it
    is for that service alone, by a group that no user of Bluetooth belongs to."""
    command = [binary, "install", "--udev", "--directory", str(tmp_path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "udevadm" in printed
    rule = tmp_path / "70-harald-usb.rules"
    assert rule.read_text().count('TAG+="uaccess"') == 2 and "e00101" in rule.read_text() and "GROUP" not in rule.read_text()
    assert "harald install --machine" not in printed
    # Both options write the rule alone, and say so.
    printed = subprocess.run([*command, "--machine"], capture_output=True, text=True, check=True).stdout
    assert rule.read_text().count('GROUP="harald-usb", MODE="0660"') == 2 and "uaccess" not in rule.read_text()
    assert "groupadd --system harald-usb && usermod --append --groups harald-usb harald" in printed
    assert "harald install --machine" in printed and list(tmp_path.iterdir()) == [rule]
    udevadm = shutil.which("udevadm")
    # Older versions cannot check a rule.
    if udevadm and subprocess.run([udevadm, "verify", "--help"], capture_output=True).returncode == 0:
        subprocess.run([udevadm, "verify", "--no-summary", str(rule)], check=True)
