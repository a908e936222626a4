"""`harald explain` and `harald redact` with a capture of a foreign host, compared with tshark."""
from __future__ import annotations

import contextlib
import json
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Start
from peers import captures
from peers.central import central
from peers.controllers import controllers
from peers.database import HEART_RATE_MEASUREMENT
from peers.peripheral import NAME, peripheral

SENSOR = "Harald HR"


def ran(binary: str, *arguments: str) -> str:
    return subprocess.run([binary, *arguments], capture_output=True, text=True, check=True, timeout=20).stdout


def explained(binary: str, path: Path) -> list[dict]:
    """The story, whose exit status says whether something failed in the capture."""
    done = subprocess.run([binary, "explain", "--json", str(path)], capture_output=True, text=True, timeout=20)
    story = [json.loads(line) for line in done.stdout.splitlines()]
    assert story[0]["event"] == "verdict"
    assert story[-1]["verdict"] == story[0]["outcome"]
    assert done.returncode == (0 if story[0]["outcome"] == "succeeded" else 8), done.stderr
    return story


def test_a_file_that_is_no_capture_is_an_error(binary: str) -> None:
    for command in (["explain", __file__], ["redact", __file__, "-o", "/dev/null"]):
        done = subprocess.run([binary, *command], capture_output=True, text=True, timeout=20)
        assert done.returncode == 1
        assert "is not a btsnoop" in done.stderr


# The options of editcap, whose last ones follow the files. It writes other formats, a part of a capture, and packets that
# are shortened to their headers, without their last octets, or hardly ever.
EDITS = {
    "btsnoop": [], "pcapng": [], "pcap": [], "nsecpcap": [],
    "btsnoop from the middle": ["-r", "100-999"], "pcapng to the middle": ["-r", "1-100"],
    "btsnoop cut": ["-s", "40"], "pcapng cut": ["-s", "17"], "pcap cut": ["-s", "7"],
}  # fmt: skip


def edited(path: Path, folder: Path) -> dict[str, Path]:
    results = {}
    for name, options in EDITS.items():
        results[name] = folder / name.replace(" ", "-")
        before, behind = (options[:1], options[1:]) if "-r" in options else (options, [])
        command = ["editcap", "-F", name.split()[0], *before, path, results[name], *behind]
        subprocess.run(command, check=True, capture_output=True, timeout=20)
    return results


def counted(path: Path) -> dict[str, int]:
    """What tshark counts. ATT PDUs count in whole packets only, since what was cut off might have been anything."""
    names = ["hci_h4.type", "frame.len", "frame.cap_len", "btatt.opcode", "bthci_acl.chandle", "bthci_evt.code"]
    names += ["bthci_evt.le_meta_subevent", "bthci_evt.status", "bthci_evt.connection_handle"]
    lines = captures.tshark(path, "-T", "fields", "-E", "occurrence=f", *captures.as_options(names)).splitlines()
    kinds = {"0x01": "commands", "0x04": "events", "0x02": "dataPackets"}
    counts = dict.fromkeys(["records", "malformed", "attributePDUs", "attributeErrors", "connections"], 0)
    counts |= dict.fromkeys(kinds.values(), 0)
    links = set()
    for kind, length, included, opcode, handle, event, subevent, status, of_event in (x.split("\t") for x in lines):
        counts["records"] += 1
        counts[kinds[kind]] += 1
        if length != included:
            counts["malformed"] += 1
            continue
        if opcode:
            counts["attributePDUs"] += 1
            counts["attributeErrors"] += int(opcode, 16) == 0x01
        is_new = event == "0x3e" and int(subevent, 16) in {0x01, 0x0A, 0x29} and int(status, 16) == 0
        if event == "0x05" and int(status, 16) == 0:
            links.discard(int(of_event, 16))
        # A connection from before the capture shows itself by its data.
        elif is_new or (handle and int(handle, 16) not in links):
            links.add(int(of_event if is_new else handle, 16))
            counts["connections"] += 1
    return counts


def check_edited(binary: str, path: Path, folder: Path) -> None:
    """The counts are those of tshark after editcap has changed the capture."""
    whole = counted(path)
    assert min(whole[key] for key in ("commands", "events", "attributePDUs", "attributeErrors", "connections")) > 0
    for name, file in edited(path, folder).items():
        counts = counted(file)
        assert {key: explained(binary, file)[-1][key] for key in counts} == counts, name
        assert (counts == whole) == (not EDITS[name]), name
        assert ("cut" in name) == (counts["malformed"] > 0), name


