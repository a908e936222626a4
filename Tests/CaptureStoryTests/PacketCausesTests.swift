import BluetoothTypes
import EventLoops
import Testing

@testable import CaptureStory
@testable import HCI

/// The causes of packets, in captures whose causes are known.
@Suite struct PacketCausesTests {
    private static let second = CaptureBench.second

    /// A capture, and the chain of its last packet.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The rules from the last packet back to the first cause.
        let rules: [PacketRule]
        let make: @Sendable (inout CaptureBench) -> Void

        init(_ name: String, _ rules: [PacketRule], make: @escaping @Sendable (inout CaptureBench) -> Void) {
            (testDescription, self.rules, self.make) = (name, rules, make)
        }

        var causes: [PacketCause] {
            var bench = CaptureBench()
            make(&bench)
            return PacketCausesTests.causes(of: bench.records)
        }
    }

    static func causes(of records: [CaptureRecord]) -> [PacketCause] {
        var causes = PacketCauses()
        return records.enumerated().compactMap { causes.receive($1, number: UInt64($0 + 1)) }
    }

    /// What connects a link with the scan that found its peer.
    private static let connected: [PacketRule] = [
        .completesConnection, .wantsReported, .reportsScan, .hostDecides,
    ]

    private static func connect(_ bench: inout CaptureBench) {
        bench.scan(true)
        bench.advertise(CaptureBench.peer, name: "Pulse")
        bench.connectAsAsked()
    }

    static let cases = [
        Case("an answered command", [.answersCommand, .hostDecides]) { $0.scan(true) },
        Case("a report", [.reportsScan, .hostDecides]) {
            $0.scan(true)
            $0.advertise(CaptureBench.peer, name: "Pulse")
        },
        Case("a link to a device that was found", connected) { connect(&$0) },
        Case("a link to this device", [.acceptsConnection, .hostDecides]) {
            $0.advertise(true)
            $0.accept()
        },
        Case("a request", [.isOnLink] + connected) {
            connect(&$0)
            $0.att([0x0A, 3, 0])
        },
        Case("a response", [.answersRequest, .isOnLink] + connected) {
            connect(&$0)
            $0.read()
        },
        Case("an error", [.answersRequest, .isOnLink] + connected) {
            connect(&$0)
            $0.read(error: 0x0E)
        },
        Case("a value, by its subscription", [.isSubscribed, .isOnLink] + connected) {
            connect(&$0)
            $0.subscribe()
            $0.read()
            $0.notify()
        },
        Case("a value after the subscription has ended", [.isOnLink] + connected) {
            connect(&$0)
            $0.subscribe()
            $0.request([0x12, 4, 0, 0, 0], [0x13])
            $0.notify()
        },
        Case("a confirmation", [.confirms, .isOnLink] + connected) {
            connect(&$0)
            $0.att([0x1D, 3, 0, 1], isSent: false)
            $0.att([0x1E])
        },
        Case("a discovery that goes on", [.continues, .answersRequest, .isOnLink] + connected) {
            connect(&$0)
            $0.request([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 1, 0, 5, 0, 0x0D, 0x18])
            $0.att([0x10, 6, 0, 0xFF, 0xFF, 0, 0x28])
        },
        Case("a later discovery, which goes on from none", [.isOnLink] + connected) {
            connect(&$0)
            $0.request([0x10, 6, 0, 0xFF, 0xFF, 0, 0x28], [0x11, 6, 6, 0, 9, 0, 0x0D, 0x18])
            $0.att([0x10, 1, 0, 0xFF, 0xFF, 0, 0x28])
        },
        Case("a part of a PDU", [.isFragment, .isOnLink] + connected) {
            connect(&$0)
            $0.pdu(4, [0x12, 3, 0] + [UInt8](repeating: 7, count: 30), isSent: true, fragment: 27)
        },
        Case("a pairing that a refused request needs", [.startsSecurity, .answersRequest, .isOnLink] + connected) {
            connect(&$0)
            $0.read(error: 0x05)
            $0.smp([0x01, 3, 0, 1, 16, 1, 1], isSent: true)
        },
        Case(
            "a request that is repeated on a secure link",
            [.repeats, .performsCommand, .startsSecurity, .answersRequest, .isOnLink] + connected
        ) {
            connect(&$0)
            $0.read(error: 0x05)
            $0.enableEncryption()
            $0.encryptionChanges()
            $0.att([0x0A, 3, 0])
        },
        Case("the answer to a signal", [.answersSignal, .isOnLink] + connected) {
            connect(&$0)
            $0.asksForParameters(isAccepted: false)
        },
        Case("a link that this device ends", [.performsCommand, .isOnLink] + connected) {
            connect(&$0)
            $0.read()
            $0.leave()
        },
        Case(
            "a link that is left because of a request without a response",
            [.performsCommand, .timedOut, .isOnLink] + connected
        ) {
            connect(&$0)
            $0.att([0x0A, 3, 0])
            $0.leave(after: 31 * second)
        },
        Case("a link that was lost", [.wasGivenUp, .answersRequest, .isOnLink] + connected) {
            connect(&$0)
            $0.read()
            $0.ends(.connectionTimeout)
        },
        Case("a link that the peer ends", [.peerEnded, .answersRequest, .isOnLink] + connected) {
            connect(&$0)
            $0.read()
            $0.ends(.remoteUserTerminated)
        },
        Case("a count of packets", [.countsPackets, .isOnLink] + connected) {
            connect(&$0)
            for _ in 0..<3 { $0.att([0x0A, 3, 0]) }
            $0.event(0x13, [1, 0x40, 0, 2, 0])
        },
        Case("an event without a cause", [.unknown]) { $0.event(0x10, [1]) },
    ]

    @Test("a packet has the causes that it had", arguments: cases)
    func chains(_ each: Case) throws {
        let last = try #require(each.causes.last)
        #expect(last.chain.map(\.rule) == each.rules)
        #expect(last.chain.map(\.packet) == last.chain.map(\.packet).sorted(by: >))
    }

    @Test("a count of two packets is caused by the second of three")
    func countedPacket() throws {
        let causes = try #require(Self.cases.first { $0.testDescription == "a count of packets" }?.causes)
        let last = try #require(causes.last)
        #expect(last.cause?.packet == last.packet - 2)
    }

    @Test("each packet has a rule with words, and only the first causes have no section")
    func rules() {
        for rule in PacketRule.allCases {
            #expect(!rule.text.isEmpty)
            #expect(rule.section != nil || rule.isFirst, "\(rule)")
        }
    }

    @Test(
        "on the air, a response is caused by its request, and a packet that is sent again by the first one",
        arguments: 1...20
    )
    func air(seed: UInt64) throws {
        let script = AirScript(seed: seed)
        let causes = Self.causes(of: script.records)
        #expect(causes.count == script.records.count)
        #expect(causes[1].rule == .connects)
        #expect(causes[1].cause?.packet == 1)
        var repeated = 0
        for (index, cause) in causes.enumerated() where index > 1 {
            let payload = script.payload(of: script.records[index])
            guard !payload.isEmpty else { continue }
            #expect(cause.rule == .isSentAgain || script.isNew[index], "record \(index)")
            if cause.rule == .isSentAgain { repeated += 1 }
            guard cause.rule == .answersRequest, let request = cause.cause else { continue }
            #expect(script.sides[index] != script.sides[Int(request.packet) - 1] || script.sides[index] == nil)
        }
        let again = script.isNew.indices.filter { !script.isNew[$0] && !script.payload(of: script.records[$0]).isEmpty }
        #expect(repeated >= again.count / 2)
    }

    @Test("a chain is bounded, however long a discovery goes on")
    func bounds() throws {
        var bench = CaptureBench()
        Self.connect(&bench)
        for handle in 1..<2_000 as Range<UInt16> {
            let (low, high) = (UInt8(handle & 0xFF), UInt8(handle >> 8))
            bench.request([0x04, low, high, 0xFF, 0xFF], [0x05, 1, low, high, 0, 0x28])
        }
        let causes = Self.causes(of: bench.records)
        #expect(causes.allSatisfy { $0.chain.count <= PacketCause.maximumDepth })
        #expect(causes.contains { $0.chain.count == PacketCause.maximumDepth })
    }

    @Test("random octets have causes too", arguments: 1...200)
    func random(seed: UInt64) {
        let random = RandomSource(seed: seed)
        var causes = PacketCauses()
        for number in 1...300 as ClosedRange<UInt64> {
            var octets = (0..<random.next() % 40).map { _ in UInt8(truncatingIfNeeded: random.next() % 9) }
            let kinds = HCIPacket.Kind.allCases
            if random.next() % 4 == 0 {
                octets = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xD6, 0xBE, 0x89, 0x8E] + octets
                _ = causes.receive(frame: PacketBuffer(octets), number: number, at: Int64(number))
                continue
            }
            let kind = kinds[Int(random.next() % UInt64(kinds.count))]
            if kind == .event, !octets.isEmpty { octets[0] = [0x05, 0x0E, 0x13, 0x3E][Int(random.next() % 4)] }
            let direction: HCIDirection = random.next() % 2 == 0 ? .hostToController : .controllerToHost
            let packet = HCIPacket(kind, PacketBuffer(octets))
            #expect(causes.receive(packet, direction, number: number, at: Int64(number)).packet == number)
        }
    }
}
