import BluetoothTypes
import ControllerStandIns
import HCI
import Testing

@testable import HCIHost

@Suite struct HCIHostDataTests {
    private func pdu(_ count: Int, _ first: UInt8 = 0) -> PacketBuffer {
        PacketBuffer(copying: (0..<count).map { UInt8(truncatingIfNeeded: $0) &+ first })
    }

    @Test func aPDUThatFitsGoesInOnePieceAndInItsOwnStorage() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        func address(_ buffer: PacketBuffer) -> UInt {
            buffer.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        }
        let value = pdu(251)
        let before = address(value)
        link.send(consume value)
        let packet = try #require(bench.transport.sent.first)
        #expect(packet.bytes.count == 255)
        #expect(packet.bytes.headroom == PacketBuffer.defaultHeadroom - 4)
        #expect(address(packet.bytes) == before - 4)
        #expect(bench.transport.data.map(\.boundary) == [.startNonFlushable])
    }

    @Test func aLongerOneIsCutToTheControllersBuffers() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        var drained = 0
        link.onDrain = { drained += 1 }
        link.send(pdu(251 * 2 + 10))
        let data = bench.transport.data
        #expect(data.map(\.boundary) == [.startNonFlushable, .continuation, .continuation])
        #expect(data.map(\.payload.count) == [251, 251, 10])
        #expect(data.flatMap { Array($0.payload) } == pdu(512).bytes)
        #expect(link.queuedPDUs == 0)
        #expect(drained == 1)
    }

    @Test func theControllersBuffersAreNeverOverrun() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        var drained = 0
        link.onDrain = { drained += 1 }
        for index in 0..<10 { link.send(pdu(20, UInt8(index))) }
        #expect(bench.transport.data.count == 4)
        #expect(bench.host.freeBuffers == 0)
        #expect(link.queuedPDUs == 6)
        #expect(drained == 4)
        bench.completed((1, 3))
        #expect(bench.transport.data.count == 7)
        bench.completed((1, 4))
        bench.completed((1, 3))
        #expect(bench.transport.data.map { $0.payload[0] } == Array(0..<10))
        #expect(bench.host.freeBuffers == 4)
        #expect(drained == 10)
    }

    @Test func connectionsTakeTurns() throws {
        let bench = HostBench.up()
        let links = try [UInt16(1), 2, 3].map { try #require(bench.connect($0)) }
        for link in links { for _ in 0..<4 { link.send(pdu(20)) } }
        // The first link gets two of four buffers, because the two others have none yet.
        #expect(bench.transport.data.map(\.handle.rawValue) == [1, 1, 2, 3])
        for index in 0..<12 { bench.completed((bench.transport.data[index].handle.rawValue, 1)) }
        #expect(bench.transport.data.count == 12)
        #expect(bench.host.freeBuffers == 4)
        #expect(Set(bench.transport.data[4..<7].map(\.handle.rawValue)) == [1, 2, 3])
    }

    @Test func aPeerOutOfReachDoesNotStopTheOthers() throws {
        let bench = HostBench.up()
        let dead = try #require(bench.connect(1))
        let alive = try #require(bench.connect(2))
        for _ in 0..<10 { dead.send(pdu(20)) }
        for _ in 0..<10 { alive.send(pdu(20)) }
        for _ in 0..<10 { bench.completed((2, 1)) }
        #expect(bench.transport.data.filter { $0.handle.rawValue == 2 }.count == 10)
        #expect(bench.transport.data.filter { $0.handle.rawValue == 1 }.count == 3)
    }

    @Test func theBuffersOfALinkThatEndedAreFreeAgain() throws {
        let bench = HostBench.up()
        let first = try #require(bench.connect(1))
        for _ in 0..<10 { first.send(pdu(20)) }
        let second = try #require(bench.connect(2))
        second.send(pdu(20))
        #expect(bench.transport.data.count == 4)
        bench.inject(DisconnectionComplete(handle: .init(rawValue: 1), reason: .connectionTimeout))
        #expect(bench.disconnections.map(\.reason) == [.connectionTimeout])
        #expect(bench.transport.data.last?.handle.rawValue == 2)
        #expect(bench.host.freeBuffers == 3)
        #expect(first.queuedPDUs == 0)
        #expect(!first.isOpen)
        first.send(pdu(20))
        #expect(bench.transport.data.count == 5)
    }

    @Test func theQueueOfALinkIsBounded() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        for _ in 0..<(HCIConnection.maximumQueuedPDUs + 14) { link.send([1]) }
        #expect(link.queuedPDUs == HCIConnection.maximumQueuedPDUs)
        #expect(link.droppedPDUs == 10)
    }

    @Test func aConnectionEndsWithItsHost() throws {
        weak var kept: HCIConnection?
        var link: HCIConnection?
        do {
            let bench = HostBench.up()
            link = bench.connect(1)
            kept = link
            for _ in 0..<10 { link?.send(pdu(20)) }
            #expect(link?.queuedPDUs == 6)
        }
        #expect(link?.isOpen == false)
        #expect(link?.queuedPDUs == 0)
        link?.send(pdu(20))
        link = nil
        #expect(kept == nil)
    }

    @Test func sendingFromWithinACallbackKeepsTheOrder() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        var next: UInt8 = 1
        link.onDrain = {
            guard next < 10 else { return }
            link.send([next])
            next += 1
        }
        link.send([0])
        for _ in 0..<10 { bench.completed((1, 1)) }
        #expect(bench.transport.data.map { $0.payload[0] } == Array(0..<10))
    }

    @Test("AB-H01: completed packets beyond those outstanding are not credited")
    func creditsAreClamped() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        link.send([1])
        bench.completed((1, 1_000), (9, 5))
        #expect(bench.host.freeBuffers == 4)
        #expect(bench.host.counters.clampedCredits == 1)
        #expect(bench.host.counters.unknownHandles == 1)
        for _ in 0..<10 { link.send([2]) }
        #expect(bench.transport.data.count == 5)
        #expect(bench.host.connections.count == 1)
    }

    @Test("AB-H01: a count beyond the payload rejects the whole event")
    func aCountBeyondThePayloadRejectsTheWholeEvent() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        link.send([1])
        for count: UInt8 in [2, 3, 0xFF] {
            bench.inject(.event, [0x13, 5, count, 1, 0, 1, 0])
        }
        bench.inject(.event, [0x13, 0])
        #expect(bench.host.freeBuffers == 3)
        #expect(bench.host.counters.malformed == 4)
        bench.inject(.event, [0x13, 5, 1, 1, 0, 1, 0])
        #expect(bench.host.freeBuffers == 4)
    }

    @Test func fragmentsGoUpInOrder() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        var seen: [String] = []
        bench.inject(.acl, [0x01, 0x20, 2, 0, 1, 2])
        link.onReceive = { seen.append("\($0) \($1)") }
        bench.inject(.acl, [0x01, 0x10, 1, 0, 3])
        bench.inject(.acl, [0x01, 0x00, 1, 0, 4])
        #expect(seen == ["0102 true", "03 false", "04 true"])
    }

    @Test("AB-H02: empty data and data with wrong lengths are rejected")
    func dataWithoutOctetsOrWithWrongLengthsAreRefused() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        var seen = 0
        link.onReceive = { _, _ in seen += 1 }
        for bytes: PacketBuffer in [
            [], [1], [1, 0x20, 0], [1, 0x20, 0, 0], [1, 0x20, 2, 0, 1], [1, 0x20, 1, 0, 1, 2],
            [1, 0x60, 1, 0, 1], [0xFF, 0x2F, 1, 0, 1],
        ] {
            bench.inject(.acl, bytes)
        }
        #expect(seen == 0)
        #expect(bench.host.counters.malformed == 8)
    }

    @Test("AB-H04: data before the connection is complete reach their connection")
    func dataBeforeConnectionCompleteReachTheirConnection() throws {
        let bench = HostBench.up()
        bench.inject(.acl, [0x01, 0x20, 1, 0, 0xAA])
        bench.inject(.acl, [0x02, 0x20, 1, 0, 0xBB])
        var seen: [PacketBuffer] = []
        bench.host.onConnection = { link in link.onReceive = { fragment, _ in seen.append(fragment) } }
        bench.inject(HostBench.connectionComplete(1))
        #expect(seen == [[0xAA]])
        bench.run(.seconds(1))
        bench.inject(HostBench.connectionComplete(2))
        #expect(seen == [[0xAA]])
    }

    @Test("AB-H04: data of unknown connections are bounded and never reach another")
    func dataOfUnknownConnectionsAreBoundedAndNeverReachAnother() throws {
        let bench = HostBench.up()
        for _ in 0..<20 { bench.inject(.acl, [0x01, 0x20, 1, 0, 0xAA]) }
        #expect(bench.host.counters.droppedPackets == 20 - EarlyPackets.maximumCount)
        var seen = 0
        bench.host.onConnection = { link in link.onReceive = { _, _ in seen += 1 } }
        bench.inject(HostBench.connectionComplete(3))
        bench.inject(DisconnectionComplete(handle: .init(rawValue: 1), reason: .connectionTimeout))
        bench.inject(HostBench.connectionComplete(1))
        #expect(seen == 0)
    }

    @Test("AB-H05: a connection begins only once")
    func aConnectionBeginsOnce() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        link.send([1])
        var events = 0
        bench.host.onEvent(LEEnhancedConnectionComplete.self) { _ in events += 1 }
        bench.inject(HostBench.connectionComplete(1, role: .peripheral))
        #expect(bench.connections.count == 1)
        #expect(bench.host.connection(.init(rawValue: 1)) === link)
        #expect(link.role == .central)
        #expect(bench.host.freeBuffers == 3)
        #expect(events == 0)
        #expect(bench.host.counters.duplicateConnections == 1)
        bench.inject(HostBench.connectionComplete(0x0F00))
        #expect(bench.connections.count == 1)
        #expect(bench.host.counters.malformed == 1)
        bench.inject(DisconnectionComplete(handle: .init(rawValue: 7), reason: .connectionTimeout))
        bench.inject(DisconnectionComplete(status: .commandDisallowed, handle: .init(rawValue: 1), reason: .success))
        #expect(bench.disconnections.isEmpty)
        #expect(bench.host.counters.unknownHandles == 1)
    }

    @Test("AB-H05: encryption that the host did not begin is not trusted")
    func encryptionThatNobodyBeganIsNotBelieved() throws {
        let bench = HostBench.up()
        let handle = ConnectionHandle(rawValue: 1)
        let link = try #require(bench.connect(1))
        var seen = 0
        bench.host.onEvent(EncryptionChange.self) { _ in seen += 1 }
        bench.inject(EncryptionChange(handle: handle, state: .on))
        bench.inject(EncryptionKeyRefreshComplete(handle: handle))
        #expect(!link.isEncrypted)
        #expect(seen == 0)
        #expect(bench.host.counters.unexpectedEncryption == 2)
        bench.host.send(
            LEEnableEncryption(handle: handle, random: 0, encryptedDiversifier: 0, longTermKey: pdu(16))
        )
        bench.run(.milliseconds(100))
        bench.inject(EncryptionChange(status: .pinOrKeyMissing, handle: handle, state: .off))
        #expect(!link.isEncrypted)
        #expect(seen == 1)
        bench.inject(EncryptionChange(handle: handle, state: .on))
        #expect(!link.isEncrypted)
        #expect(seen == 1)
        bench.host.send(
            LEEnableEncryption(handle: handle, random: 0, encryptedDiversifier: 0, longTermKey: pdu(16))
        )
        bench.inject(EncryptionChangeV2(EncryptionChange(handle: handle, state: .on), keySize: 16))
        #expect(link.isEncrypted)
        bench.inject(EncryptionChange(handle: handle, state: .off))
        #expect(!link.isEncrypted)
    }

    private func giveKey(_ bench: HostBench, _ handle: ConnectionHandle) {
        bench.host.send(
            LEEnableEncryption(handle: handle, random: 0, encryptedDiversifier: 0, longTermKey: pdu(16))
        )
        bench.run(.milliseconds(100))
    }

    @Test func aConnectionTellsWhatBecomesOfItsEncryption() throws {
        let bench = HostBench.up()
        let handle = ConnectionHandle(rawValue: 1)
        let link = try #require(bench.connect(1))
        var reports: [EncryptionReport] = []
        var timeouts = 0
        link.onEncryption = { reports.append($0) }
        link.onAuthenticatedPayloadTimeout = { timeouts += 1 }
        bench.inject(EncryptionChange(handle: handle, state: .on))
        #expect(reports.isEmpty, "no key was given")
        giveKey(bench, handle)
        bench.inject(EncryptionChange(status: .pinOrKeyMissing, handle: handle, state: .off))
        #expect(reports == [.failed(.pinOrKeyMissing)])
        #expect(!link.isEncrypted)
        giveKey(bench, handle)
        bench.inject(EncryptionChangeV2(EncryptionChange(handle: handle, state: .on), keySize: 16))
        #expect(reports.last == .on)
        #expect(link.isEncrypted)
        #expect(link.encryptionKeySize == 16)
        bench.inject(EncryptionKeyRefreshComplete(handle: handle))
        #expect(reports.count == 2, "no other key was given")
        giveKey(bench, handle)
        bench.inject(EncryptionKeyRefreshComplete(handle: handle))
        #expect(reports.last == .refreshed)
        #expect(link.encryptionKeySize == 16)
        bench.inject(AuthenticatedPayloadTimeoutExpired(handle: handle))
        bench.inject(AuthenticatedPayloadTimeoutExpired(handle: .init(rawValue: 2)))
        #expect(timeouts == 1)
        #expect(bench.host.counters.unknownHandles == 1)
        bench.inject(EncryptionChangeV2(EncryptionChange(handle: handle, state: .off), keySize: 0))
        #expect(reports.last == .off)
        #expect(link.encryptionKeySize == nil)
        #expect(!link.isEncrypted)
        giveKey(bench, handle)
        bench.inject(EncryptionChange(handle: handle, state: .on))
        #expect(reports.last == .on && link.encryptionKeySize == nil, "the first version has no key size")
    }

    /// An unencrypted link has no key to refresh, even if a key is stored for it: reporting the event would make the
    /// link look encrypted (Core Vol 4 Part E 7.7.39).
    @Test("AB-H05: a key refresh is accepted only on an encrypted link")
    func aRefreshIsOfALinkThatIsEncrypted() throws {
        let bench = HostBench.up()
        let handle = ConnectionHandle(rawValue: 1)
        let link = try #require(bench.connect(1))
        var reports: [EncryptionReport] = []
        var seen = 0
        link.onEncryption = { reports.append($0) }
        bench.host.onEvent(EncryptionKeyRefreshComplete.self) { _ in seen += 1 }
        giveKey(bench, handle)
        bench.inject(EncryptionKeyRefreshComplete(handle: handle))
        #expect(reports.isEmpty)
        #expect(seen == 0)
        #expect(!link.isEncrypted)
        #expect(bench.host.counters.unexpectedEncryption == 1)
        // The key that it may have been meant for is used up.
        bench.inject(EncryptionChange(handle: handle, state: .on))
        #expect(reports.isEmpty)
        #expect(!link.isEncrypted)
        #expect(bench.host.counters.unexpectedEncryption == 2)
    }

    /// A failure leaves the link as it is, and discards the key it was meant for.
    @Test("AB-H05: a failed refresh neither renews nor ends the encryption")
    func aFailureIsNoRefreshAndNoEnd() throws {
        let bench = HostBench.up()
        let handle = ConnectionHandle(rawValue: 1)
        let link = try #require(bench.connect(1))
        var reports: [EncryptionReport] = []
        link.onEncryption = { reports.append($0) }
        giveKey(bench, handle)
        bench.inject(EncryptionChangeV2(EncryptionChange(handle: handle, state: .on), keySize: 16))
        giveKey(bench, handle)
        bench.inject(EncryptionKeyRefreshComplete(status: .pinOrKeyMissing, handle: handle))
        #expect(reports == [.on, .failed(.pinOrKeyMissing)])
        #expect(link.isEncrypted)
        #expect(link.encryptionKeySize == 16)
        bench.inject(EncryptionKeyRefreshComplete(handle: handle))
        #expect(reports.count == 2)
        #expect(bench.host.counters.unexpectedEncryption == 1)
        giveKey(bench, handle)
        bench.inject(EncryptionChange(status: .connectionTimeout, handle: handle, state: .off))
        #expect(reports.last == .failed(.connectionTimeout))
        #expect(link.isEncrypted)
        #expect(link.encryptionKeySize == 16)
    }

    @Test("AB-H05: a rejected key does not cancel the pending one")
    func aRefusedKeyDoesNotUndoTheOneUnderWay() throws {
        let bench = HostBench.up()
        let handle = ConnectionHandle(rawValue: 1)
        let link = try #require(bench.connect(1))
        giveKey(bench, handle)
        bench.controller.reaction = { opcode in
            .packets([HCIPacket(CommandStatus(status: .commandDisallowed, credits: 1, opcode: opcode))])
        }
        giveKey(bench, handle)
        bench.inject(EncryptionChange(handle: handle, state: .on))
        #expect(link.isEncrypted)
    }

    @Test func aConnectionAsksForItsKey() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1, role: .peripheral))
        var asked: [LELongTermKeyRequest] = []
        link.onLongTermKeyRequest = { asked.append($0) }
        let request = LELongTermKeyRequest(handle: link.handle, random: 7, encryptedDiversifier: 9)
        bench.transport.sent = []
        bench.inject(request)
        #expect(asked.map(\.random) == [7])
        #expect(asked.map(\.encryptedDiversifier) == [9])
        #expect(bench.transport.commandNames.isEmpty)
        link.onLongTermKeyRequest = nil
        bench.inject(request)
        #expect(bench.transport.commandNames == ["LE Long Term Key Request Negative Reply"])
    }

    @Test func aConnectionKnowsItsParameters() throws {
        let bench = HostBench.up()
        let handle = ConnectionHandle(rawValue: 1)
        bench.inject(
            LEConnectionComplete {
                $0.handle = handle
                $0.role = .peripheral
                $0.peerAddress = BluetoothAddress(5, kind: .publicDevice)
                $0.interval = 6
                $0.latency = 1
                $0.supervisionTimeout = 42
                $0.centralClockAccuracy = .ppm20
            }
        )
        let link = try #require(bench.connections.first)
        #expect(link.role == .peripheral)
        #expect(link.peerAddress.value == 5)
        #expect(link.peerResolvableAddress == nil)
        bench.inject(
            LEConnectionUpdateComplete(handle: handle, interval: 80, latency: 4, supervisionTimeout: 600)
        )
        bench.inject(LEPHYUpdateComplete(handle: handle, txPHY: .le2M, rxPHY: .coded))
        bench.inject(
            LEDataLengthChange(handle: handle, maxTxOctets: 251, maxTxTime: 2_120, maxRxOctets: 100, maxRxTime: 900)
        )
        #expect(link.interval == 80)
        #expect(link.latency == 4)
        #expect(link.supervisionTimeout == 600)
        #expect(link.txPHY == .le2M)
        #expect(link.rxPHY == .coded)
        #expect(link.maxTxOctets == 251)
        #expect(link.maxRxOctets == 100)
        let subrate = LESubrateChange {
            $0.handle = handle
            $0.factor = 5
            $0.latency = 2
            $0.continuation = 1
            $0.supervisionTimeout = 900
        }
        var changes = 0
        link.onChange = { changes += 1 }
        bench.inject(subrate)
        #expect(link.subrateFactor == 5)
        #expect(link.latency == 2)
        #expect(link.supervisionTimeout == 900)
        #expect(link.interval == 80)
        #expect(changes == 1)
        // Only a changed interval ends subrating.
        bench.inject(LEConnectionUpdateComplete(handle: handle, interval: 80, latency: 3, supervisionTimeout: 950))
        #expect(link.subrateFactor == 5)
        #expect(link.latency == 3)
        #expect(link.supervisionTimeout == 950)
        bench.inject(LEConnectionUpdateComplete(handle: handle, interval: 40, latency: 3, supervisionTimeout: 500))
        #expect(link.subrateFactor == 1)
        #expect(link.latency == 3)
        #expect(link.supervisionTimeout == 500)
        bench.inject(HostBench.connectionComplete(0, status: .unknownConnection))
        #expect(bench.failures == [.unknownConnection])
    }
}
