"""Bumble's virtual controllers: every TCP connection gets one, all on one simulated link, as with rootcanal.

    Interop/peer controllers [PORT]      controllers on PORT (default 9100) of 127.0.0.1, until Ctrl-C

The controller in Bumble 0.0.236 was written for Bumble's own host. Behaviour that breaks other hosts is corrected here,
and each correction states its purpose.
"""
from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bumble import hci, ll
from bumble.controller import Connection, Controller, LegacyAdvertiser
from bumble.core import PhysicalTransport
from bumble.link import LocalLink
from bumble.transport.common import StreamPacketSink, StreamPacketSource

from peers.ports import HOST

SUCCESS = hci.HCI_ErrorCode.SUCCESS
EXTENDED_REPORT = hci.HCI_LE_Extended_Advertising_Report_Event
LEGACY_REPORT = hci.HCI_LE_Advertising_Report_Event

# Bits of the event type in an extended advertising report.
CONNECTABLE, SCANNABLE, SCAN_RESPONSE, LEGACY, MORE_DATA = 0x01, 0x02, 0x08, 0x10, 0x20
# The event types of legacy advertising PDUs in the legacy report.
OLD_EVENT_TYPE = {
    LEGACY | CONNECTABLE | SCANNABLE: 0,  # ADV_IND
    LEGACY | SCANNABLE: 2,  # ADV_SCAN_IND
    LEGACY: 3,  # ADV_NONCONN_IND
}
SCAN_RSP = 4
REPORT_ROOM = 229  # octets of data that fit an extended advertising report

LE_COMMANDS_IT_FORGETS_TO_LIST = (
    "SET_ADVERTISING_SET_RANDOM_ADDRESS",
    "SET_EXTENDED_ADVERTISING_PARAMETERS",
    "SET_EXTENDED_ADVERTISING_DATA",
    "SET_EXTENDED_SCAN_RESPONSE_DATA",
    "SET_EXTENDED_ADVERTISING_ENABLE",
    "READ_MAXIMUM_ADVERTISING_DATA_LENGTH",
    "READ_NUMBER_OF_SUPPORTED_ADVERTISING_SETS",
    "REMOVE_ADVERTISING_SET",
    "CLEAR_ADVERTISING_SETS",
    "SET_EXTENDED_SCAN_PARAMETERS",
    "SET_EXTENDED_SCAN_ENABLE",
    "EXTENDED_CREATE_CONNECTION",
)


class SimulatedLink(LocalLink):
    def send_acl_data(
        self, sender: Controller, destination: hci.Address, transport: PhysicalTransport, data: bytes
    ) -> None:
        """Bumble uses the sender's current random address as the source, and so loses data from a device that
        connected with its public address. The connection has the right address."""
        connection = sender.le_connections.get(destination)
        receiver = self.find_le_controller(destination)
        if connection and receiver:
            asyncio.get_running_loop().call_soon(
                receiver.on_link_acl_data, connection.self_address, transport, data
            )


