"""Reads btsnoop files with tshark, an independent decoder.

    Interop/peer captures FILE...              malformed packets; exit status 1 if there are any
    Interop/peer captures --att FILE...        ATT operations
    Interop/peer captures --advertising FILE...    advertising data, in commands and in reports
"""
from __future__ import annotations

import argparse
import functools
import json
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

H4_DATALINK = 1002
DEADLINE = 60

# How tshark reports packets that violate the specification. The last one covers all other errors it marks.
MALFORMED = (
    "_ws.malformed || btl2cap.length.bad || btl2cap.sdulength.bad || btl2cap.unknown_command_code"
    ' || _ws.expert.severity == "Error"'
)

ATT_NAMES = {
    0x01: "error", 0x02: "mtu request", 0x03: "mtu response", 0x04: "find information request",
    0x05: "find information response", 0x06: "find by type request", 0x07: "find by type response",
    0x08: "read by type request", 0x09: "read by type response", 0x0A: "read request", 0x0B: "read response",
    0x0C: "read blob request", 0x0D: "read blob response", 0x10: "read by group type request",
    0x11: "read by group type response", 0x12: "write request", 0x13: "write response", 0x16: "prepare write request",
    0x17: "prepare write response", 0x18: "execute write request", 0x19: "execute write response",
    0x1B: "notification", 0x1D: "indication", 0x1E: "confirmation", 0x52: "write command",
}  # fmt: skip
# The number of octets before the value: opcode, handle, offset.
HEADER = {0x0B: 1, 0x0D: 1, 0x12: 3, 0x52: 3, 0x16: 5, 0x17: 5, 0x1B: 3, 0x1D: 3}


class UnreadableCapture(Exception):
    pass


@dataclass(frozen=True)
class ATTOperation:
    frame: int
    from_controller: bool
    opcode: int
    handle: int | None
    value: bytes | None
    error: int | None

    @property
    def name(self) -> str:
        return ATT_NAMES.get(self.opcode, f"opcode 0x{self.opcode:02X}")


@dataclass(frozen=True)
class Advertising:
    """Advertising data or a scan response: received (with address and RSSI) or sent to the controller (without)."""

    frame: int
    address: str | None
    rssi: int | None
    name: str | None
    uuids: tuple[str, ...]
    manufacturer_data: bytes | None


def tshark(path: Path, *arguments: str) -> str:
    """The output of tshark, cached by the state of the file, because tshark takes 0.2 s to start."""
    return tshark_at(path, path.stat().st_mtime_ns, *arguments)


