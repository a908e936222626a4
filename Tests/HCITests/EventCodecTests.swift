import BluetoothTypes
import EventLoops
import RandomPackets
import Testing

@testable import HCI

@Suite struct EventCodecTests {
    static let names = HCIEventRegistry.all.map { $0.name }

    static func type(_ name: String) throws -> any HCIEvent.Type {
        try #require(HCIEventRegistry.all.first { $0.name == name })
    }

    @Test(arguments: names) func everyEventComesBackAsItWas(name: String) throws {
        func check<E: HCIEvent>(_ type: E.Type) throws {
            let random = RandomSource(seed: UInt64(type.eventCode.rawValue))
            for _ in 0..<50 {
                let event = RandomFields.value(type, random)
                let packet = HCIPacket(event)
                let frame = try EventPacket(reading: packet.bytes)
                #expect(frame.code == type.eventCode)
                #expect(frame.subevent == type.subevent)
                #expect(try E.reading(frame.eventParameters) == event)
                #expect(try HCIEventRegistry.decode(frame) as? E == event)
                // The random return parameters do not match the random command.
                if !(event is CommandComplete) { #expect(packet.description.hasPrefix(type.name)) }
            }
        }
        try check(Self.type(name))
    }

    @Test("AB-H02: a truncated event is never decoded as an event", arguments: names)
    func noPartOfAnEventIsAnEvent(name: String) throws {
        func check<E: HCIEvent>(_ type: E.Type) throws {
            let random = RandomSource(seed: UInt64(type.eventCode.rawValue))
            var event = RandomFields.value(type, random)
            // Return parameters take the rest of the event, so any length is valid.
            if var complete = event as? CommandComplete {
                complete.parameters = []
                event = complete as? E ?? event
            }
            let parameters = event.encoded()
            for length in 0..<parameters.count {
                #expect(throws: PacketError.self) { try E.reading(parameters.prefix(upTo: length)) }
            }
            let packet = HCIPacket(event).bytes
            for length in 0..<packet.count {
                #expect(throws: PacketError.self) { try EventPacket(reading: packet.prefix(upTo: length)) }
                #expect(HCIPacket(.event, packet.prefix(upTo: length)).description.contains("malformed"))
            }
            var longer = parameters
            longer.append(0xFF)
            #expect(try E.reading(longer) == (event as? CommandComplete).map { _ in try E.reading(longer) } ?? event)
        }
        try check(Self.type(name))
    }

    @Test func everyNumberStandsForOneEvent() {
        let all = HCIEventRegistry.all
        #expect(Set(all.map { "\($0.eventCode) \($0.subevent?.description ?? "")" }).count == all.count)
        for event in all { #expect(HCIEventRegistry.type(for: event.eventCode, subevent: event.subevent) == event) }
        #expect(all.filter { $0.eventCode == .leMeta }.allSatisfy { $0.subevent != nil })
    }

    @Test func aMakersOwnEventIsNobodysEvent() throws {
        #expect(try HCIEventRegistry.decode(EventPacket(code: .vendorSpecific, parameters: [1, 2, 3])) == nil)
        #expect(try HCIEventRegistry.decode(EventPacket(code: .leMeta, parameters: [])) == nil)
        #expect(try HCIEventRegistry.decode(EventPacket(code: .leMeta, parameters: [0xFE])) == nil)
    }

    @Test func theFieldsOfAReportStandTogether() throws {
        // Core Vol 4 Part E 5.2: report after report, not field after field.
        let parameters: PacketBuffer = [
            0x02,
            0x00, 0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0xC6, 0x03, 0x02, 0x01, 0x06, 0xD8,
            0x04, 0x00, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x00, 0x7F,
        ]
        let event = try LEAdvertisingReport.reading(parameters)
        #expect(
            event.reports == [
                AdvertisingReport(
                    kind: .connectableScannable,
                    address: BluetoothAddress(0xC605_0403_0201, kind: .randomDevice),
                    data: [0x02, 0x01, 0x06],
                    rssi: -40
                ),
                AdvertisingReport(
                    kind: .scanResponse,
                    address: BluetoothAddress(0x1615_1413_1211, kind: .publicDevice),
                    data: [],
                    rssi: 127
                ),
            ]
        )
        #expect(event.encoded() == parameters)
    }

    @Test func anExtendedReportSaysHowMuchOfTheDataItHolds() throws {
        let parameters: PacketBuffer = [
            0x01, 0x23, 0x00, 0xFF, 0, 0, 0, 0, 0, 0, 0x01, 0x02, 0x05, 0x7F, 0xC4, 0x50, 0x00, 0x00, 0, 0, 0, 0, 0, 0,
            0x02, 0xAA, 0xBB,
        ]
        let event = try LEExtendedAdvertisingReport.reading(parameters)
        let report = try #require(event.reports.first)
        #expect(report.kind.contains([.connectable, .scannable]))
        #expect(report.kind.dataStatus == .moreToCome)
        #expect(report.secondaryPHY == .le2M)
        #expect(report.sid == 5)
        #expect(report.txPower == 127)
        #expect(report.rssi == -60)
        #expect(report.periodicInterval == 0x0050)
        #expect(report.data == [0xAA, 0xBB])
        var kind = report.kind
        kind.dataStatus = .truncated
        #expect(kind.rawValue == 0x43)
        #expect(event.encoded() == parameters)
    }

    @Test(
        "AB-H03: reports that an event announces but does not contain are not read",
        arguments: [UInt8(0), 2, 25, 255]
    )
    func reportsThatAreNotThereAreNotRead(count: UInt8) {
        let one: [UInt8] = [0x00, 0x01, 1, 2, 3, 4, 5, 6, 0x00, 0xC4]
        #expect(throws: PacketError.self) { try LEAdvertisingReport.reading(PacketBuffer([count] + one)) }
        #expect(throws: PacketError.self) { try LEExtendedAdvertisingReport.reading(PacketBuffer([count] + one)) }
        #expect(throws: PacketError.self) { try LEDirectedAdvertisingReport.reading(PacketBuffer([count] + one)) }
    }

    @Test("AB-H03: the data of a report do not extend beyond the event")
    func dataDoNotReachBeyondTheEvent() {
        for length in 1...255 {
            let bytes: [UInt8] = [1, 0x00, 0x01, 1, 2, 3, 4, 5, 6, UInt8(length), 0xC4]
            #expect(throws: PacketError.self) { try LEAdvertisingReport.reading(PacketBuffer(bytes)) }
        }
    }

    @Test func aLineOfALogTellsWhatHappened() {
        let handle = ConnectionHandle(rawValue: 0x40)
        let lines = [
            PacketPrinter.line(
                HCIPacket(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled)),
                .hostToController
            ),
            PacketPrinter.line(
                HCIPacket(CommandComplete(ReadRSSI.self, .init(handle: handle, rssi: -50))),
                .controllerToHost
            ),
            PacketPrinter.line(
                HCIPacket(CommandStatus(status: .success, credits: 1, opcode: Disconnect.opcode)),
                .controllerToHost
            ),
            PacketPrinter.line(
                HCIPacket(ACLPacket(handle: handle, boundary: .start, payload: [3, 0, 4, 0, 0x0A, 1, 0])),
                .controllerToHost
            ),
            PacketPrinter.line(HCIPacket(.event, [0xFF, 0x02, 0x01, 0x02]), .controllerToHost),
            PacketPrinter.line(HCIPacket(.event, [0x05, 0x09, 0x01]), .controllerToHost),
        ]
        #expect(
            lines == [
                "> LE Set Scan Enable (0x200c): LE_Scan_Enable: 1, Filter_Duplicates: disabled",
                "< Command Complete: Read RSSI (0x1405), Num_HCI_Command_Packets: 1, Status: success (0x0), Handle: 0x40, RSSI: -50",
                "< Command Status Disconnect (0x0406): Num_HCI_Command_Packets: 1, success (0x0)",
                "< ACL Data 0x40 start 7 octets: 030004000a0100",
                "< vendor event 0102",
                "< event 050901: malformed, Parameters: 9 octets needed, 1 left",
            ]
        )
    }
}
