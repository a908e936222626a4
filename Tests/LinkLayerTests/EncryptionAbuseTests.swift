import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Hostile traffic on encrypted links and during encryption procedures.
@Suite struct EncryptionAbuseTests {
    /// Queues a control PDU, bypassing the procedures.
    private func slip(_ pdu: ControlPDU, into link: Link?) {
        link?.perform([.send(pdu)])
    }

    // MARK: AB-L06

    @Test("AB-L06: a request for encryption before pairing is refused")
    func beforePairingTheAnswerIsARefusal() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        let overheard = Overheard(world, central: pair.central)
        slip(.encryptionRequest(.init()), into: pair.centralLink)
        world.run(.seconds(1))
        let opcodes = overheard.control.map(\.opcode)
        #expect(opcodes == [.encReq, .encRsp, .rejectExtInd])
        #expect(pair.isPlain)
        #expect(pair.peripheral.encryptions.isEmpty)
        #expect(pair.peripheral.endings.isEmpty)
    }

    @Test("AB-L06: a second request for encryption ends the link", arguments: [true, false])
    func twiceEndsTheLink(hasKey: Bool) throws {
        let pair = try Pair()
        pair.peripheral.longTermKey = hasKey ? .sample : nil
        pair.peripheral.answersKeyRequests = hasKey
        slip(.encryptionRequest(.init()), into: pair.centralLink)
        slip(.encryptionRequest(.init()), into: pair.centralLink)
        pair.world.run(.seconds(1))
        #expect(pair.peripheral.endings == [.terminatedByMICFailure])
        #expect(pair.peripheral.encryptions.isEmpty)
    }

    // CVE-2019-19194: the peripheral has no all-zero key.
    @Test("AB-L06: an all-zero key decrypts nothing")
    func aKeyOfZeroesOpensNothing() throws {
        let pair = try Pair()
        pair.peripheral.longTermKey = .sample
        pair.central.encrypt(pair.centralHandle, .zero)
        pair.world.run(.seconds(1))
        #expect(pair.peripheral.endings == [.terminatedByMICFailure])
        #expect(pair.peripheral.encryptions.isEmpty)
    }

    @Test(
        "AB-L06: no other PDU is allowed while the host looks up the key",
        arguments: [
            ControlPDU.startEncryptionResponse, .startEncryptionRequest, .encryptionResponse(.init()), .pingRequest,
            .pauseEncryptionRequest, .version(.init()), .featureRequest(.init([])),
        ]
    )
    func whileTheHostLooksForTheKeyNothingElseMayCome(pdu: ControlPDU) throws {
        let pair = try Pair()
        pair.peripheral.answersKeyRequests = false
        slip(.encryptionRequest(.init()), into: pair.centralLink)
        pair.world.run(.milliseconds(200))
        #expect(pair.peripheralLink?.control.encryption.awaitsHost == true)
        slip(pdu, into: pair.centralLink)
        pair.world.run(.milliseconds(200))
        #expect(pair.peripheral.endings == [.terminatedByMICFailure])
    }

    @Test("AB-L06: a new request for encryption without a pause ends the link")
    func aNewRequestWithoutAPauseEndsTheLink() throws {
        let pair = try Pair()
        pair.encrypt()
        slip(.encryptionRequest(.init()), into: pair.centralLink)
        pair.world.run(.milliseconds(200))
        #expect(pair.peripheral.endings == [.terminatedByMICFailure])
        #expect(pair.peripheral.events(LELongTermKeyRequest.self).count == 1, "its host is not asked")
    }

    @Test("AB-L06: responses of the encryption procedure alone do not encrypt the link")
    func theAnswersAloneEncryptNothing() throws {
        let pair = try Pair()
        for pdu in [ControlPDU.startEncryptionResponse, .pauseEncryptionResponse] {
            slip(pdu, into: pair.centralLink)
            slip(pdu, into: pair.peripheralLink)
        }
        slip(.encryptionResponse(.init()), into: pair.peripheralLink)
        slip(.startEncryptionRequest, into: pair.peripheralLink)
        pair.world.run(.seconds(1))
        #expect(pair.isPlain)
        #expect(pair.central.encryptions.isEmpty)
        #expect(pair.peripheral.encryptions.isEmpty)
        #expect(pair.central.endings.isEmpty)
        #expect(pair.peripheral.endings.isEmpty)
    }

    // MARK: AB-L07

    /// An encrypted link whose central has made the peripheral pause, and then breaks the procedure.
    private func paused() throws -> Pair {
        let pair = try Pair(timeout: 600, central: { $0.features.remove(.ping) })
        pair.encrypt()
        slip(.pauseEncryptionRequest, into: pair.centralLink)
        pair.world.run(.milliseconds(200))
        #expect(pair.peripheralLink?.control.encryption.state == .peripheralPausing)
        return pair
    }

    @Test("AB-L07: plaintext data during an encryption pause are dropped", arguments: [true, false])
    func plainDataInThePauseAreDropped(isAnswered: Bool) throws {
        let pair = try paused()
        pair.centralLink?.perform([.transmit(nil)])
        if isAnswered {
            slip(.pauseEncryptionResponse, into: pair.centralLink)
            pair.world.run(.milliseconds(200))
            #expect(pair.peripheralLink?.control.encryption.state == .peripheralPaused)
        }
        pair.central.send([1, 2, 3], on: pair.centralHandle)
        pair.world.run(.milliseconds(200))
        #expect(pair.peripheral.data.isEmpty)
        #expect(pair.peripheral.endings == [.terminatedByMICFailure])
    }

    @Test("AB-L07: encrypted data during an encryption pause are dropped too")
    func encryptedDataInThePauseAreDroppedToo() throws {
        let pair = try paused()
        pair.central.send([1, 2, 3], on: pair.centralHandle)
        pair.world.run(.milliseconds(200))
        #expect(pair.peripheral.data.isEmpty)
        #expect(pair.peripheral.endings == [.terminatedByMICFailure])
    }

    @Test("AB-L07: an encryption pause that never ends ends the link", arguments: [true, false])
    func aPauseWithoutAnEndEndsTheLink(isAnswered: Bool) throws {
        let pair = try paused()
        pair.centralLink?.perform([.transmit(nil)])
        if isAnswered { slip(.pauseEncryptionResponse, into: pair.centralLink) }
        pair.peripheral.send([9], on: pair.peripheralHandle)
        pair.world.run(.seconds(39))
        #expect(pair.peripheral.endings.isEmpty && pair.central.data.isEmpty, "nothing is sent in the clear")
        pair.world.run(.seconds(2))
        #expect(pair.peripheral.endings == [.linkLayerResponseTimeout])
        #expect(pair.central.data.isEmpty)
    }

    // MARK: AB-L08

    /// An attacker near the peripheral that transmits slightly before the central (CVE-2021-31615).
    ///
    /// - Parameter acknowledges: Whether the forged PDU also acknowledges the peripheral's last PDU.
    private func inject(
        _ pair: Pair,
        _ content: DataHeader.Content,
        _ payload: [UInt8],
        acknowledges: Bool = false
    ) throws {
        let node = pair.world.radio.add(at: Position(x: 1, y: 0.02))
        let link = try #require(pair.peripheralLink)
        pair.world.loop.schedule(at: link.anchor - .microseconds(10)) {
            let header = DataHeader(
                content,
                nextExpected: link.acknowledgement.sequence != acknowledges,
                sequence: link.acknowledgement.nextExpected,
                moreData: false,
                length: UInt8(payload.count)
            )
            node.send(
                RadioFrame(
                    channel: link.hopping.channel,
                    accessAddress: link.parameters.data.accessAddress,
                    crcInit: link.parameters.data.crcInit,
                    phy: .le1M,
                    pdu: Array(header.encoded()) + payload
                )
            )
        }
        pair.world.run(.milliseconds(100))
    }

    @Test("AB-L08: a forged PDU on an unencrypted link is accepted")
    func onAPlainLinkAForgedPDUIsTaken() throws {
        let pair = try Pair()
        try inject(pair, .start, [6, 6, 6])
        #expect(pair.peripheral.data.map(\.payload) == [[6, 6, 6]])
        #expect(pair.isPlain, "the host has been told that the link is unprotected")
        let other = try Pair()
        try inject(other, .control, Array(ControlPDU.terminate(.init(.remoteUserTerminated)).encoded()))
        #expect(other.peripheral.endings == [.remoteUserTerminated])
    }

    @Test(
        "AB-L08: a forged PDU on an encrypted link ends the link",
        arguments: [
            (.control, Array(ControlPDU.terminate(.init(.remoteUserTerminated)).encoded())), (.start, [6, 6, 6]),
            (.start, [UInt8](repeating: 7, count: 31)), (.continuation, [1]), (.control, [0x0A]),
            (.reserved, [1, 2, 3, 4, 5]),
            (.control, [0x0A, 1, 2, 3, 4]), (.start, [1, 2, 3, 4]),
        ] as [(DataHeader.Content, [UInt8])]
    )
    func onAnEncryptedLinkAForgedPDUEndsTheLink(content: DataHeader.Content, payload: [UInt8]) throws {
        let pair = try Pair()
        pair.encrypt()
        try inject(pair, content, payload)
        #expect(pair.peripheral.endings == [.terminatedByMICFailure])
        #expect(pair.peripheral.data.isEmpty)
        pair.world.run(.seconds(3))
        #expect(pair.central.endings == [.connectionTimeout])
    }

    /// An empty PDU has no MIC, encrypted or not (Core Vol 6 Part B 2.4). An attacker that sends one in the central's
    /// place therefore advances the sequence numbers, and a PDU in flight at that moment counts as acknowledged. These
    /// tests distinguish what remains of the link.
    private struct Forgery {
        let pair: Pair
        let friend: Pair
        /// No more than the controller buffers at once.
        static let sent = (0..<8 as Range<UInt8>).map { [$0, 1, 2, 3] }

        init(isEncrypted: Bool) throws {
            let world = LinkLayerWorld()
            pair = try Pair(world)
            // The peripheral has another link, to a device that is not attacked.
            let other = world.host(at: 2)
            let known = pair.peripheral.connectionHandles
            pair.peripheral.advertise()
            other.connect(to: pair.peripheral.address)
            world.run(.seconds(1))
            let handle = try #require(pair.peripheral.connectionHandles.first { !known.contains($0) })
            let handles = (central: try #require(other.connectionHandles.first), peripheral: handle)
            friend = Pair(world, central: other, peripheral: pair.peripheral, handles: handles)
            if isEncrypted { pair.encrypt() }
        }

        /// Sends some of the values in both directions on both links.
        func send(_ values: Range<Int>) {
            for value in Self.sent[values] {
                for link in [pair, friend] {
                    link.central.send(value, on: link.centralHandle)
                    link.peripheral.send(value, on: link.peripheralHandle)
                }
            }
        }

        static func taken(_ host: TestHost, _ handle: ConnectionHandle) -> [[UInt8]] {
            host.data.filter { $0.handle == handle }.map(\.payload.bytes)
        }

        /// The data that both ends of a link have received.
        static func taken(_ pair: Pair) -> [[[UInt8]]] {
            [taken(pair.central, pair.centralHandle), taken(pair.peripheral, pair.peripheralHandle)]
        }
    }

    /// With a MIC on each PDU that has a payload, the next PDU reveals a missing one. Neither end ever accepts data
    /// that were not sent, or data with a gap, and the link ends.
    @Test(
        "AB-L08: a forged empty PDU costs an encrypted link no more than the link itself",
        arguments: [false, true],
        [0, 1, 4]
    )
    func aForgedEmptyPDUCostsAnEncryptedLinkAtMostItself(acknowledges: Bool, queued: Int) throws {
        let forgery = try Forgery(isEncrypted: true)
        forgery.send(0..<queued)
        try inject(forgery.pair, .continuation, [], acknowledges: acknowledges)
        forgery.send(queued..<8)
        forgery.pair.world.run(.seconds(3))
        let ends = [forgery.pair.central.endings, forgery.pair.peripheral.endings]
        for taken in Forgery.taken(forgery.pair) {
            #expect(taken == Array(Forgery.sent.prefix(taken.count)), "without a gap")
            #expect(taken.count == 8 || ends.allSatisfy { !$0.isEmpty }, "or the link ends")
        }
        #expect(forgery.pair.peripheral.endings == (queued == 0 ? [] : [.terminatedByMICFailure]))
        #expect(Forgery.taken(forgery.friend) == [Forgery.sent, Forgery.sent])
        #expect(forgery.friend.central.endings.isEmpty)
    }

    /// Without a MIC the loss cannot be detected: a PDU may be missing while the link goes on. This is a limit of the
    /// protocol. The host knows that the link is unprotected, receives nothing that was not sent, and other links are
    /// unaffected.
    @Test(
        "AB-L08: a forged empty PDU may cost an unencrypted link the PDUs in flight",
        arguments: [false, true],
        [0, 1, 4]
    )
    func aForgedEmptyPDUMayCostAPlainLinkWhatWasUnderWay(acknowledges: Bool, queued: Int) throws {
        let forgery = try Forgery(isEncrypted: false)
        forgery.send(0..<queued)
        try inject(forgery.pair, .continuation, [], acknowledges: acknowledges)
        forgery.send(queued..<8)
        forgery.pair.world.run(.seconds(3))
        for taken in Forgery.taken(forgery.pair) {
            // At most one PDU per direction, the one in flight.
            #expect(taken.count >= 7)
            #expect(taken == Forgery.sent.filter(taken.contains))
        }
        #expect(forgery.pair.isPlain)
        #expect(Forgery.taken(forgery.friend) == [Forgery.sent, Forgery.sent])
        #expect(forgery.pair.central.endings.isEmpty)
        #expect(forgery.friend.central.endings.isEmpty)
    }

    // A recorded PDU is not accepted a second time, because its packet counter has passed.
    @Test("AB-L08: a repeated PDU ends the link")
    func aRepeatedPDUEndsTheLink() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        pair.encrypt()
        let overheard = Overheard(world, central: pair.central)
        pair.central.send([1, 2, 3], on: pair.centralHandle)
        world.run(.milliseconds(200))
        let recorded = try #require(overheard.payloads.first)
        try inject(pair, .start, Array(recorded))
        #expect(pair.peripheral.data.count == 1)
        #expect(pair.peripheral.endings == [.terminatedByMICFailure])
    }

    // A PDU of this device that is sent back to it has the wrong direction bit.
    @Test("AB-L08: a reflected PDU ends the link")
    func aReflectedPDUEndsTheLink() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        pair.encrypt()
        let overheard = Overheard(world, central: pair.central)
        pair.peripheral.send([1, 2, 3], on: pair.peripheralHandle)
        world.run(.milliseconds(200))
        let recorded = try #require(overheard.payloads.first)
        try inject(pair, .start, Array(recorded))
        #expect(pair.peripheral.data.isEmpty)
        #expect(pair.peripheral.endings == [.terminatedByMICFailure])
    }
}
