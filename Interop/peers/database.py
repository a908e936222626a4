"""The GATT database of the foreign peripheral: a typical heart rate sensor, and a service with all rarer features,
so that a client that reads everything exercises most of GATT."""
from __future__ import annotations

from bumble import att
from bumble.att import Attribute
from bumble.core import UUID
from bumble.gatt import Characteristic, CharacteristicValue, Descriptor, Service

READABLE, WRITEABLE = Attribute.Permissions.READABLE, Attribute.Permissions.WRITEABLE
NEEDS_ENCRYPTION = Attribute.Permissions.READ_REQUIRES_ENCRYPTION
Properties = Characteristic.Properties


def custom(number: int) -> UUID:
    """One of Harald's own 128-bit UUIDs; it ends in the letters HARALD."""
    return UUID(f"{number:08X}-1A6C-4C56-9D2E-484152414C44")


def text(uuid: UUID) -> str:
    """The UUID in Core Bluetooth's format: 180D, or with hyphens for 128 bits."""
    return uuid.to_hex_str("-")


HEART_RATE, HEART_RATE_MEASUREMENT = UUID("180D"), UUID("2A37")
BODY_SENSOR_LOCATION, HEART_RATE_CONTROL_POINT = UUID("2A38"), UUID("2A39")
BATTERY, BATTERY_LEVEL = UUID("180F"), UUID("2A19")
DEVICE_INFORMATION = UUID("180A")
MANUFACTURER_NAME, MODEL_NUMBER, SERIAL_NUMBER, FIRMWARE_REVISION, SYSTEM_ID = (
    UUID("2A29"), UUID("2A24"), UUID("2A25"), UUID("2A26"), UUID("2A23"),
)  # fmt: skip
ENVIRONMENT, TEMPERATURE = UUID("181A"), UUID("2A6E")  # the included service, a secondary one
USER_DESCRIPTION, PRESENTATION_FORMAT = UUID("2901"), UUID("2904")

WORKSHOP = custom(0x100)
NOTE = custom(0x101)  # read, write, write without response; with descriptors
LONG = custom(0x102)  # read, write; longer than any one packet
TICKS = custom(0x103)  # notify: a 32-bit counter
ALARM = custom(0x104)  # indicate: a 32-bit counter, incremented after each confirmation
EMPTY = custom(0x105)  # read: empty
REFUSED = custom(0x106)  # read: always an application error
SECRET = custom(0x107)  # read: only over an encrypted link

EXTRA = custom(0x200)  # a service that is added later
EXTRA_NOTE = custom(0x201)  # read

LONG_VALUE = bytes(index * 7 & 0xFF for index in range(400))
APPLICATION_ERROR = 0x80

# The values that a client must read, by characteristic.
VALUES: dict[UUID, bytes] = {
    BODY_SENSOR_LOCATION: b"\x02",
    BATTERY_LEVEL: bytes([87]),
    MANUFACTURER_NAME: b"Foreign Instruments",
    MODEL_NUMBER: b"FI-1",
    SERIAL_NUMBER: b"0001",
    FIRMWARE_REVISION: b"1.2.3",
    SYSTEM_ID: bytes.fromhex("f0debc9a78563412"),
    TEMPERATURE: (2150).to_bytes(2, "little"),
    NOTE: "prêt".encode(),
    LONG: LONG_VALUE,
    EMPTY: b"",
}
EXTRA_VALUE = b"new here"
# The characteristics that cannot be read, with the ATT error.
ERRORS: dict[UUID, int] = {REFUSED: APPLICATION_ERROR, SECRET: att.ATT_INSUFFICIENT_ENCRYPTION_ERROR}
DESCRIPTIONS: dict[UUID, bytes] = {NOTE: b"A note"}
FORMAT = bytes([0x19, 0, 0, 0x27, 1, 0, 0])  # UTF-8 string, no unit


def heart_rate(beats: int) -> bytes:
    """A measurement with sensor contact and one RR interval, in 1/1024 s."""
    return bytes([0b10110, beats]) + (60 * 1024 // beats).to_bytes(2, "little")


def refuse(_: object) -> bytes:
    raise att.ATT_Error(APPLICATION_ERROR)


def readable(uuid: UUID) -> Characteristic:
    return Characteristic(uuid, Properties.READ, READABLE, VALUES[uuid])


class Database:
    def __init__(self) -> None:
        self.measurement = Characteristic(HEART_RATE_MEASUREMENT, Properties.NOTIFY, Attribute.Permissions(0))
        self.control_point = Characteristic(HEART_RATE_CONTROL_POINT, Properties.WRITE, WRITEABLE, b"")
        self.note = Characteristic(
            NOTE,
            Properties.READ | Properties.WRITE | Properties.WRITE_WITHOUT_RESPONSE,
            READABLE | WRITEABLE,
            VALUES[NOTE],
            [
                Descriptor(USER_DESCRIPTION, READABLE, DESCRIPTIONS[NOTE]),
                Descriptor(PRESENTATION_FORMAT, READABLE, FORMAT),
            ],
        )
        self.long = Characteristic(LONG, Properties.READ | Properties.WRITE, READABLE | WRITEABLE, VALUES[LONG])
        self.ticks = Characteristic(TICKS, Properties.NOTIFY, Attribute.Permissions(0))
        self.alarm = Characteristic(ALARM, Properties.INDICATE, Attribute.Permissions(0))
        self.services = self._services()

    @staticmethod
    def extra_service() -> Service:
        return Service(EXTRA, [Characteristic(EXTRA_NOTE, Properties.READ, READABLE, EXTRA_VALUE)])

    @property
    def writable(self) -> list[Characteristic]:
        return [self.control_point, self.note, self.long]

    def _services(self) -> list[Service]:
        environment = Service(ENVIRONMENT, [readable(TEMPERATURE)], primary=False)
        heart = Service(HEART_RATE, [self.measurement, readable(BODY_SENSOR_LOCATION), self.control_point])
        battery = Characteristic(BATTERY_LEVEL, Properties.READ | Properties.NOTIFY, READABLE, VALUES[BATTERY_LEVEL])
        about = [MANUFACTURER_NAME, MODEL_NUMBER, SERIAL_NUMBER, FIRMWARE_REVISION, SYSTEM_ID]
        workshop = Service(
            WORKSHOP,
            [
                self.note,
                self.long,
                self.ticks,
                self.alarm,
                readable(EMPTY),
                Characteristic(REFUSED, Properties.READ, READABLE, CharacteristicValue(read=refuse)),
                Characteristic(SECRET, Properties.READ, READABLE | NEEDS_ENCRYPTION, b"secret"),
            ],
            included_services=[environment],
        )
        return [
            environment,
            heart,
            Service(BATTERY, [battery]),
            Service(DEVICE_INFORMATION, [readable(uuid) for uuid in about]),
            workshop,
        ]
