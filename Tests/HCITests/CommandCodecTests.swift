import BluetoothTypes
import EventLoops
import RandomPackets
import Testing

@testable import HCI

@Suite struct CommandCodecTests {
    static let names = HCICommandRegistry.all.map { $0.name }

    static func type(_ name: String) throws -> any HCICommand.Type {
        try #require(HCICommandRegistry.all.first { $0.name == name })
    }

    @Test(arguments: names) func everyCommandComesBackAsItWas(name: String) throws {
        func check<C: HCICommand>(_ type: C.Type) throws {
            let random = RandomSource(seed: UInt64(type.opcode.rawValue))
            for _ in 0..<50 {
                let command = RandomFields.value(type, random)
                let packet = HCIPacket(command)
                let frame = try CommandPacket(reading: packet.bytes)
                #expect(frame.opcode == type.opcode)
                #expect(try C(reading: frame.parameters) == command)
                let decoded = try #require(try HCICommandRegistry.decode(frame))
                #expect(decoded as? C == command)
                #expect(packet.description.hasPrefix(type.name))
                #expect(!packet.description.contains("malformed"))
            }
        }
        try check(Self.type(name))
    }

    @Test(arguments: names) func everyResponseComesBackAsItWas(name: String) throws {
        func check<C: HCICommand>(_ type: C.Type) throws {
            let random = RandomSource(seed: UInt64(type.opcode.rawValue))
            for _ in 0..<50 {
                let response = RandomFields.value(C.Response.self, random)
                let event = CommandComplete(type, response, credits: 3)
                let frame = try EventPacket(reading: HCIPacket(event).bytes)
                let complete = try CommandComplete.reading(frame.eventParameters)
                #expect(complete.credits == 3)
                #expect(try C.Response.reading(complete.parameters) == response)
                #expect(try HCICommandRegistry.decodeResponse(complete) as? C.Response == response)
                #expect(HCIPacket(event).description.contains(type.name))
            }
        }
        try check(Self.type(name))
    }

    @Test(arguments: names) func noPartOfACommandIsACommand(name: String) throws {
        func check<C: HCICommand>(_ type: C.Type) throws {
            let random = RandomSource(seed: UInt64(type.opcode.rawValue))
            let parameters = RandomFields.value(type, random).encoded()
            for length in 0..<parameters.count {
                #expect(throws: PacketError.self) { try C(reading: parameters.prefix(upTo: length)) }
            }
            var longer = parameters
            longer.append(0)
            #expect(throws: PacketError.self) { try C(reading: longer) }
            let packet = HCIPacket(RandomFields.value(type, random)).bytes
            for length in 0..<packet.count {
                #expect(throws: PacketError.self) { try CommandPacket(reading: packet.prefix(upTo: length)) }
            }
        }
        try check(Self.type(name))
    }

    @Test(arguments: names) func noPartOfAResponseIsASuccess(name: String) throws {
        func check<C: HCICommand>(_ type: C.Type) throws {
            var response = RandomFields.value(C.Response.self, RandomSource(seed: 1))
            response.status = .success
            let parameters = response.encoded()
            for length in 0..<parameters.count {
                #expect(throws: PacketError.self) { try C.Response.reading(parameters.prefix(upTo: length)) }
            }
            #expect(try C.Response.reading([0x0C]).status == .commandDisallowed)
            var longer = parameters
            longer.append(contentsOf: [1, 2, 3])
            #expect(try C.Response.reading(longer) == response)
        }
        try check(Self.type(name))
    }