async def test_agrees_with_tshark_about_a_foreign_host(
    harald: Start, binary: str, capture: Callable[[str], Path], tmp_path: Path
) -> None:
    """The counts of packets, ATT PDUs, errors and connections are those of tshark, also after the redaction."""
    log = capture("central")
    async with controllers() as air:
        async with harald("serve", "--controller", air.address) as process:
            await process.line("(?i)advertising")
            async with central(air.transport, capture=log) as client:
                await client.connect(SENSOR)
                await client.table()
                await client.follow(HEART_RATE_MEASUREMENT, 3)
                await client.disconnect()
    check_edited(binary, log, tmp_path)
    copy = tmp_path / "redacted.btsnoop"
    ran(binary, "redact", str(log), "-o", str(copy))
    assert SENSOR.encode() in log.read_bytes()
    assert SENSOR.encode() not in copy.read_bytes()
    for path in (log, copy):
        story = explained(binary, path)
        totals = story[-1]
        # The central reads this value without a pairing.
        assert "Email Address" in story[0]["attempted"] and "insufficient authentication" in story[0]["cause"]["text"]
        operations = captures.att_operations(path)
        assert totals["event"] == "explained"
        assert totals["records"] == captures.records(path)
        assert totals["attributePDUs"] == len(operations)
        assert totals["attributeErrors"] == sum(each.error is not None for each in operations)
        assert totals["malformed"] == 0
        (link,) = [each for each in story if each["event"] == "capturedConnection"]
        assert link["role"] == "central"
        assert "2A37" in {each["uuid"] for each in link["attributes"]}


@pytest.mark.parametrize("opcode", [0x10, 0x08, 0x0A, 0x12], ids=["services", "characteristics", "read", "subscription"])
async def test_the_verdict_names_the_end_by_a_foreign_peripheral(
    harald: Start, binary: str, tmp_path: Path, opcode: int
) -> None:
    """The exit status of `explain` is 8, and the packet of the cause is the disconnection."""
    path = tmp_path / "hang-up.btsnoop"
    async with controllers() as air, peripheral(air.transport, cut_at=opcode, mtu=64):
        async with harald("explore", "--controller", air.address, NAME, "--capture", str(path)) as process:
            assert await process.status() == 6
    verdict = explained(binary, path)[0]
    assert verdict["outcome"] == "failed"
    assert verdict["cause"]["text"].startswith("the peer ended the connection: remote power off"), verdict
    event = captures.tshark(path, "-Y", f"frame.number == {verdict['cause']['packet']}", "-T", "fields", "-e", "bthci_evt.code")
    assert event.strip() == "0x05"


@pytest.mark.parametrize(
    ("fault", "attempted", "cause"),
    [
        ("att-error=14", "looking for services", "the peer refused: unlikely error"),
        ("mtu-refused", "exchanging the MTU with", "the peer refused to exchange the MTU"),
        ("out-of-range@4", "keeping the connection to", "nothing was received from the peer"),
        ("", "", ""),
    ],
)
async def test_the_verdict_on_a_capture_of_bumble_names_the_fault(
    harald: Start, binary: str, capture: Callable[[str], Path], fault: str, attempted: str, cause: str
) -> None:
    """Bumble's host is the central of a sensor with a fault, or without one, and records what it does."""
    log = capture("bumble")
    faults = ["--fault", fault] if fault else []
    async with controllers() as air:
        async with harald("serve", "--controller", air.address, "heart-rate", "--name", SENSOR, *faults) as process:
            await process.line("advertising")
            async with central(air.transport, capture=log) as client:
                with contextlib.suppress(Exception):
                    await client.connect(SENSOR, mtu=247 if fault == "mtu-refused" else 23)
                    await client.table()
                    if "range" in fault:
                        await client.follow(HEART_RATE_MEASUREMENT, 100)
                    await client.disconnect()
    verdict = explained(binary, log)[0]
    assert verdict["outcome"] == ("failed" if fault else "succeeded"), verdict
    if fault:
        assert verdict["attempted"].startswith(attempted), verdict
        assert verdict["cause"]["text"].startswith(cause), verdict


# --- captures of other stacks -----------------------------------------------------------------------------------------

