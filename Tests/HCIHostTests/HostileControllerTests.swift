import BluetoothTypes
import ControllerStandIns
import EventLoops
import HCI
import RandomPackets
import Testing

@testable import HCIHost

/// Effects that the events of a hostile or broken controller must not have, rule by rule.
@Suite struct HostileControllerTests {
    /// The state that an unrelated event must not change.
    private func snapshot(_ link: HCIConnection) -> [String] {
        [
            "\(link.isOpen)", "\(link.isEncrypted)", "\(link.role)", "\(link.interval)", "\(link.latency)",
            "\(link.supervisionTimeout)", "\(link.maxTxOctets)", "\(link.txPHY)", "\(link.queuedPDUs)",
        ]
    }

    enum Cause: Sendable {
        case malformed
        case unknownHandle
        case clamped

        func count(in counters: HCICounters) -> Int {
            switch self {
            case .malformed: counters.malformed
            case .unknownHandle: counters.unknownHandles
            case .clamped: counters.clampedCredits
            }
        }
    }

    static let completions: [(PacketBuffer, Cause)] = [
        // More handles than the payload contains.
        ([0x02, 0x01, 0x00, 0x01, 0x00], .malformed), ([0xFF, 0x01, 0x00, 0x01, 0x00], .malformed),
        ([0x01, 0x01, 0x00, 0x01], .malformed), ([], .malformed),
        // A connection that does not exist.
        ([0x01, 0x07, 0x00, 0x01, 0x00], .unknownHandle),
        // More packets than are outstanding.
        ([0x01, 0x02, 0x00, 0x01, 0x00], .clamped), ([0x01, 0x02, 0x00, 0xFF, 0xFF], .clamped),
    ]

