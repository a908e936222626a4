import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import HCITransports

@Suite struct DongleMachineTests {
    private static let event = HCIPacket(.event, PacketBuffer([0x3E, 0x28] + [UInt8](repeating: 0x5A, count: 40)))
    private static let reset = HCIPacket(.command, [3, 0x0C, 0])

    private static func data(_ count: Int) -> HCIPacket {
        HCIPacket(
            .acl,
            PacketBuffer(
                [0x40, 0, UInt8(count & 0xFF), UInt8(count >> 8)] + (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            )
        )
    }

    private static func ask(
        _ sequence: UInt32,
        _ type: UInt8,
        _ request: UInt8,
        _ value: UInt16,
        _ index: UInt16,
        _ size: UInt16,
        _ octets: [UInt8] = []
    ) -> DongleMachine.Event {
        let setup = USBSetup(requestType: type, request: request, value: value, index: index, size: size)
        let isIn = type & 0x80 != 0
        return .request(
            .submit(
                USBIPSubmission(
                    sequence: sequence,
                    endpoint: 0,
                    isIn: isIn,
                    length: Int(size),
                    setup: setup,
                    octets: octets
                )
            )
        )
    }

    private static func read(_ endpoint: UInt8, _ sequence: UInt32, _ length: Int) -> DongleMachine.Event {
        let setup = USBSetup(requestType: 0, request: 0)
        return .request(
            .submit(USBIPSubmission(sequence: sequence, endpoint: endpoint, isIn: true, length: length, setup: setup))
        )
    }

    private static func write(_ sequence: UInt32, _ octets: [UInt8], endpoint: UInt8 = 2) -> DongleMachine.Event {
        let setup = USBSetup(requestType: 0, request: 0)
        return .request(
            .submit(
                USBIPSubmission(
                    sequence: sequence,
                    endpoint: endpoint,
                    isIn: false,
                    length: octets.count,
                    setup: setup,
                    octets: octets
                )
            )
        )
    }

    private static func said(_ sequence: UInt32, _ octets: [UInt8]) -> DongleMachine.Action {
        .reply(.submitted(sequence: sequence, status: .done, length: octets.count, octets: octets))
    }

    private static func taken(_ sequence: UInt32, _ count: Int) -> DongleMachine.Action {
        .reply(.submitted(sequence: sequence, status: .done, length: count, octets: []))
    }

    private static func stalled(_ sequence: UInt32) -> DongleMachine.Action {
        .reply(.submitted(sequence: sequence, status: .stalled, length: 0, octets: []))
    }

    private static func answer(_ actions: [DongleMachine.Action]) -> [UInt8]? {
        guard case .reply(.submitted(_, .done, _, let octets))? = actions.first else { return nil }
        return octets
    }

    // MARK: Descriptors

    @Test("Core Vol 4 Part B 2.1: a computer recognises a Bluetooth controller with its two interfaces")
    func aComputerFindsAController() throws {
        var machine = DongleMachine()
        let device = try #require(Self.answer(machine.handle(Self.ask(1, 0x80, 6, 0x0100, 0, 18))))
        #expect(device == [18, 1, 0, 2, 0xE0, 1, 1, 64, 0x09, 0x12, 0x1E, 0x0B, 0, 1, 1, 2, 3, 1])
        let head = try #require(Self.answer(machine.handle(Self.ask(2, 0x80, 6, 0x0200, 0, 9))))
        let total = Int(head[2]) | Int(head[3]) << 8
        let all = try #require(Self.answer(machine.handle(Self.ask(3, 0x80, 6, 0x0200, 0, UInt16(total)))))
        #expect(all.count == total)
        #expect(head.count == 9)
        // Descriptors follow one another by their lengths.
        var (descriptors, rest) = ([[UInt8]](), all[...])
        while let length = rest.first, length > 1 {
            descriptors.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        #expect(rest.isEmpty)
        #expect(
            descriptors.filter { $0[1] == 4 }.map { Array($0[2...4]) } == [[0, 0, 3]] + (0...5).map { [1, $0, 2] }
        )
        #expect(descriptors.filter { $0[1] == 4 }.allSatisfy { Array($0[5...7]) == [0xE0, 1, 1] })
        let endpoints = descriptors.filter { $0[1] == 5 }.prefix(3)
        #expect(endpoints.map { Array($0[2...4]) } == [[0x81, 3, 16], [0x82, 2, 64], [0x02, 2, 64]])
        #expect(
            Self.answer(machine.handle(Self.ask(4, 0x80, 6, 0x0302, 0x0409, 255)))?.dropFirst(2).first
                == UInt8(ascii: "H")
        )
    }