# Of centrals of `harald serve` with a fault, and of peripherals of `harald explore` or `harald read`, redacted: BlueZ 5.66 in
# the machine, recorded by its btmon, and NimBLE (commit 1e8ed602, on Linux) on `harald controllers`, between which a
# program copied the packets. What was attempted, and why it failed.
CAPTURES = Path(__file__).parents[1] / "captures"
BROKEN = {
    "bluez/central-att-error": ("exchanging the MTU with", "the peer refused to exchange the MTU"),
    "bluez/central-bond-lost": ("encrypting the link to", "the peer no longer has the key of the bond"),
    "bluez/central-malformed-answers": ("asking for the MTU of", "the peer did not respond within 30 s, but sent an unreadable PDU (opcode 0x2d)"),
    "bluez/central-no-answers": ("asking for the MTU of", "the peer did not respond within 30 s"),
    "bluez/central-pairing-declined": ("pairing with", "the peer ended the pairing: unspecified reason"),
    "bluez/central-peer-leaves": ("writing 0x000B Client Supported Features", "the peer disconnected before it responded"),
    "bluez/central-peer-vanishes": ("keeping the connection to", "nothing was received from the peer for 420 ms"),
    "bluez/peripheral-pairing-declined": ("pairing with", "the peer ended the pairing: unspecified reason"),
    "bluez/peripheral-peer-vanishes": ("keeping the connection to", "nothing was received from the peer for 720 ms"),
    "bluez/peripheral-unpaired-read": ("reading 0x0017 FFE1, on request of", "this device refused: insufficient encryption"),
    "nimble/central-att-error": ("looking for services of", "the peer refused: unlikely error"),
    "nimble/central-bond-lost": ("encrypting the link to", "the peer no longer has the key of the bond"),
    "nimble/central-malformed-answers": ("asking for the MTU of", "the peer did not respond within 30 s, but sent an unreadable PDU (opcode 0x2d)"),
    "nimble/central-no-answers": ("asking for the MTU of", "the peer did not respond within 30 s"),
    "nimble/central-pairing-declined": ("pairing with", "the peer ended the pairing: unspecified reason"),
    "nimble/central-peer-vanishes": ("keeping the connection to", "nothing was received from the peer for 2.6 s"),
    "nimble/central-short-answers": ("looking for services of", "the peer did not respond within 30 s, but sent an unreadable PDU (opcode 0x11)"),
    "nimble/central-unpaired-read": ("reading 0x001A HID Information (2A4A) of", "the peer refused: insufficient authentication"),
    "nimble/peripheral-pairing-declined": ("pairing with", "the peer ended the pairing: unspecified reason"),
    "nimble/peripheral-refuses-read": ("reading 0x0026 FFE1, on request of", "this device refused: unlikely error"),
    "nimble/peripheral-refuses-write": ("writing 0x0026 FFE1, on request of", "this device refused: application error 0x80"),
    "nimble/peripheral-unpaired-read": ("reading 0x0029 FFE2, on request of", "this device refused: insufficient authentication"),
}  # fmt: skip
HEALTHY = [
    "bluez/central-pairs", "bluez/central-pairs-unasked", "bluez/central-pairs-with-accessory", "bluez/central-read",
    "bluez/central-small-mtu", "bluez/central-uses-bond", "bluez/peripheral-pairs", "bluez/peripheral-pairs-again",
    "bluez/peripheral-uses-bond", "nimble/central-mtu-refused", "nimble/central-pairs", "nimble/central-pairs-legacy",
    "nimble/central-read", "nimble/central-small-mtu", "nimble/central-uses-bond", "nimble/peripheral-pairs",
]  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_the_verdict_on_a_broken_connection_of_another_stack_names_its_cause(binary: str, name: str) -> None:
    verdict = explained(binary, CAPTURES / f"{name}.btsnoop")[0]
    attempted, cause = BROKEN[name]
    assert verdict["attempted"].startswith(attempted), verdict
    assert verdict["cause"]["text"].startswith(cause), verdict


@pytest.mark.parametrize("name", HEALTHY)
def test_the_verdict_on_a_healthy_connection_of_another_stack_accuses_no_device(binary: str, name: str) -> None:
    verdict = explained(binary, CAPTURES / f"{name}.btsnoop")[0]
    assert verdict["outcome"] == "succeeded", verdict


def test_each_capture_is_judged() -> None:
    assert sorted([*BROKEN, *HEALTHY]) == sorted(f"{path.parent.name}/{path.stem}" for path in CAPTURES.glob("*/*"))


# --- redacted captures of the air -------------------------------------------------------------------------------------