class SimulatedController(Controller):
    # Hosts use this list to choose between legacy and extended advertising.
    supported_commands = Controller.supported_commands | {
        getattr(hci, f"HCI_LE_{name}_COMMAND") for name in LE_COMMANDS_IT_FORGETS_TO_LIST
    }
    rssi = -50
    _extended_scan = False
    _connect_ind: ll.ConnectInd | None = None

    # --- reset and disconnection

    def on_hci_reset_command(self, command: hci.HCI_Reset_Command) -> hci.HCI_StatusReturnParameters:
        """Bumble keeps all state at a reset: advertising and links would affect the next host."""
        self.silence()
        return super().on_hci_reset_command(command)

    def silence(self) -> None:
        """Makes the peers lose the link, as when a device goes out of range."""
        for connection in list(self.le_connections.values()):
            if peer := self.link.find_le_controller(connection.peer_address):
                if lost := peer.le_connections.get(connection.self_address):
                    peer.on_le_disconnected(lost, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)
        self.le_connections.clear()
        for advertising_set in self.advertising_sets.values():
            advertising_set.stop()
        self.advertising_sets.clear()
        self.le_legacy_advertiser.stop()
        self.le_legacy_advertiser = LegacyAdvertiser(self)
        self.le_scan_enable = False
        self.pending_le_connection = None
        self.le_event_mask = 0x1F  # the default: not the enhanced event

    # --- commands

    def on_hci_command(self, command: hci.HCI_Command) -> hci.HCI_StatusReturnParameters | None:
        """Bumble sends no response to an unknown command with a Command Status: the host would wait for ever."""
        unknown = super().on_hci_command(command)
        if isinstance(command, hci.HCI_SyncCommand):
            return unknown
        self._send_hci_command_status(hci.HCI_ErrorCode.UNKNOWN_HCI_COMMAND_ERROR, command.op_code)
        return None

    def on_hci_le_create_connection_cancel_command(
        self, command: hci.HCI_LE_Create_Connection_Cancel_Command
    ) -> hci.HCI_StatusReturnParameters:
        """Bumble accepts the command and continues. A controller ends the attempt with an event."""
        pending = self.pending_le_connection
        if pending is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        self.pending_le_connection = None
        cancelled = hci.HCI_LE_Connection_Complete_Event(
            status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
            connection_handle=0,
            role=hci.Role.CENTRAL,
            peer_address_type=pending.peer_address_type,
            peer_address=pending.peer_address,
            connection_interval=0,
            peripheral_latency=0,
            supervision_timeout=0,
            central_clock_accuracy=0,
        )
        # After the Command Complete event, which is sent when this function returns.
        asyncio.get_running_loop().call_soon(self.send_hci_packet, cancelled)
        return hci.HCI_StatusReturnParameters(SUCCESS)

    def on_hci_le_set_scan_enable_command(
        self, command: hci.HCI_LE_Set_Scan_Enable_Command
    ) -> hci.HCI_StatusReturnParameters:
        self._extended_scan = False
        return super().on_hci_le_set_scan_enable_command(command)

    def on_hci_le_set_extended_scan_parameters_command(
        self, command: hci.HCI_LE_Set_Extended_Scan_Parameters_Command
    ) -> hci.HCI_StatusReturnParameters:
        self.le_scan_type = max(command.scan_types, default=0)
        return super().on_hci_le_set_extended_scan_parameters_command(command)

    def on_hci_le_set_extended_scan_enable_command(
        self, command: hci.HCI_LE_Set_Extended_Scan_Enable_Command
    ) -> hci.HCI_StatusReturnParameters:
        self._extended_scan = True
        return super().on_hci_le_set_extended_scan_enable_command(command)

    # --- advertising reports

    def on_advertising_pdu(self, pdu: ll.AdvInd | ll.AdvExtInd) -> None:
        """Bumble reports each PDU twice, the second time as a scan response with the advertising data. It does so
        for passive scanners too, and in the format that the features suggest instead of the one that the host
        uses."""
        if self.le_scan_enable:
            event_type, scan_response = self._advertiser(pdu)
            self._report(pdu, event_type, bytes(pdu.data))
            if event_type & SCANNABLE and self.le_scan_type:
                self._report(pdu, event_type | SCAN_RESPONSE, scan_response)
        pending = self.pending_le_connection
        if pending and pending.peer_address == pdu.advertiser_address:
            self.create_le_connection(pdu.advertiser_address)

    def _advertiser(self, pdu: ll.AdvInd | ll.AdvExtInd) -> tuple[int, bytes]:
        """The event type and the scan response, which Bumble's PDU lacks, from the controller that sent it."""
        for controller in self.link.controllers:
            legacy = controller.le_legacy_advertiser
            if isinstance(pdu, ll.AdvInd) and legacy.enabled and legacy.address == pdu.advertiser_address:
                return LEGACY | CONNECTABLE | SCANNABLE, bytes(legacy.scan_response_data)
            for each in controller.advertising_sets.values():
                if isinstance(pdu, ll.AdvExtInd) and each.enabled and each.address == pdu.advertiser_address:
                    properties = int(each.parameters.advertising_event_properties)
                    kept = properties & (CONNECTABLE | SCANNABLE | LEGACY)
                    return kept, bytes(each.scan_response_data)
        return 0, b""

    def _report(self, pdu: ll.AdvInd | ll.AdvExtInd, event_type: int, data: bytes) -> None:
        if not self._extended_scan:
            if event_type & LEGACY:
                self._report_to_old_scanner(pdu, event_type, data)
            return
        legacy = bool(event_type & LEGACY)
        for start in range(0, len(data) or 1, REPORT_ROOM):
            more = MORE_DATA if start + REPORT_ROOM < len(data) else 0
            report = EXTENDED_REPORT.Report(
                event_type=event_type | more,
                address_type=pdu.advertiser_address.address_type,
                address=pdu.advertiser_address,
                primary_phy=hci.Phy.LE_1M,
                secondary_phy=0 if legacy else hci.Phy.LE_1M,
                advertising_sid=0xFF if legacy else pdu.sid,
                tx_power=EXTENDED_REPORT.TX_POWER_INFORMATION_NOT_AVAILABLE,
                rssi=self.rssi,
                periodic_advertising_interval=0,
                direct_address_type=0,
                direct_address=hci.Address.ANY,
                data=data[start : start + REPORT_ROOM],
            )
            self.send_hci_packet(EXTENDED_REPORT([report]))

    def _report_to_old_scanner(self, pdu: ll.AdvInd | ll.AdvExtInd, event_type: int, data: bytes) -> None:
        report = LEGACY_REPORT.Report(
            event_type=SCAN_RSP if event_type & SCAN_RESPONSE else OLD_EVENT_TYPE[event_type],
            address_type=pdu.advertiser_address.address_type,
            address=pdu.advertiser_address,
            data=data,
            rssi=self.rssi,
        )
        self.send_hci_packet(LEGACY_REPORT([report]))

    # --- connections

    def on_le_connect_ind(self, packet: ll.ConnectInd) -> None:
        self._connect_ind = packet
        super().on_le_connect_ind(packet)
        self._connect_ind = None

    def send_hci_packet(self, packet: hci.HCI_Packet) -> None:
        if isinstance(packet, hci.HCI_LE_Connection_Complete_Event):
            packet = self._true_to(packet)
        super().send_hci_packet(packet)

    def _true_to(self, event: hci.HCI_LE_Connection_Complete_Event) -> hci.HCI_LE_Meta_Event:
        """Bumble reports invented parameters to the peripheral, and sends the legacy event even if the host has
        enabled the enhanced one and waits for it."""
        if self._connect_ind:
            event.connection_interval = self._connect_ind.interval
            event.peripheral_latency = self._connect_ind.latency
            event.supervision_timeout = self._connect_ind.timeout
        fields = {
            name: getattr(event, name)
            for name in (
                "status", "connection_handle", "role", "peer_address_type", "peer_address", "connection_interval",
                "peripheral_latency", "supervision_timeout",
            )
        }  # fmt: skip
        if not self.le_event_mask & 1 << 9:
            return hci.HCI_LE_Connection_Complete_Event(**fields, central_clock_accuracy=0)
        return hci.HCI_LE_Enhanced_Connection_Complete_Event(
            **fields,
            central_clock_accuracy=0,
            local_resolvable_private_address=hci.Address.ANY,
            peer_resolvable_private_address=hci.Address.ANY,
        )

    def on_le_disconnected(self, connection: Connection, reason: int) -> None:
        # Both sides may disconnect at once; Bumble then removes the connection twice.
        if self.le_connections.get(connection.peer_address) is connection:
            super().on_le_disconnected(connection, reason)


