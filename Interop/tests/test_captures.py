"""Every capture that the Swift tests left in .build/captures, as decoded by tshark."""
from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from conftest import ROOT
from peers import captures

DIRECTORY = ROOT / ".build/captures"


def fault(path: Path) -> str | None:
    try:
        captures.records(path)
        found = captures.malformed(path)
    except captures.UnreadableCapture as error:
        return str(error)
    return "\n".join([f"{path.relative_to(DIRECTORY)}:", *found]) if found else None


def test_no_capture_of_the_swift_tests_is_malformed() -> None:
    paths = sorted(DIRECTORY.glob("**/*.btsnoop"))
    if not paths:
        pytest.fail(f"{DIRECTORY} has no captures; `swift test` writes them", pytrace=False)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [each for each in pool.map(fault, paths) if each]
    if faults:
        pytest.fail("\n\n".join(faults), pytrace=False)


# --- the air, as a sniffer records it ---------------------------------------------------------------------------------

LINK_TYPE = 256  # LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR


def air(name: str) -> Path:
    path = DIRECTORY / f"{name}.pcapng"
    if not path.exists():
        pytest.fail(f"there is no {path}; `swift test` writes it", pytrace=False)
    return path


def frames(path: Path) -> list[tuple[int, bytes]]:
    """The frames, with their time in microseconds. Checks the headers, about which tshark is lenient."""
    found = []
    for number, (kind, body) in enumerate(blocks(path.read_bytes())):
        if number == 0:
            assert kind == 0x0A0D0D0A and struct.unpack("<IHHq", body) == (0x1A2B3C4D, 1, 0, -1)
        elif number == 1:
            assert kind == 1 and struct.unpack("<HHI", body) == (LINK_TYPE, 0, 65535)
        else:
            interface, high, low, included, original = struct.unpack_from("<IIIII", body)
            assert kind == 6 and interface == 0 and included == original <= len(body) - 20
            found.append((high << 32 | low, body[20 : 20 + included]))
    return found


def blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The blocks of a pcapng file: their types and bodies."""
    offset = 0
    while offset < len(data):
        kind, length = struct.unpack_from("<II", data, offset)
        assert length % 4 == 0 and struct.unpack_from("<I", data, offset + length - 4) == (length,)
        yield kind, data[offset + 8 : offset + length - 4]
        offset += length


def columns(path: Path, condition: str, *fields: str) -> list[list[str]]:
    output = captures.tshark(path, "-Y", condition, "-T", "fields", *captures.as_options(list(fields)))
    return [line.split("\t") for line in output.splitlines()]


def in_cipher(path: Path) -> set[str]:
    """The frames that are encrypted, judging by unencrypted ones: after LL_START_ENC_REQ (0x05), every PDU of the
    link with a payload. tshark parses them as if they were not encrypted."""
    condition = "btle.data_header.length > 0 || btle.control_opcode"
    links, found = set(), set()
    for frame, link, opcode in columns(path, condition, "frame.number", "btle.access_address", "btle.control_opcode"):
        if link in links:
            found.add(frame)
        elif opcode and int(opcode, 16) == 0x05:
            links.add(link)
    return found


def in_the_clear(path: Path, condition: str, *fields: str) -> list[list[str]]:
    hidden = in_cipher(path)
    return [row[1:] for row in columns(path, condition, "frame.number", *fields) if row[0] not in hidden]


def test_no_capture_of_the_air_is_malformed() -> None:
    paths = sorted(DIRECTORY.glob("**/*.pcapng"))
    assert paths, "`swift test` writes captures of the air"
    for path in paths:
        times = [time for time, _ in frames(path)]
        assert times and times == sorted(times)
        hidden = in_cipher(path)
        assert [each for each in captures.malformed(path) if each.split("\t")[0] not in hidden] == []


@pytest.mark.parametrize("name", ["heart-1.air", "heart-1.near", "heart-2.air"])
def test_the_whole_session_is_seen_on_the_air(name: str) -> None:
    path = air(name)
    # Each packet has its sender's name.
    assert {row[0] for row in columns(path, "frame", "frame.comment")} == {"Phone", "Harald HR"}
    # The app reconnects.
    assert len(columns(path, "btle.advertising_header.pdu_type == 5", "frame.number")) == 2
    control = {int(row[0], 16) for row in in_the_clear(path, "btle.control_opcode", "btle.control_opcode")}
    # LL_LENGTH_REQ, LL_LENGTH_RSP, LL_ENC_REQ, LL_ENC_RSP, LL_START_ENC_REQ; the rest is encrypted.
    assert {0x14, 0x15, 0x03, 0x04, 0x05} <= control
    notifications = in_the_clear(path, "btatt.opcode == 0x1b", "btatt.handle", "btle_rf.pdu_type")
    # From the peripheral to the central: 3.
    assert len(notifications) >= 10 and {row[1] for row in notifications} == {"3"}
    requests = in_the_clear(path, "btatt.opcode == 0x0a", "btle_rf.pdu_type")
    assert {row[0] for row in requests} == {"2"}
    assert len(in_cipher(path)) > 20


def test_others_with_the_key_read_what_is_encrypted() -> None:
    """Core Vol 6 Part B 5.1.3.1, Part E 2, with an independent AES."""
    key, starts = bytes(range(1, 17)), {}
    counters, told = {2: 0, 3: 0}, {2: [], 3: []}
    cipher = nonce = None
    for _, octets in frames(air("encrypted.air")):
        direction = int.from_bytes(octets[8:10], "little") >> 7 & 7
        header, payload = octets[14:16], octets[16:-3]
        if direction not in counters or not payload:
            continue
        if cipher is None:
            if header[0] & 3 == 3 and payload[0] in (0x03, 0x04):
                starts[payload[0]] = payload[11:] if payload[0] == 0x03 else payload[1:]
            if header[0] & 3 == 3 and payload[0] == 0x05:
                diversifier = starts[0x03][:8] + starts[0x04][:8]
                block = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
                cipher = AESCCM(block.update(diversifier[::-1]), tag_length=4)
                nonce = starts[0x03][8:12] + starts[0x04][8:12]
            continue
        # The direction bit is set for the central's packets.
        counter = (counters[direction] | (direction == 2) << 39).to_bytes(5, "little")
        told[direction].append((header[0] & 3, cipher.decrypt(counter + nonce, payload, bytes([header[0] & 0xE3]))))
        counters[direction] += 1
    notification = (2, bytes([5, 0, 4, 0, 0x1B, 0x0E, 0x00, 0x16, 0x48]))
    # LL_START_ENC_RSP first, LL_TERMINATE_IND of the central last.
    assert told[2][0] == told[3][0] == (3, b"\x06")
    assert notification in told[2] and notification in told[3]
    assert told[2][-1] == (3, b"\x02\x13")


@pytest.mark.parametrize(("name", "phy", "number"), [("phy-1", "1M", 0), ("phy-2", "2M", 1), ("phy-4", "Coded", 2)])
def test_each_phy_is_read(name: str, phy: str, number: int) -> None:
    path = air(f"{name}.air")
    (notification,) = columns(path, "btatt.opcode == 0x1b", "btatt.value", "btle_rf.phy", "btle_rf.signal_dbm")
    assert notification[0].replace(":", "") == "1648"
    assert int(notification[1], 0) == number, phy
    # The distance to each is 0.7 m.
    assert notification[2] == "-37"
    (ending,) = columns(path, "btle.control_opcode == 0x02", "btle.control.error_code")
    assert int(ending[0], 16) == 0x13


def test_a_train_is_read() -> None:
    path = air("train.air")
    fields = [f"btle.extended_advertising_header.sync_info.{name}" for name in ("access_address", "interval", "crc_init")]
    ((address, interval, initial),) = {tuple(row) for row in columns(path, fields[0], *fields)}
    assert int(interval, 0) == 80
    of_train = [octets for _, octets in frames(path) if octets[10:14] == int(address, 0).to_bytes(4, "little")]
    assert len(of_train) >= 30 and all(check(octets[14:-3], int(initial, 0)) == octets[-3:] for octets in of_train)
    # AUX_SYNC_IND and AUX_CHAIN_IND by the flags of the file: the type in bits 7 to 9, and the kind of auxiliary PDU in
    # 12 and 13.
    flags = {int.from_bytes(octets[8:10], "little") & 0x3380 for octets in of_train}
    assert flags == {0x2080, 0x1080}
    control = {int(row[0], 16) for row in in_the_clear(path, "btle.control_opcode", "btle.control_opcode")}
    # LL_PERIODIC_SYNC_IND and LL_SUBRATE_IND.
    assert {0x1C, 0x27} <= control
    ((told, number),) = columns(path, "btle.control.sync.id", "btle.control.sync_info.access_address", "btle.control.sync.id")
    assert (told, int(number, 0)) == (address, 0x0102)


def test_a_train_with_responses_is_read() -> None:
    path = air("responses.air")
    prefix = "btle.extended_advertising_header"
    ((train,),) = {tuple(row) for row in columns(path, f"{prefix}.sync_info.access_address", f"{prefix}.sync_info.access_address")}
    # Periodic Advertising Response Timing Information, starting with RspAA. tshark reports only that there is ACAD.
    told = columns(path, f"{prefix}.acad", "frame.number")
    with_acad = [frames(path)[int(number) - 1][1] for (number,) in told]
    (acad,) = {octets[octets.index(bytes([9, 0x32])) :][:10] for octets in with_acad}
    assert acad[6:] == bytes([4, 16, 4, 20])
    address = int(train, 0).to_bytes(4, "little")
    sent = [octets for _, octets in frames(path) if octets[10:14] == address]
    responses = [octets for _, octets in frames(path) if octets[10:14] == acad[2:6]]
    assert len(sent) >= 50 and len(responses) >= 15
    # AUX_CONNECT_REQ and AUX_CONNECT_RSP have the access address of the train.
    assert [octets[14] & 0x0F for octets in sent].count(5) == [octets[14] & 0x0F for octets in sent].count(8) == 1
    control = {int(row[0], 16) for row in in_the_clear(path, "btle.control_opcode", "btle.control_opcode")}
    assert 0x2A in control


def test_a_sniffer_in_bad_air_sees_wrong_checks() -> None:
    condition = "btle_rf.flags.crc_checked == 1 && btle_rf.flags.crc_valid == 0"
    assert len(columns(air("heart-2.near"), condition, "frame.number")) > 10
    assert columns(air("heart-1.near"), condition, "frame.number") == []
    assert columns(air("heart-2.air"), condition, "frame.number") == []


def without_pseudo_header(path: Path, target: Path, *, spoilt: int = 0) -> Path:
    """Rewrites a capture as LINKTYPE_BLUETOOTH_LE_LL, so that tshark has to compute the CRC itself; the first few
    are corrupted."""
    data = bytearray(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 251))
    for number, (time, octets) in enumerate(frames(path)):
        frame = bytearray(octets[10:])
        frame[-1] ^= number < spoilt
        data += struct.pack("<IIII", time // 1_000_000, time % 1_000_000, len(frame), len(frame)) + frame
    target.write_bytes(data)
    return target


def test_tshark_computes_the_same_checks_of_advertising(tmp_path: Path) -> None:
    path = air("heart-1.air")
    for spoilt in (0, 3):
        plain = without_pseudo_header(path, tmp_path / f"{spoilt}.pcap", spoilt=spoilt)
        wrong = columns(plain, '_ws.expert.message == "Incorrect CRC"', "frame.number")
        assert [int(row[0]) for row in wrong] == list(range(1, spoilt + 1))


def check(pdu: bytes, initial: int) -> bytes:
    """The shift register as the specification draws it (Core Vol 6 Part B 3.1.1), bit by bit."""
    register = [initial >> position & 1 for position in range(24)]
    for octet in pdu:
        for bit in range(8):
            feedback = register[23] ^ (octet >> bit & 1)
            register = [feedback] + [
                register[position - 1] ^ (feedback if position in (1, 3, 4, 6, 9, 10) else 0) for position in range(1, 24)
            ]
    sent = register[::-1]
    return bytes(sum(sent[8 * index + bit] << bit for bit in range(8)) for index in range(3))


def test_checks_of_a_connection_begin_as_its_connect_ind_says() -> None:
    path = air("heart-1.air")
    (address, initial), _ = columns(
        path, "btle.advertising_header.pdu_type == 5", "btle.link_layer_data.access_address", "btle.link_layer_data.crc_init"
    )
    data = [octets for _, octets in frames(path) if octets[10:14] == int(address, 16).to_bytes(4, "little")]
    assert len(data) > 100
    assert all(check(octets[14:-3], int(initial, 16)) == octets[-3:] for octets in data)