    @Test func everyNumberStandsForOneCommand() {
        let all = HCICommandRegistry.all
        #expect(Set(all.map { $0.opcode }).count == all.count)
        #expect(Set(all.map { $0.name }).count == all.count)
        #expect(Set(all.compactMap { $0.supportBit }).count == all.count - 1)
        #expect(HCICommandRegistry.type(for: Opcode(rawValue: 0xFC01)) == nil)
        for command in all { #expect(HCICommandRegistry.type(for: command.opcode) == command) }
    }

    struct Sample: Sendable {
        var packet: HCIPacket
        var bytes: PacketBuffer
    }

    static let samples = [
        Sample(packet: HCIPacket(Reset()), bytes: [0x03, 0x0C, 0x00]),
        Sample(
            packet: HCIPacket(Disconnect(handle: .init(rawValue: 0x0040), reason: .remoteUserTerminated)),
            bytes: [0x06, 0x04, 0x03, 0x40, 0x00, 0x13]
        ),
        Sample(
            packet: HCIPacket(
                LESetScanParameters {
                    $0.kind = .active
                    $0.scanInterval = 0x0010
                    $0.scanWindow = 0x0008
                    $0.ownAddressKind = .randomDevice
                    $0.filterPolicy = .unfiltered
                }
            ),
            bytes: [0x0B, 0x20, 0x07, 0x01, 0x10, 0x00, 0x08, 0x00, 0x01, 0x00]
        ),
        Sample(
            packet: HCIPacket(LESetAdvertisingData(data: [0x02, 0x01, 0x06])),
            bytes: PacketBuffer([0x08, 0x20, 0x20, 0x03, 0x02, 0x01, 0x06] + [UInt8](repeating: 0, count: 28))
        ),
        Sample(
            packet: HCIPacket(
                LESetExtendedScanParameters {
                    $0.ownAddressKind = .publicDevice
                    $0.filterPolicy = .unfiltered
                    $0.le1M = .init(kind: .passive, scanInterval: 0x60, scanWindow: 0x30)
                    $0.coded = .init(kind: .active, scanInterval: 0x0120, scanWindow: 0x90)
                }
            ),
            bytes: [
                0x41, 0x20, 0x0D, 0x00, 0x00, 0x05, 0x00, 0x60, 0x00, 0x30, 0x00, 0x01, 0x20, 0x01, 0x90, 0x00,
            ]
        ),
        Sample(
            packet: HCIPacket(
                LESetExtendedAdvertisingEnable(
                    isEnabled: true,
                    sets: [.init(set: 1, duration: 0x0203, maxEvents: 4)]
                )
            ),
            bytes: [0x39, 0x20, 0x06, 0x01, 0x01, 0x01, 0x03, 0x02, 0x04]
        ),
        Sample(
            packet: HCIPacket(LERand()),
            bytes: [0x18, 0x20, 0x00]
        ),
    ]

    @Test(arguments: samples) func octetsAreAsTheSpecificationOrdersThem(sample: Sample) {
        #expect(sample.packet.bytes == sample.bytes)
    }

    @Test func anExtendedConnectionListsThePHYsInOrder() throws {
        var command = LEExtendedCreateConnection {
            $0.filterPolicy = .peerAddress
            $0.ownAddressKind = .publicDevice
            $0.peerAddress = BluetoothAddress(0x0102_0304_0506, kind: .randomDevice)
        }
        command.le1M = PHYConnectionParameters()
        command.coded = PHYConnectionParameters()
        command.coded?.scanInterval = 0xABCD
        let bytes = command.encoded()
        #expect(bytes.count == 10 + 16 + 16)
        #expect(bytes.prefix(upTo: 10).bytes == [0, 0, 1, 6, 5, 4, 3, 2, 1, 0b101])
        #expect(bytes[26] == 0xCD && bytes[27] == 0xAB)
        // Bit 3 is not a PHY, so the layout of the rest is unknown.
        var wrong = bytes
        wrong[9] = 0b1001
        #expect(throws: PacketError(.value(0b1001), at: "Initiating_PHYs")) {
            try LEExtendedCreateConnection(reading: wrong)
        }
    }

    @Test func advertisingDataAreCutToTheirLengthAndNoLonger() throws {
        var parameters = LESetAdvertisingData(data: [1, 2, 3]).encoded()
        #expect(try LESetAdvertisingData(reading: parameters).data == [1, 2, 3])
        parameters[0] = 32
        #expect(throws: PacketError.self) { try LESetAdvertisingData(reading: parameters) }
    }

    @Test func supportedCommandsAreBitsInSixtyFourOctets() throws {
        var commands = SupportedCommands([Reset.self, LESetEventMask.self, LESetHostFeature.self])
        #expect(commands.contains(Reset.self))
        #expect(commands.contains(ReadLocalSupportedCommands.self))
        #expect(!commands.contains(Disconnect.self))
        let bytes = commands.encoded()
        #expect(bytes.count == 64)
        #expect(bytes[5] == 0x80 && bytes[25] == 0x01 && bytes[44] == 0x02)
        commands.remove(Reset.self)
        #expect(!commands.contains(Reset.self))
        #expect(!commands.contains(.init(octet: 64, bit: 0)))
    }

    @Test func everyMemberOfASetOfBitsHasAName() throws {
        func check<F: WireFlags>(_ type: F.Type) {
            #expect(Set(F.names.map(\.name)).count == F.names.count)
            #expect(Set(F.names.map(\.flag.rawValue)).count == F.names.count)
        }
        check(LEFeatures.self)
        check(LEStates.self)
        check(EventMask.self)
        check(LEEventMask.self)
        #expect("\(LEPHYs(rawValue: 0b1011))" == "[1M, 2M, 0x8]")
        #expect(LEStates.names.reduce(LEStates()) { $0.union($1.flag) } == .all)
        #expect(LEEventMask.initial.allows(try #require(LEConnectionComplete.subevent)))
        #expect(!LEEventMask.initial.allows(try #require(LEDataLengthChange.subevent)))
        #expect("\(HCIStatus.connectionTimeout)" == "connection timeout (0x8)")
        #expect("\(HCIStatus(rawValue: 0xEE))" == "reserved (0xee)")
    }
}