    @Test func aComputerChoosesTheConfigurationAndSettings() {
        var machine = DongleMachine()
        #expect(Self.answer(machine.handle(Self.ask(1, 0x80, 8, 0, 0, 1))) == [0])
        #expect(machine.handle(Self.ask(2, 0x00, 9, 1, 0, 0)) == [Self.said(2, []), .configured])
        #expect(Self.answer(machine.handle(Self.ask(3, 0x80, 8, 0, 0, 1))) == [1])
        #expect(machine.handle(Self.ask(4, 0x01, 11, 5, 1, 0)) == [Self.said(4, [])])
        #expect(Self.answer(machine.handle(Self.ask(5, 0x81, 10, 0, 1, 1))) == [5])
        for refused in [
            Self.ask(6, 0x01, 11, 6, 1, 0), Self.ask(6, 0x01, 11, 1, 0, 0), Self.ask(6, 0, 9, 2, 0, 0),
            Self.ask(6, 0x80, 6, 0x0600, 0, 10), Self.ask(6, 0xC0, 1, 0, 0, 10),
        ] {
            #expect(machine.handle(refused) == [Self.stalled(6)])
        }
    }

    // MARK: Packets

    @Test("Core Vol 4 Part B 2.2: a command is a request on endpoint 0", arguments: [0x20, 0x21] as [UInt8])
    func aCommandIsARequest(type: UInt8) {
        var machine = DongleMachine()
        #expect(
            machine.handle(Self.ask(1, type, 0, 0, 0, 3, [3, 0x0C, 0])) == [Self.taken(1, 3), .deliver(Self.reset)]
        )
    }

    @Test(
        "anything but a command is rejected",
        arguments: [[], [3], [3, 0x0C], [3, 0x0C, 1], [3, 0x0C, 0, 0]] as [[UInt8]]
    )
    func otherPacketsThanCommandsAreRejected(octets: [UInt8]) {
        var machine = DongleMachine()
        #expect(machine.handle(Self.ask(1, 0x20, 0, 0, 0, UInt16(octets.count), octets)) == [Self.stalled(1)])
    }

    @Test func eventsAreCutToThePacketsOfTheInterruptEndpoint() {
        var machine = DongleMachine()
        let octets = Self.event.bytes.bytes
        #expect(machine.handle(.send(Self.event)).isEmpty)
        #expect(machine.handle(Self.read(1, 1, 16)) == [Self.said(1, Array(octets[0..<16]))])
        #expect(machine.handle(Self.read(1, 2, 16)) == [Self.said(2, Array(octets[16..<32]))])
        #expect(machine.handle(Self.read(1, 3, 16)) == [Self.said(3, Array(octets[32..<42]))])
        #expect(machine.handle(Self.read(1, 4, 16)).isEmpty)
        #expect(machine.handle(.send(HCIPacket(.event, [0x10, 0]))) == [Self.said(4, [0x10, 0])])
    }

    @Test func dataGoesBothWaysByBulkEndpoints() {
        var machine = DongleMachine()
        for sequence in 1...3 as ClosedRange<UInt32> { #expect(machine.handle(Self.read(2, sequence, 1_028)).isEmpty) }
        #expect(machine.handle(.send(Self.data(100))) == [Self.said(1, Self.data(100).bytes.bytes)])
        #expect(machine.handle(.send(Self.data(0))) == [Self.said(2, Self.data(0).bytes.bytes)])
        let octets = Self.data(27).bytes.bytes
        #expect(machine.handle(Self.write(9, Array(octets[..<20]))) == [Self.taken(9, 20)])
        #expect(
            machine.handle(Self.write(10, Array(octets[20...]) + octets)) == [
                Self.taken(10, 42), .deliver(Self.data(27)), .deliver(Self.data(27)),
            ]
        )
    }

    @Test("a cancelled transfer loses no data")
    func aTransferIsUnlinked() {
        var machine = DongleMachine()
        _ = machine.handle(Self.read(1, 1, 16))
        _ = machine.handle(Self.read(1, 2, 16))
        #expect(
            machine.handle(.request(.unlink(sequence: 3, transfer: 1))) == [
                .reply(.unlinked(sequence: 3, status: .unlinked))
            ]
        )
        #expect(
            machine.handle(.request(.unlink(sequence: 4, transfer: 1))) == [
                .reply(.unlinked(sequence: 4, status: .done))
            ]
        )
        #expect(machine.handle(.send(HCIPacket(.event, [0x10, 0]))) == [Self.said(2, [0x10, 0])])
        #expect(
            machine.handle(.request(.unlink(sequence: 5, transfer: 2))) == [
                .reply(.unlinked(sequence: 5, status: .done))
            ]
        )
    }

    @Test(
        "transfers split and merged at random carry all octets in order",
        arguments: 1...20 as ClosedRange<UInt64>
    )
    func randomlySplitTransfersArriveWhole(seed: UInt64) {
        var machine = DongleMachine(splitting: RandomSource(seed: seed))
        let packets = [0, 1, 60, 124, 500].map(Self.data)
        for packet in packets { #expect(machine.handle(.send(packet)).isEmpty) }
        var (found, sizes, reassembler) = ([HCIPacket](), [Int](), USBReassembler())
        for sequence in 1...1_000 as ClosedRange<UInt32> {
            guard let octets = Self.answer(machine.handle(Self.read(2, sequence, 1_028))) else { break }
            #expect(1...1_028 ~= octets.count)
            sizes.append(octets.count)
            found += reassembler.reassemble(octets, from: .bulk)
        }
        #expect(found == packets)
        #expect(sizes != packets.map(\.bytes.count))
    }

    @Test("no transfer has one octet of an event behind the end of another one, which Linux would drop")
    func eventsThatAreJoinedBeginWithTheirHeaders() {
        var joined = 0
        for seed in 1...100 as ClosedRange<UInt64> {
            var machine = DongleMachine(splitting: RandomSource(seed: seed))
            for _ in 0..<20 { #expect(machine.handle(.send(Self.event)).isEmpty) }
            var end = 0
            let length = Self.event.bytes.count
            for sequence in 1...1_000 as ClosedRange<UInt32> {
                guard let octets = Self.answer(machine.handle(Self.read(1, sequence, 64))) else { break }
                let begin = end
                end += octets.count
                let boundary = end / length * length
                guard boundary > begin, boundary < end else { continue }
                #expect(end - boundary > 1, "seed \(seed)")
                joined += 1
            }
            #expect(end == 20 * length)
        }
        #expect(joined > 100)
    }

    @Test("a new host does not receive the rest of its predecessor's packet")
    func theRestOfAPacketIsForgotten() {
        var machine = DongleMachine()
        for sequence in 1...2 as ClosedRange<UInt32> { _ = machine.handle(Self.read(1, sequence, 16)) }
        #expect(machine.handle(.send(Self.event)).count == 2)
        // A host that is merely slow gets the rest of it.
        #expect(Self.answer(machine.handle(Self.read(1, 3, 16)))?.count == 10)
        _ = machine.handle(Self.read(1, 4, 16))
        #expect(machine.handle(.send(Self.event)).count == 1)
        _ = machine.handle(.request(.unlink(sequence: 5, transfer: 4)))
        #expect(machine.handle(Self.read(1, 6, 16)).isEmpty)
        // A host whose reads are still pending has received all of it.
        _ = machine.handle(.request(.unlink(sequence: 7, transfer: 6)))
        #expect(machine.handle(.send(Self.event)).isEmpty)
        #expect(Self.answer(machine.handle(Self.read(1, 8, 16)))?.count == 16)
    }

    // MARK: Bulk Serialization Mode

    @Test(
        "Core 6.2 Vol 4 Part B: in Bulk Serialization Mode all packets use the bulk endpoints, with their types, and no others"
    )
    func allGoesByBulkEndpoints() {
        var machine = DongleMachine(descriptors: DongleDescriptors(offersSerialization: true))
        #expect(machine.handle(Self.ask(1, 0x01, 11, 1, 0, 0)) == [Self.said(1, [])])
        #expect(Self.answer(machine.handle(Self.ask(2, 0x81, 10, 0, 0, 1))) == [1])
        #expect(machine.handle(Self.write(3, [1, 3, 0x0C, 0])) == [Self.taken(3, 4), .deliver(Self.reset)])
        _ = machine.handle(Self.read(2, 4, 64))
        #expect(machine.handle(.send(HCIPacket(.event, [0x10, 0]))) == [Self.said(4, [4, 0x10, 0])])
        for refused in [
            Self.ask(9, 0x20, 0, 0, 0, 3, [3, 0x0C, 0]), Self.ask(9, 0x01, 11, 1, 1, 0), Self.read(1, 9, 16),
        ] {
            #expect(machine.handle(refused) == [Self.stalled(9)])
        }
        #expect(machine.handle(Self.write(10, [9])) == [Self.taken(10, 1), .failed])
        // Back to the first setting.
        #expect(machine.handle(Self.ask(11, 0x01, 11, 0, 0, 0)) == [Self.said(11, [])])
        #expect(
            machine.handle(Self.ask(12, 0x20, 0, 0, 0, 3, [3, 0x0C, 0])) == [Self.taken(12, 3), .deliver(Self.reset)]
        )
    }

    // MARK: Limits

    @Test func unreadPacketsAreBounded() {
        var machine = DongleMachine()
        for _ in 0..<10_000 { #expect(machine.handle(.send(Self.event)).isEmpty) }
        #expect(machine.droppedPackets == 10_000 - DongleInput.maximumReady / 42)
        #expect(Self.answer(machine.handle(Self.read(1, 1, 16)))?.count == 16)
    }

    @Test func transfersThatWaitAreBounded() {
        var machine = DongleMachine()
        for sequence in 1...UInt32(DongleInput.maximumWaiting) {
            #expect(machine.handle(Self.read(2, sequence, 64)).isEmpty)
        }
        #expect(machine.handle(Self.read(2, 1_000, 64)) == [Self.stalled(1_000)])
    }

    @Test("requests that no device supports are rejected")
    func unsupportedRequestsAreRejected() {
        var machine = DongleMachine()
        let lie = USBSetup(requestType: 0x80, request: 6, value: 0x0100, size: 18)
        let requests: [DongleMachine.Event] = [
            Self.write(1, [1], endpoint: 1), Self.read(3, 1, 9), Self.write(1, [1], endpoint: 3), Self.read(15, 1, 9),
            .request(
                .submit(USBIPSubmission(sequence: 1, endpoint: 0, isIn: false, length: 2, setup: lie, octets: [1, 2]))
            ),
        ]
        for request in requests { #expect(machine.handle(request) == [Self.stalled(1)]) }
        // A transfer of length zero carries nothing.
        #expect(machine.handle(Self.read(2, 2, 0)) == [Self.said(2, [])])
    }
}