    @Test("AB-H01: impossible completed-packet counts are rejected and counted", arguments: completions)
    func completionsThatCannotBeAreRejectedAndCounted(parameters: PacketBuffer, cause: Cause) throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        let other = try #require(bench.connect(2))
        link.send([1])
        let before = snapshot(link) + snapshot(other)
        bench.inject(.event, PacketBuffer([0x13, UInt8(parameters.count)] + parameters.bytes))
        #expect(cause.count(in: bench.host.counters) == 1)
        #expect(bench.host.freeBuffers == 3)
        #expect(snapshot(link) + snapshot(other) == before)
        #expect(bench.disconnections.isEmpty)
        #expect(bench.states.count == 2)
    }

    @Test("AB-H02: a stream that is not HCI ends everything with one typed error")
    func aStreamThatIsNoneEndsEverythingWithOneTypedError() throws {
        let bench = HostBench.up()
        bench.connect(1)
        bench.connect(2)
        bench.controller.reaction = { _ in .silence }
        var errors: [HCICommandError] = []
        for _ in 0..<3 { bench.host.send(LERand()) { if case .failure(let error) = $0 { errors.append(error) } } }
        let cause = HCITransportError.malformed(PacketError(.value(9), at: "H4 packet type"))
        bench.transport.onClose?(cause)
        #expect(bench.error == .transport(cause))
        #expect(errors == Array(repeating: .host(.transport(cause)), count: 3))
        #expect(bench.disconnections.map(\.handle) == [1, 2])
        bench.inject(.acl, [1, 0x20, 1, 0, 1])
        bench.inject(HostBench.connectionComplete(3))
        #expect(bench.host.connections.isEmpty)
        #expect(bench.connections.count == 2)
    }

    @Test("AB-H02: a length beyond the packet is a typed error")
    func aLengthBeyondThePacketIsATypedError() throws {
        for (length, count) in [(255, 0), (5, 4), (1, 0)] {
            let bytes = PacketBuffer([0x05, UInt8(length)] + [UInt8](repeating: 0, count: count))
            #expect(throws: PacketError(.truncated(needed: length, available: count), at: "Parameters")) {
                try EventPacket(reading: bytes)
            }
        }
        #expect(throws: PacketError.self) { try EventPacket(reading: [0x05, 1, 0, 0]) }
    }

    static let reports: [[UInt8]] = [
        // No reports, too high a count, data beyond the end of the event, nothing at all.
        [0x02, 0x00], [0x02, 0xFF, 0x00, 0x01, 1, 2, 3, 4, 5, 6, 0x00, 0xC4],
        [0x02, 0x02, 0x00, 0x01, 1, 2, 3, 4, 5, 6, 0x00, 0xC4],
        [0x02, 0x01, 0x00, 0x01, 1, 2, 3, 4, 5, 6, 0xFF, 0xC4], [0x02],
        [0x0D, 0x00], [0x0D, 0xFF] + [UInt8](repeating: 0, count: 24),
        [0x0D, 0x01] + [UInt8](repeating: 0, count: 23) + [0xE5, 1, 2], [0x0D],
        [0x0B, 0x00], [0x0B, 0xFF] + [UInt8](repeating: 0, count: 16), [0x0B],
    ]

    @Test("AB-H03: an advertising report that contradicts itself is dropped", arguments: reports)
    func aReportThatContradictsItselfIsDropped(parameters: [UInt8]) {
        let bench = HostBench.up()
        var seen = 0
        bench.host.onEvent(LEAdvertisingReport.self) { seen += $0.reports.count }
        bench.host.onEvent(LEExtendedAdvertisingReport.self) { seen += $0.reports.count }
        bench.host.onEvent(LEDirectedAdvertisingReport.self) { seen += $0.reports.count }
        bench.inject(.event, PacketBuffer([0x3E, UInt8(parameters.count)] + parameters))
        #expect(seen == 0)
        #expect(bench.host.counters.malformed == 1)
        bench.inject(LEAdvertisingReport(reports: [AdvertisingReport()]))
        #expect(seen == 1)
    }

    @Test("AB-H04: misplaced fragments reach their own link, marked as what they are")
    func fragmentsOutOfPlaceReachTheirOwnLinkAndSayWhatTheyAre() throws {
        let bench = HostBench.up()
        var seen: [String] = []
        for handle: UInt16 in [1, 2] {
            bench.connect(handle)?.onReceive = { seen.append("\(handle) \($0) \($1)") }
        }
        // A continuation without a start, a start in the middle of a PDU, another link's data in between, an unknown
        // link.
        bench.inject(.acl, [1, 0x10, 1, 0, 0xA1])
        bench.inject(.acl, [1, 0x20, 1, 0, 0xA2])
        bench.inject(.acl, [2, 0x10, 1, 0, 0xB1])
        bench.inject(.acl, [3, 0x20, 1, 0, 0xC1])
        bench.inject(.acl, [1, 0x20, 1, 0, 0xA3])
        #expect(seen == ["1 a1 false", "1 a2 true", "2 b1 false", "1 a3 true"])
        // Data kept for the unknown link are discarded after a while, and never reach another link.
        bench.run(EarlyPackets.lifetime + .milliseconds(1))
        bench.host.onConnection = { link in link.onReceive = { fragment, _ in seen.append("late \(fragment)") } }
        bench.connect(3)
        bench.connect(4)
        #expect(seen.count == 4)
    }

    @Test("AB-H04: unclaimed data are bounded")
    func unclaimedDataAreBounded() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        for octet in UInt8(0)..<100 { bench.transport.inject(HCIPacket(.acl, [1, 0x20, 1, 0, octet])) }
        bench.run(.milliseconds(100))
        var seen: [PacketBuffer] = []
        link.onReceive = { fragment, _ in seen.append(fragment) }
        #expect(seen == (UInt8(0)..<UInt8(HCIConnection.maximumUnclaimedFragments)).map { PacketBuffer([$0]) })
    }

    private func key(_ bench: HostBench, _ handle: UInt16) {
        bench.host.send(
            LEEnableEncryption(
                handle: ConnectionHandle(rawValue: handle),
                random: 0,
                encryptedDiversifier: 0,
                longTermKey: PacketBuffer([UInt8](repeating: 7, count: 16))
            )
        )
        bench.run(.milliseconds(1))
    }

    @Test("AB-H05: a key that the controller refused does not count")
    func aKeyThatTheControllerRefusedDoesNotCount() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        bench.controller.reaction = { opcode in
            opcode == LEEnableEncryption.opcode
                ? .packets([HCIPacket(CommandStatus(status: .commandDisallowed, credits: 1, opcode: opcode))])
                : opcode == LELongTermKeyRequestReply.opcode ? .refuse(.commandDisallowed) : .answer
        }
        key(bench, 1)
        bench.inject(EncryptionChange(handle: link.handle, state: .on))
        #expect(!link.isEncrypted)
        bench.host.send(LELongTermKeyRequestReply(handle: link.handle, longTermKey: []))
        bench.run(.milliseconds(1))
        bench.inject(EncryptionChange(handle: link.handle, state: .on))
        #expect(!link.isEncrypted)
        #expect(bench.host.counters.unexpectedEncryption == 2)
    }

    /// A peripheral's host gives the key on request: it counts once, and only for the link that asked.
    @Test("AB-H05: the key that a peripheral gives to its controller counts")
    func theKeyThatAPeripheralGivesCounts() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1, role: .peripheral))
        let other = try #require(bench.connect(2, role: .peripheral))
        let key = PacketBuffer([UInt8](repeating: 7, count: 16))
        bench.host.send(LELongTermKeyRequestReply(handle: link.handle, longTermKey: key))
        bench.run(.milliseconds(1))
        bench.inject(EncryptionChange(handle: other.handle, state: .on))
        #expect(!other.isEncrypted)
        #expect(bench.host.counters.unexpectedEncryption == 1)
        bench.inject(EncryptionChange(handle: link.handle, state: .on))
        #expect(link.isEncrypted)
        bench.inject(EncryptionKeyRefreshComplete(handle: link.handle))
        #expect(bench.host.counters.unexpectedEncryption == 2, "no second key was given")
        // A negative reply gives no key.
        bench.host.send(LELongTermKeyRequestNegativeReply(handle: other.handle))
        bench.run(.milliseconds(1))
        bench.inject(EncryptionChange(handle: other.handle, state: .on))
        #expect(!other.isEncrypted)
        #expect(bench.host.counters.unexpectedEncryption == 3)
    }

    @Test("AB-H05: a connection update that failed changes nothing")
    func anUpdateThatFailedChangesNothing() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        let before = snapshot(link)
        var update = LEConnectionUpdateComplete(handle: link.handle, interval: 6, latency: 9, supervisionTimeout: 10)
        var phy = LEPHYUpdateComplete(handle: link.handle, txPHY: .coded, rxPHY: .coded)
        (update.status, phy.status) = (.unknownConnection, .unknownConnection)
        bench.inject(update)
        bench.inject(phy)
        bench.inject(
            LESubrateChange {
                $0.status = .unknownConnection
                $0.handle = link.handle
                $0.factor = 7
                $0.latency = 9
                $0.continuation = 0
                $0.supervisionTimeout = 10
            }
        )
        #expect(link.subrateFactor == 1)
        #expect(snapshot(link) == before)
        #expect(link.rxPHY == .le1M)
        (update.status, phy.status) = (.success, .success)
        bench.inject(update)
        bench.inject(phy)
        #expect(link.interval == 6)
        #expect(link.latency == 9)
        #expect(link.supervisionTimeout == 10)
        #expect(link.txPHY == .coded)
    }

    @Test("AB-H05: more connections than a controller can have are refused")
    func noControllerHasSoManyConnections() {
        let bench = HostBench.up()
        let most = ConnectionTable.maximumConnections
        for handle in 0..<UInt16(most + 10) { bench.inject(HostBench.connectionComplete(handle)) }
        #expect(bench.host.connections.map(\.handle.rawValue) == Array(0..<UInt16(most)))
        #expect(bench.connections.count == most)
        #expect(bench.host.counters.malformed == 10)
        bench.inject(DisconnectionComplete(handle: .init(rawValue: 3), reason: .connectionTimeout))
        bench.inject(HostBench.connectionComplete(UInt16(most)))
        #expect(bench.host.connections.count == most)
    }

    @Test("AB-H05: only the encryption of LE counts", arguments: [2, 3, 0xFF] as [UInt8])
    func onlyTheEncryptionOfLECounts(state: UInt8) throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        key(bench, 1)
        bench.inject(EncryptionChange(handle: link.handle, state: EncryptionState(rawValue: state)))
        #expect(!link.isEncrypted)
        #expect(bench.host.counters.unexpectedEncryption == 1)
    }

    @Test("AB-H05: a key serves one link, once")
    func aKeyIsForOneLinkAndOneTime() throws {
        let bench = HostBench.up()
        let first = try #require(bench.connect(1))
        let second = try #require(bench.connect(2))
        key(bench, 1)
        bench.inject(EncryptionChange(handle: second.handle, state: .on))
        #expect(!first.isEncrypted)
        #expect(!second.isEncrypted)
        // The next connection with the same handle has no key.
        bench.inject(DisconnectionComplete(handle: first.handle, reason: .remoteUserTerminated))
        let third = try #require(bench.connect(1))
        bench.inject(EncryptionChange(handle: third.handle, state: .on))
        #expect(!third.isEncrypted)
        #expect(!first.isEncrypted)
        key(bench, 1)
        bench.inject(EncryptionChange(handle: third.handle, state: .on))
        #expect(third.isEncrypted)
        // Turning encryption off needs no key; turning it on again needs a new one.
        bench.inject(EncryptionChange(handle: third.handle, state: .off))
        bench.inject(EncryptionChange(handle: third.handle, state: .on))
        #expect(!third.isEncrypted)
        #expect(bench.host.counters.unexpectedEncryption == 3)
    }

    @Test("AB-H05: events that are not trusted reach no component")
    func theEventsThatAreNotBelievedReachNobody() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        var seen: [String] = []
        bench.host.onEvent(EncryptionChange.self) { _ in seen.append("change") }
        bench.host.onEvent(EncryptionKeyRefreshComplete.self) { _ in seen.append("refresh") }
        bench.host.onEvent(DisconnectionComplete.self) { _ in seen.append("disconnection") }
        bench.host.onEvent(LEEnhancedConnectionCompleteV2.self) { _ in seen.append("connection") }
        let before = snapshot(link)
        bench.inject(EncryptionChange(handle: link.handle, state: .on))
        bench.inject(EncryptionKeyRefreshComplete(handle: link.handle))
        bench.inject(DisconnectionComplete(handle: .init(rawValue: 9), reason: .remoteUserTerminated))
        bench.inject(
            RandomFields.value(LEEnhancedConnectionCompleteV2.self, RandomSource(seed: 1)).with(handle: link.handle)
        )
        #expect(seen.isEmpty)
        #expect(snapshot(link) == before)
        #expect(bench.disconnections.isEmpty)
        #expect(bench.host.counters.duplicateConnections == 1)
    }

    @Test func aConnectionMayBeReportedInTheNewestForm() throws {
        let bench = HostBench.up()
        var event = LEEnhancedConnectionCompleteV2()
        event.v1.handle = ConnectionHandle(rawValue: 5)
        event.v1.role = .peripheral
        event.v1.peerAddress = BluetoothAddress(0xC000_0000_0001, kind: .randomDevice)
        event.v1.peerResolvableAddress.value = 0x4000_0000_0002
        (event.v1.interval, event.v1.supervisionTimeout) = (40, 500)
        (event.set, event.syncHandle) = (0xFF, 0xFFFF)
        bench.inject(event)
        let link = try #require(bench.connections.first)
        #expect(link.handle.rawValue == 5)
        #expect(link.role == .peripheral)
        #expect(link.interval == 40)
        #expect(link.peerResolvableAddress?.value == 0x4000_0000_0002)
        #expect(link.supervisionTimeout == 500)
    }

    @Test func vendorSpecificEventsAreCounted() {
        let bench = HostBench.up()
        bench.inject(.event, [0xFF, 2, 1, 2])
        bench.inject(.event, [0xFF, 2, 3, 4])
        bench.inject(.event, [0xFF, 0])
        bench.inject(.event, [0xFF, 9, 1])
        #expect(bench.host.counters.vendorEvents == 3)
        #expect(bench.host.counters.malformed == 1)
        // Answers to vendor commands that this host did not send.
        bench.inject(CommandComplete(credits: 1, opcode: Opcode(rawValue: 0xFC01), parameters: [0]))
        bench.inject(CommandStatus(status: .unknownCommand, credits: 1, opcode: Opcode(rawValue: 0xFC02)))
        #expect(bench.host.counters.vendorEvents == 5)
        #expect(bench.host.counters.unexpectedAnswers == 0)
        #expect(bench.information != nil)
        #expect(bench.host.counters.unknownEvents == 0)
    }

    private struct MakersCommand: HCICommand {
        static let entry = CommandEntry(.vendor, 0x01, "Maker's Command", bit: nil)
        var value: UInt8 = 0

        mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Value", &value)
        }
    }

    @Test func aCommandOfTheMakerIsACommandLikeOthers() {
        let bench = HostBench.up()
        bench.controller.reaction = { opcode in
            .packets([HCIPacket(CommandComplete(credits: 1, opcode: opcode, parameters: [0x00, 0x11, 0x22]))])
        }
        var answers = 0
        bench.host.send(MakersCommand(value: 5)) { if case .success = $0 { answers += 1 } }
        bench.run(.milliseconds(100))
        #expect(answers == 1)
        #expect(bench.transport.sent.last?.bytes == [0x01, 0xFC, 0x01, 0x05])
        #expect(bench.transport.sent.last?.description == "vendor command 0xfc01 05")
    }

    @Test(arguments: [[0x77, 1, 5], [0x3E, 1, 0xFE], [0x3E, 3, 0x1D, 1, 2], [0x3E, 1, 0x22]] as [PacketBuffer])
    func eventsThatNobodyHasDescribedAreCounted(bytes: PacketBuffer) {
        let bench = HostBench.up()
        bench.connect(1)
        bench.inject(.event, bytes)
        #expect(bench.host.counters.unknownEvents == 1)
        #expect(bench.host.counters.malformed == 0)
        #expect(bench.information != nil)
        #expect(bench.host.connections.count == 1)
        #expect(!HCIPacket(.event, bytes).description.contains("malformed"))
    }

    @Test func aControllerThatHadNoRoomIsCounted() {
        let bench = HostBench.up()
        var seen: [UInt8] = []
        bench.host.onEvent(DataBufferOverflow.self) { seen.append($0.linkKind) }
        bench.inject(DataBufferOverflow(linkKind: 1))
        #expect(seen == [1])
        #expect(bench.host.counters.bufferOverflows == 1)
    }
}

extension LEEnhancedConnectionCompleteV2 {
    /// The event of a successful connection with this handle.
    func with(handle: ConnectionHandle) -> Self {
        var event = self
        event.v1.status = .success
        event.v1.handle = handle
        return event
    }
}