@functools.cache
def tshark_at(path: Path, _: int, *arguments: str) -> str:
    command = ["tshark", "-n", "-r", str(path), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    except FileNotFoundError:
        raise UnreadableCapture("there is no tshark; run Interop/setup") from None
    if done.returncode:
        complaint = [line for line in done.stderr.splitlines() if "as user \"root\"" not in line]
        raise UnreadableCapture(f"{path}: " + " ".join(complaint))
    return done.stdout


def records(path: Path) -> int:
    """Checks the headers, about which tshark is lenient, and counts the packets."""
    data = path.read_bytes()
    if len(data) < 16 or data[:8] != b"btsnoop\0":
        raise UnreadableCapture(f"{path}: not a btsnoop file")
    version, datalink = struct.unpack(">II", data[8:16])
    if (version, datalink) != (1, H4_DATALINK):
        raise UnreadableCapture(f"{path}: version {version} and datalink {datalink} in the place of 1 and {H4_DATALINK}")
    offset, count = 16, 0
    while offset < len(data):
        if offset + 24 > len(data):
            raise UnreadableCapture(f"{path}: cut off in the header of record {count + 1}")
        original, included, flags = struct.unpack_from(">III", data, offset)
        if original != included or flags > 3 or offset + 24 + included > len(data):
            raise UnreadableCapture(f"{path}: record {count + 1} is cut off or has a wrong header")
        offset, count = offset + 24 + included, count + 1
    return count


OUT_OF_SESSION = 'Frame is out of any "connection handle" session'


def malformed(path: Path) -> list[str]:
    """A line for each packet that tshark reports as malformed."""
    fields = ["frame.number", "_ws.col.Protocol", "_ws.col.Info", "_ws.expert.message"]
    lines = tshark(path, "-Y", MALFORMED, "-T", "fields", *as_options(fields)).splitlines()
    excused = parts_of_advertising_data(path) | commands_of_enhanced_channels(path) if lines else set()
    excused |= data_of_newest_connections(path, lines)
    return [line for line in lines if line.split("\t")[0] not in excused]


def data_of_newest_connections(path: Path, lines: list[str]) -> set[str]:
    """The frames with data of links that were reported by LE Enhanced Connection Complete in its second version
    (Core Vol 4 Part E 7.7.65.10). tshark 4.0 does not support that event, and reports their links as unknown."""
    suspects = {line.split("\t")[0] for line in lines if line.split("\t")[3] == OUT_OF_SESSION}
    known, excused = set(), set()
    for number, packet in enumerate(packets(path) if suspects else [], 1):
        if packet[:2] == b"\x04\x3e" and packet[3:5] == b"\x29\x00":
            known.add(int.from_bytes(packet[5:7], "little"))
        elif packet[:1] == b"\x02" and str(number) in suspects and int.from_bytes(packet[1:3], "little") & 0xFFF in known:
            excused.add(str(number))
    return excused


def commands_of_enhanced_channels(path: Path) -> set[str]:
    """The frames with a valid command of enhanced credit-based channels (Core Vol 3 Part A 4.25 to 4.28). tshark 4.0
    reports their codes as unknown, and checks nothing else; so the valid ones are excused."""
    fields = ["frame.number", "_ws.expert.message"]
    output = tshark(path, "-Y", "btl2cap.unknown_command_code", "-T", "fields", *as_options(fields))
    # tshark reports the second for a capture that starts after the connection.
    harmless = {"Unknown Command Code", OUT_OF_SESSION}
    unknown = {int(frame) for frame, messages in (line.split("\t") for line in output.splitlines())
               if harmless.issuperset(messages.split(","))}  # fmt: skip
    return {str(frame) for frame, packet in enumerate(packets(path), 1) if frame in unknown and is_enhanced(packet)}


def packets(path: Path) -> list[bytes]:
    """The records of a file in which ``records`` finds no error."""
    data = path.read_bytes()
    offset, found = 16, []
    while offset < len(data):
        (included,) = struct.unpack_from(">I", data, offset + 4)
        found.append(data[offset + 24 : offset + 24 + included])
        offset += 24 + included
    return found


def is_enhanced(packet: bytes) -> bool:
    """Whether an ACL packet is one whole, valid command of enhanced credit-based channels."""
    if len(packet) < 13 or packet[0] != 2:
        return False
    acl, length, channel, code, identifier, count = struct.unpack_from("<HHHBBH", packet, 3)
    values = packet[13:]
    if (acl, length, channel, count) != (len(packet) - 5, len(packet) - 9, 5, len(values)) or not identifier or count % 2:
        return False
    words = struct.unpack(f"<{count // 2}H", values)
    # The number of words before the channels; a response has its result after the credits.
    fixed = {0x17: 4, 0x18: 4, 0x19: 2, 0x1A: 1}.get(code, 0)
    numbers = words[fixed:]
    if not fixed or len(words) < fixed:
        return False
    if code == 0x1A:
        return not numbers and words[0] <= 4
    # A refused channel has no CID.
    given = [number for number in numbers if number or code != 0x18]
    if not 1 <= len(numbers) <= 5 or len(set(given)) < len(given) or not all(0x40 <= each <= 0x7F for each in given):
        return False
    sizes = words[1:3] if code == 0x17 else words[:2]
    return not given or (min(sizes) >= 64 and (code == 0x19 or (words[3] if code == 0x17 else words[2]) > 0))


def parts_of_advertising_data(path: Path) -> set[str]:
    """The frames that carry a part of some advertising data. tshark parses each part as if it were complete, and
    reports structures that continue in the next one as errors; the tests compare the reassembled data instead."""
    fields = ["frame.number", "bthci_cmd.adv_data_operation", "bthci_evt.le_ext_advts_event_type.data_status"]
    fields.append("bthci_evt.bd_addr")
    output = tshark(path, "-Y", f"{fields[1]} || {fields[2]}", "-T", "fields", *as_options(fields))
    parts, unfinished = set(), set()
    for frame, operation, statuses, addresses in (line.split("\t") for line in output.splitlines()):
        # First, intermediate and last: 1, 0 and 2 (Core Vol 4 Part E 7.8.54).
        if operation and int(operation, 16) <= 2:
            parts.add(frame)
        # Incomplete, with more to follow: 1 (7.7.65.13).
        for status, address in zip(statuses.split(","), addresses.split(",")):
            if status and (int(status, 16) != 0 or address in unfinished):
                parts.add(frame)
            (unfinished.add if status and int(status, 16) == 1 else unfinished.discard)(address)
    return parts


def commands(path: Path) -> list[int]:
    """The opcodes of all commands, in order."""
    return [int(each, 16) for each in tshark(path, "-T", "fields", "-e", "bthci_cmd.opcode").split()]


def att_operations(path: Path) -> list[ATTOperation]:
    # tshark splits the value of a known characteristic into specific fields; the octets have the same form for all.
    output = tshark(path, "-Y", "btatt", "-T", "json", "-x", "-j", "btatt hci_h4 frame")
    packets = json.loads(output, object_pairs_hook=first_of_each)
    return [att_operation(packet["_source"]["layers"]) for packet in packets]


def att_operation(layers: dict[str, Any]) -> ATTOperation:
    fields = layers["btatt"]
    opcode = int(fields["btatt.opcode"], 16)
    handle, error = fields.get("btatt.handle"), fields.get("btatt.error_code")
    octets = bytes.fromhex(layers["btatt_raw"][0])
    return ATTOperation(
        frame=int(layers["frame"]["frame.number"]),
        from_controller=layers["hci_h4"]["hci_h4.direction"] == "0x01",
        opcode=opcode,
        handle=int(handle, 16) if handle else None,
        value=octets[HEADER[opcode] :] if opcode in HEADER else None,
        error=int(error, 16) if error else None,
    )


def first_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """tshark repeats keys: the first one belongs to the packet itself, and the others to nested lists in it."""
    return dict(reversed(pairs))


def advertising(path: Path) -> list[Advertising]:
    entry = "btcommon.eir_ad.entry."
    fields = [
        "frame.number", "bthci_evt.le_num_reports", "bthci_evt.bd_addr", "bthci_evt.rssi", entry + "device_name",
        entry + "uuid_16", entry + "uuid_128", entry + "custom_uuid_128", entry + "company_id", entry + "data",
    ]  # fmt: skip
    output = tshark(path, "-Y", "btcommon.eir_ad.advertising_data", "-T", "fields", *as_options(fields))
    return [advertising_of(path, line.split("\t")) for line in output.splitlines()]


def advertising_of(path: Path, columns: list[str]) -> Advertising:
    frame, reports, address, rssi, name, short, long, unknown, company, data = columns
    if reports not in ("", "1"):
        # In tshark's columns the data cannot be matched to the reports.
        raise UnreadableCapture(f"{path}: frame {frame} has {reports} reports; one for each event is read")
    uuids = [f"{int(each, 16):04X}" for each in short.split(",") if each]
    uuids += [hyphened(each) for each in (long + "," + unknown).split(",") if each]
    manufacturer = int(company, 16).to_bytes(2, "little") + octets_of(data) if company else None
    return Advertising(
        int(frame), address.upper() or None, int(rssi) if rssi else None, name or None, tuple(uuids), manufacturer
    )


def octets_of(field: str) -> bytes:
    return bytes.fromhex(field.replace(":", ""))


def hyphened(field: str) -> str:
    digits = octets_of(field).hex().upper()
    return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])