def frames(path: Path) -> list[tuple[bytes, bytes]]:
    """The headers of records and the frames of a pcap file, without the pseudo-header of ten octets."""
    data, offset, found = path.read_bytes(), 24, []
    while offset < len(data):
        (length,) = struct.unpack_from("<I", data, offset + 8)
        found.append((data[offset : offset + 8], data[offset + 16 : offset + 16 + length]))
        offset += 16 + length
    return found


def with_header(link_type: int, number: int, frame: bytes) -> bytes:
    flags = int.from_bytes(frame[8:10], "little")
    if link_type == 251:
        return frame[10:]
    if link_type == 272:  # as the nRF Sniffer writes it
        header = struct.pack("<BBBBHBB", 1, 6, len(frame) & 0xFF, 1, number & 0xFFFF, 6, 10)
        sent = flags >> 7 & 7 == 2
        return header + struct.pack("<BBBHI", flags >> 11 & 1 | sent << 1, frame[0], 60, 0, 0) + frame[10:]
    return frame


def converted(path: Path, link_type: int) -> Path:
    """The same frames as another sniffer would write them."""
    plain = path.with_suffix(".pcap")
    subprocess.run(["editcap", "-F", "pcap", path, plain], check=True, capture_output=True, timeout=20)
    result = path.with_suffix(f".{link_type}.pcap")
    octets = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)
    for number, (time, frame) in enumerate(frames(plain)):
        frame = with_header(link_type, number, frame)
        octets += time + struct.pack("<II", len(frame), len(frame)) + frame
    result.write_bytes(octets)
    return result


def rows(path: Path, *fields: str) -> list[list[str]]:
    output = captures.tshark(path, "-T", "fields", "-E", "occurrence=f", *captures.as_options(list(fields)))
    return [line.split("\t") for line in output.splitlines()]


@pytest.fixture(scope="module")
def sniffed(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The air of a session with pairing."""
    path = tmp_path_factory.mktemp("sniffed") / "air.pcapng"
    ran(binary, "demo", "--virtual-time", "--air", str(path))
    return path


@pytest.mark.parametrize("link_type", [256, 251, 272])
def test_a_redacted_capture_of_the_air_opens_in_tshark(binary: str, sniffed: Path, link_type: int) -> None:
    """It has the same PDUs with right check sequences, none of them malformed, and other addresses, keys and names."""
    source = converted(sniffed, link_type)
    copy = source.with_suffix(".redacted")
    ran(binary, "redact", str(source), "-o", str(copy))
    before, after = explained(binary, source), explained(binary, copy)
    assert after[-1] == before[-1]
    assert [each["kind"] for each in after if each["event"] == "entry"] == [
        each["kind"] for each in before if each["event"] == "entry"
    ]
    assert captures.malformed(copy) == []
    kept = ["btle.access_address", "btle.advertising_header.pdu_type", "btle.advertising_header.length"]
    kept += ["btle.data_header.length", "btle.data_header.llid", "btle.link_layer_data.interval", "btle.crc.incorrect"]
    assert rows(copy, *kept) == rows(source, *kept)
    # In the clear, and not in what tshark takes ciphertext for.
    clear = ["btle.control_opcode", "btatt.opcode", "btsmp.opcode"]
    pairs = list(zip(rows(source, *clear), rows(copy, *clear)))
    end = next(index for index, (row, _) in enumerate(pairs) if row[0] == "0x05")
    assert [row for row, _ in pairs[:end]] == [row for _, row in pairs[:end]]
    assert {"0x03", "0x08"} <= {row[1] for row, _ in pairs[:end]} | {row[2] for row, _ in pairs[:end]}
    # Each address has one replacement, and each replacement one address.
    both = [(a[0], b[0]) for a, b in zip(rows(source, "btle.advertising_address"), rows(copy, "btle.advertising_address"))]
    assert len(set(both)) == len({a for a, _ in both}) == len({b for _, b in both}) > 2
    assert not {a for a, _ in both if a} & {b for _, b in both}
    secrets = [SENSOR.encode()] + [bytes.fromhex(a.replace(":", ""))[::-1] for a in {a for a, _ in both if a}]
    keys = {row[0] for row in rows(source, "btsmp.public_key_x") if row[0]}
    assert keys
    secrets += [bytes.fromhex(key.replace(":", ""))[:8] for key in keys]
    for secret in secrets:
        assert secret in source.read_bytes()
        assert secret not in copy.read_bytes()