class HostConnection(StreamPacketSource):
    """A host connected by TCP. It has a controller of its own, which leaves the air with it."""

    def __init__(self, air: Air) -> None:
        super().__init__()
        self.air = air

    def connection_made(self, transport: asyncio.Transport) -> None:
        number = self.air.next_number()
        self.controller = SimulatedController(
            f"C{number}",
            host_source=self,
            host_sink=StreamPacketSink(transport),
            link=self.air.link,
            public_address=f"C0:DE:00:00:00:{number:02X}",
        )
        self.controller.rssi = self.air.rssi
        self.air.hosts.append(transport)
        self.air.newest = self.controller

    def connection_lost(self, error: Exception | None) -> None:
        self.controller.silence()
        self.controller.host = None
        self.air.link.remove_controller(self.controller)


class Air:
    def __init__(self, rssi: int) -> None:
        self.link = SimulatedLink()
        self.rssi = rssi
        self.hosts: list[asyncio.Transport] = []
        self.newest: SimulatedController | None = None  # of the last host
        self._count = 0
        self.address = self.transport = ""  # in the formats of Harald's --controller and of Bumble

    def next_number(self) -> int:
        self._count += 1
        return self._count

    def listens_on(self, port: int) -> None:
        self.address = f"tcp:{HOST}:{port}"
        self.transport = f"tcp-client:{HOST}:{port}"


@asynccontextmanager
async def controllers(port: int = 0, rssi: int = -50) -> AsyncIterator[Air]:
    """Port 0 selects a free port."""
    air = Air(rssi)
    server = await asyncio.get_running_loop().create_server(lambda: HostConnection(air), HOST, port)
    air.listens_on(server.sockets[0].getsockname()[1])
    try:
        yield air
    finally:
        server.close()
        for transport in air.hosts:
            transport.abort()


async def serve(port: int, rssi: int) -> None:
    async with controllers(port, rssi) as air:
        print(f"controllers for every connection to {air.address}", flush=True)
        await asyncio.Event().wait()


def main() -> int:
    parser = argparse.ArgumentParser(prog="peer controllers", description=__doc__.split("\n\n")[0])
    parser.add_argument("port", type=int, nargs="?", default=9100, help="0 selects a free port")
    parser.add_argument("--rssi", type=int, default=-50, help="the RSSI of every advertising report, in dBm")
    arguments = parser.parse_args()
    try:
        asyncio.run(serve(arguments.port, arguments.rssi))
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        print(f"peer controllers: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