def as_options(fields: list[str]) -> list[str]:
    return [option for name in fields for option in ("-e", name)]


def show(path: Path, arguments: argparse.Namespace) -> bool:
    """Prints the findings, and returns whether the capture is valid."""
    if arguments.att:
        for each in att_operations(path):
            direction = "<" if each.from_controller else ">"
            handle = f"0x{each.handle:04X}" if each.handle is not None else ""
            error = f"error 0x{each.error:02X}" if each.error is not None else ""
            print(f"{each.frame:6} {direction} {each.name:28} {handle:6} {(each.value or b'').hex()}{error}".rstrip())
    elif arguments.advertising:
        for each in advertising(path):
            data = each.manufacturer_data.hex() if each.manufacturer_data else ""
            print(f"{each.frame:6} {each.address} {each.rssi} {each.name} {' '.join(each.uuids)} {data}".rstrip())
    else:
        found = malformed(path)
        print(f"{path}: {records(path)} packets, {len(found)} malformed", *found, sep="\n  ")
        return not found
    return True


def main() -> int:
    parser = argparse.ArgumentParser(prog="peer captures", description=__doc__.split("\n\n")[0])
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--att", action="store_true", help="list the ATT operations")
    what.add_argument("--advertising", action="store_true", help="list advertising data and scan responses")
    parser.add_argument("files", type=Path, nargs="+")
    arguments = parser.parse_args()
    try:
        return 0 if all([show(path, arguments) for path in arguments.files]) else 1
    except (UnreadableCapture, OSError) as error:
        print(f"peer captures: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
