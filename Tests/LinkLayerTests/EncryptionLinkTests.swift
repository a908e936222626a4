import BluetoothTypes
import Cryptography
import EventLoops
import HCI
import Testing

@testable import LinkLayer

/// Encrypted links between two controllers over the air.
@Suite struct EncryptionLinkTests {
    private func without(_ feature: LEFeatures) -> (inout VirtualControllerConfiguration) -> Void {
        { $0.features.subtract(feature) }
    }

    @Test func aLinkBecomesEncryptedAndCarriesCiphertext() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        let overheard = Overheard(world, central: pair.central)
        pair.peripheral.longTermKey = .sample
        #expect(
            pair.central.encrypt(pair.centralHandle, random: 0x0102_0304_0506_0708, diversifier: 0x090A) == .success
        )
        world.run(.seconds(1))
        #expect(pair.isEncrypted)
        #expect(pair.central.encryptions == ["on, 16"])
        #expect(pair.peripheral.encryptions == ["on, 16"])
        let asked = try #require(pair.peripheral.events(LELongTermKeyRequest.self).first)
        #expect(asked.random == 0x0102_0304_0506_0708)
        #expect(asked.encryptedDiversifier == 0x090A)
        // In the clear and in this order; LL_START_ENC_RSP is encrypted.
        let opcodes = overheard.control.map(\.opcode)
        #expect(opcodes == [.encReq, .encRsp, .startEncReq])
        #expect(overheard.payloads.suffix(2).allSatisfy { $0.count == 5 && $0.first != 0x06 })
        let secret: [UInt8] = Array("nobody else may read this".utf8)
        let before = overheard.payloads.count
        pair.central.send(secret, on: pair.centralHandle)
        pair.peripheral.send(secret, on: pair.peripheralHandle)
        world.run(.seconds(1))
        #expect(pair.peripheral.data.map(\.payload) == [PacketBuffer(secret)])
        #expect(pair.central.data.map(\.payload) == [PacketBuffer(secret)])
        let sealed = overheard.payloads.dropFirst(before)
        #expect(sealed.count == 2)
        #expect(Set(sealed).count == 2)
        #expect(sealed.allSatisfy { $0.count == secret.count + 4 })
        #expect(
            sealed.allSatisfy {
                !$0.elementsEqual(secret) && $0.prefix(upTo: 6) != PacketBuffer(Array(secret.prefix(6)))
            }
        )
        // Empty PDUs are unchanged.
        #expect(overheard.frames.last?.payload.isEmpty == true)
    }

    // MARK: Refusals

    @Test func aPeripheralWithoutTheKeyRefuses() throws {
        let pair = try Pair()
        pair.central.encrypt(pair.centralHandle)
        pair.world.run(.seconds(1))
        #expect(pair.central.encryptions == ["PIN or key missing (0x6)"])
        #expect(pair.peripheral.encryptions.isEmpty)
        #expect(pair.isPlain)
        pair.central.send([1], on: pair.centralHandle)
        pair.peripheral.send([2], on: pair.peripheralHandle)
        pair.world.run(.seconds(1))
        #expect(pair.peripheral.data.count == 1 && pair.central.data.count == 1, "data go on in the clear")
        pair.encrypt()
    }

    @Test func aPeripheralWithoutTheFeatureRefuses() throws {
        let pair = try Pair(peripheral: without(.encryption))
        pair.central.encrypt(pair.centralHandle)
        pair.world.run(.seconds(1))
        #expect(pair.central.encryptions == ["unsupported remote feature (0x1a)"])
        #expect(pair.isPlain)
        #expect(pair.peripheral.events(LELongTermKeyRequest.self).isEmpty)
    }

    @Test func aHostThatDoesNotListenHasNoKeys() throws {
        let pair = try Pair()
        pair.peripheral.longTermKey = .sample
        pair.peripheral.send(LESetEventMask(mask: LEEventMask(rawValue: ~LEEventMask.longTermKeyRequest.rawValue)))
        pair.central.encrypt(pair.centralHandle)
        pair.world.run(.seconds(1))
        #expect(pair.central.encryptions == ["PIN or key missing (0x6)"])
        #expect(pair.isPlain)
    }

    // With different keys, the first encrypted PDU fails its MIC at whichever end receives it.
    @Test("AB-L06: encryption with a different key ends the link")
    func anotherKeyEndsTheLink() throws {
        let pair = try Pair()
        pair.peripheral.longTermKey = .other
        pair.central.encrypt(pair.centralHandle, .sample)
        pair.world.run(.seconds(3))
        #expect(pair.peripheral.endings == [.terminatedByMICFailure])
        #expect(pair.central.endings == [.connectionTimeout])
        #expect(pair.central.encryptions.isEmpty)
        #expect(pair.peripheral.encryptions.isEmpty)
    }

    // The peripheral's host never answers: the central's procedure times out after 40 s.
    @Test func aHostThatNeverAnswersCostsTheLink() throws {
        let pair = try Pair()
        pair.peripheral.answersKeyRequests = false
        pair.central.encrypt(pair.centralHandle)
        pair.world.run(.seconds(39))
        #expect(pair.central.endings.isEmpty)
        #expect(pair.peripheral.endings.isEmpty)
        pair.world.run(.seconds(2))
        #expect(pair.central.endings == [.linkLayerResponseTimeout])
        pair.world.run(.seconds(2))
        #expect(pair.peripheral.endings == [.connectionTimeout])
    }

    // MARK: Commands and events

    @Test func commandsAtTheWrongTime() throws {
        let pair = try Pair()
        let (central, peripheral) = (pair.central, pair.peripheral)
        let reply = LELongTermKeyRequestReply(
            handle: pair.peripheralHandle,
            longTermKey: PacketBuffer(.init(repeating: 1, count: 16))
        )
        peripheral.answersKeyRequests = false
        #expect(peripheral.encrypt(pair.peripheralHandle) == .commandDisallowed, "only the central encrypts")
        #expect(peripheral.send(reply) == .commandDisallowed)
        #expect(peripheral.send(LELongTermKeyRequestNegativeReply(handle: pair.peripheralHandle)) == .commandDisallowed)
        #expect(central.send(LELongTermKeyRequestNegativeReply(handle: pair.centralHandle)) == .commandDisallowed)
        #expect(central.encrypt(pair.centralHandle) == .success)
        #expect(central.encrypt(pair.centralHandle) == .commandDisallowed, "one at a time")
        pair.world.run(.seconds(1))
        peripheral.longTermKey = .sample
        #expect(peripheral.answer(pair.peripheralHandle) == .success)
        #expect(peripheral.answer(pair.peripheralHandle) == .commandDisallowed)
        pair.world.run(.seconds(1))
        #expect(pair.isEncrypted)
        central.send(Disconnect(handle: pair.centralHandle, reason: .remoteUserTerminated))
        #expect(central.encrypt(pair.centralHandle) == .commandDisallowed, "the link is being ended")
        pair.world.run(.seconds(1))
        #expect(central.encrypt(pair.centralHandle) == .unknownConnection)
        #expect(central.endings == [.localHostTerminated])
        #expect(peripheral.endings == [.remoteUserTerminated])
    }

    // Core Vol 4 Part E 7.8.22: least significant octet first, the reverse of FIPS 197.
    @Test func LEEncryptIsTheFunctionE() throws {
        let host = LinkLayerWorld().host()
        let key = PacketBuffer((0..<16).map { UInt8(0x0F - $0) })
        let plain = PacketBuffer((0..<16).map { UInt8(0xFF - $0 * 0x11) })
        let answer = try host.read(LEEncrypt(key: key, plaintext: plain))
        // FIPS 197, C.1: 69c4e0d86a7b0430d8cdb78070b4c55a.
        #expect(hexadecimal(answer.ciphertext.reversed()) == "69c4e0d86a7b0430d8cdb78070b4c55a")
    }

    @Test func theFirstVersionOfTheEventForAHostThatWantsIt() throws {
        let pair = try Pair(peripheral: { $0.version = .v5_2 })
        pair.central.send(SetEventMaskPage2(mask: []))
        pair.encrypt()
        #expect(pair.central.encryptions == ["v1 on success (0x0)"])
        #expect(pair.peripheral.encryptions == ["v1 on success (0x0)"], "no other version exists before 5.3")
    }

    @Test func maskedEventsAreNotSent() throws {
        let pair = try Pair()
        pair.central.send(SetEventMask(mask: [.leMeta]))
        pair.central.send(SetEventMaskPage2(mask: []))
        pair.encrypt()
        pair.central.encrypt(pair.centralHandle)
        pair.world.run(.seconds(1))
        #expect(pair.central.encryptions.isEmpty)
        #expect(pair.peripheral.encryptions == ["on, 16", "refresh success (0x0)"])
    }

    // MARK: Key refresh

    @Test func anotherKeyWhileEncrypted() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        pair.encrypt()
        let session = pair.centralLink?.ciphers.transmit
        let overheard = Overheard(world, central: pair.central)
        pair.encrypt(.other)
        #expect(session != nil)
        #expect(pair.central.encryptions == ["on, 16", "refresh success (0x0)"])
        #expect(pair.peripheral.encryptions == pair.central.encryptions)
        // LL_PAUSE_ENC_REQ and its response are encrypted; the central's response and the start are not.
        #expect(overheard.control.map(\.opcode) == [.pauseEncRsp, .encReq, .encRsp, .startEncReq])
        pair.central.send([1, 2], on: pair.centralHandle)
        world.run(.seconds(1))
        #expect(pair.peripheral.data.map(\.payload) == [[1, 2]])
    }

    // AB-L07: the link does not fall back to plaintext.
    @Test("AB-L07: a new key that the peripheral lacks ends an encrypted link")
    func anotherKeyThatThePeripheralLacksEndsTheLink() throws {
        let pair = try Pair()
        pair.encrypt()
        pair.peripheral.longTermKey = nil
        pair.central.encrypt(pair.centralHandle, .other)
        pair.world.run(.seconds(3))
        #expect(pair.central.endings == [.pinOrKeyMissing])
        #expect(pair.peripheral.endings == [.pinOrKeyMissing])
        #expect(pair.central.encryptions == ["on, 16"])
    }

    /// With and without latency and loss, while data flow in both directions: each packet arrives once, in order, and
    /// never in the clear.
    @Test(arguments: [(0, 0.0), (0, 0.2), (4, 0.0), (4, 0.1), (30, 0.0)] as [(UInt16, Double)], [1, 2] as [UInt64])
    func anotherKeyWhileDataFlow(setup: (latency: UInt16, loss: Double), seed: UInt64) throws {
        let world = LinkLayerWorld(seed: seed)
        let pair = try Pair(world, interval: 6, latency: setup.latency, timeout: 3_200)
        world.radio.configuration.lossRate = setup.loss
        world.radio.configuration.corruptionRate = setup.loss / 2
        let marker: [UInt8] = Array("marker".utf8)
        var leaks = 0
        var sent = [0, 0]
        func flow() {
            for (index, (host, handle)) in [
                (pair.central, pair.centralHandle), (pair.peripheral, pair.peripheralHandle),
            ].enumerated() {
                host.send(marker + [UInt8(sent[index] & 0xFF), UInt8(sent[index] >> 8)], on: handle)
                sent[index] += 1
            }
            if sent[0] < 300 { world.loop.schedule(after: .milliseconds(20)) { flow() } }
        }
        pair.peripheral.longTermKey = .sample
        pair.central.encrypt(pair.centralHandle)
        world.run(.seconds(6))
        #expect(pair.isEncrypted)
        world.sniff { if !$0.frame.pdu.isEmpty, $0.frame.pdu.dropFirst(2).starts(with: marker) { leaks += 1 } }
        flow()
        for key in [Key128.other, .sample, .other] {
            world.run(.seconds(2))
            pair.peripheral.longTermKey = key
            #expect(pair.central.encrypt(pair.centralHandle, key) == .success)
        }
        world.run(.seconds(60))
        #expect(pair.isEncrypted)
        #expect(leaks == 0)
        for host in [pair.central, pair.peripheral] {
            let numbers = host.data.map { Int($0.payload[6]) | Int($0.payload[7]) << 8 }
            #expect(numbers == Array(0..<300))
            #expect(host.encryptions == ["on, 16"] + Array(repeating: "refresh success (0x0)", count: 3))
        }
    }

    /// Loses each PDU of both procedures in turn, or its acknowledgement, several times.
    @Test(arguments: 1...24)
    func everyStepMayBeLost(number: Int) throws {
        let world = LinkLayerWorld(seed: UInt64(number))
        let pair = try Pair(world, timeout: 600)
        // Counting from the request, this frame and the next two are lost; likewise for the new key.
        func spoil() {
            var count = 0
            world.radio.onSend = { frame in
                guard frame.accessAddress != AccessAddress.advertising else { return }
                count += 1
                if (number..<number + 3).contains(count) { frame.crcInit ^= 1 }
            }
        }
        spoil()
        pair.encrypt()
        spoil()
        pair.encrypt(.other)
        world.radio.onSend = nil
        pair.central.send([1], on: pair.centralHandle)
        pair.peripheral.send([2], on: pair.peripheralHandle)
        world.run(.seconds(1))
        #expect(pair.peripheral.data.map(\.payload) == [[1]])
        #expect(pair.central.data.map(\.payload) == [[2]])
        #expect(pair.central.endings.isEmpty)
        #expect(pair.peripheral.endings.isEmpty)
    }
}

/// How encryption affects the rest of a link.
@Suite struct EncryptedLinkTests {
    // MARK: PHYs, lengths, other procedures

    @Test(arguments: [LEPHYs.le1M, .le2M, .coded], [true, false])
    func onEachPHY(phy: LEPHYs, isEncryptedFirst: Bool) throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world, timeout: 600)
        if isEncryptedFirst { pair.encrypt() }
        pair.central.setPHY(pair.centralHandle, phy)
        pair.central.send(LESetDataLength(handle: pair.centralHandle, txOctets: 251, txTime: 17_040))
        pair.peripheral.send(LESetDataLength(handle: pair.peripheralHandle, txOctets: 251, txTime: 17_040))
        world.run(.seconds(2))
        if !isEncryptedFirst { pair.encrypt() }
        var longest = 0
        world.sniff { longest = max(longest, $0.frame.pdu.count) }
        let data = (0..<251).map { UInt8($0) }
        pair.central.send(data, on: pair.centralHandle)
        pair.peripheral.send(data, on: pair.peripheralHandle)
        world.run(.seconds(1))
        // On the coded PHY an interval is too short for a whole packet, so it arrives in fragments.
        for host in [pair.central, pair.peripheral] { #expect(host.data.flatMap { Array($0.payload) } == data) }
        #expect(longest == 2 + 251 + 4 || phy == .coded)
        pair.encrypt(.other)
    }

    /// The time for 100 octets without a MIC carries four fewer with one (Core Vol 6 Part B 4.5.10).
    @Test(arguments: [false, true])
    func theCodeCountsAmongTheTime(isEncrypted: Bool) throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        pair.central.send(LESetDataLength(handle: pair.centralHandle, txOctets: 251, txTime: (100 + 10) * 8))
        world.run(.seconds(1))
        if isEncrypted { pair.encrypt() }
        var longest = 0
        world.sniff { longest = max(longest, $0.frame.pdu.count - 2) }
        pair.central.send([UInt8](repeating: 1, count: 200), on: pair.centralHandle)
        world.run(.seconds(1))
        #expect(longest == 100)
        #expect(pair.peripheral.data.first?.payload.count == (isEncrypted ? 96 : 100))
    }

    /// Procedures that begin together with encryption or shortly after, at either end: all of them complete.
    @Test("AB-L05: other procedures complete alongside encryption", arguments: 0..<6, [0, 1, 35, 70, 100])
    func otherProceduresAtTheSameTime(kind: Int, delay: Int) throws {
        for isCentral in [true, false] {
            let world = LinkLayerWorld()
            let pair = try Pair(world, timeout: 600)
            pair.peripheral.longTermKey = .sample
            let (host, handle) =
                isCentral ? (pair.central, pair.centralHandle) : (pair.peripheral, pair.peripheralHandle)
            let begin = {
                switch kind {
                case 0: host.send(ReadRemoteVersionInformation(handle: handle))
                case 1: host.send(LEReadRemoteFeatures(handle: handle))
                case 2: host.send(LESetDataLength(handle: handle, txOctets: 200, txTime: 2_000))
                case 3:
                    host.setPHY(handle, .le2M)
                case 4: host.update(handle, interval: 40...40, timeout: 600)
                default: host.send(LERequestPeerSCA(handle: handle))
                }
            }
            let complete: [any HCIEvent.Type] = [
                ReadRemoteVersionInformationComplete.self, LEReadRemoteFeaturesComplete.self, LEDataLengthChange.self,
                LEPHYUpdateComplete.self, LEConnectionUpdateComplete.self, LERequestPeerSCAComplete.self,
            ]
            func count<E: HCIEvent>(_ type: E.Type) -> Int { host.events(type).count }
            // The key also changes in the middle of the procedure.
            pair.central.encrypt(pair.centralHandle)
            world.loop.schedule(after: .milliseconds(delay)) { #expect(begin() == .success) }
            world.run(.seconds(4))
            #expect(pair.isEncrypted && count(complete[kind]) == 1, "\(kind), central: \(isCentral)")
            if kind == 0 || kind == 1 { continue }
            pair.central.encrypt(pair.centralHandle)
            world.loop.schedule(after: .milliseconds(delay)) { #expect(begin() == .success) }
            world.run(.seconds(4))
            #expect(pair.isEncrypted)
            #expect(pair.central.endings.isEmpty)
            #expect(pair.peripheral.endings.isEmpty)
            #expect(pair.central.encryptions == ["on, 16", "refresh success (0x0)"])
        }
    }

    @Test func linksSideBySideHaveKeysOfTheirOwn() throws {
        let world = LinkLayerWorld()
        let central = world.host()
        var pairs: [Pair] = []
        for number in 0..<5 {
            let peripheral = world.host(at: Double(number + 1))
            peripheral.longTermKey = Key128([UInt8](repeating: UInt8(number), count: 16))
            peripheral.advertise()
            central.connect(to: peripheral.address, interval: 40, timeout: 600)
            world.run(.seconds(2))
            let handle = try #require(central.events(LEEnhancedConnectionComplete.self).last).handle
            let other = try #require(peripheral.events(LEEnhancedConnectionComplete.self).last).handle
            pairs.append(Pair(world, central: central, peripheral: peripheral, handles: (handle, other)))
        }
        for pair in pairs { central.encrypt(pair.centralHandle, pair.peripheral.longTermKey ?? .zero) }
        world.run(.seconds(2))
        #expect(pairs.filter { !$0.isEncrypted }.isEmpty)
        for (number, pair) in pairs.enumerated() {
            central.send([UInt8(number), 1], on: pair.centralHandle)
            pair.peripheral.send([UInt8(number), 2], on: pair.peripheralHandle)
        }
        world.run(.seconds(2))
        for (number, pair) in pairs.enumerated() {
            #expect(pair.peripheral.data.map(\.payload) == [[UInt8(number), 1]])
        }
        #expect(Set(central.data.map(\.payload)) == Set((0..<5).map { [UInt8($0), 2] }))
        // One link ends; the others go on.
        pairs[2].peripheral.longTermKey = nil
        central.encrypt(pairs[2].centralHandle, .other)
        world.run(.seconds(3))
        #expect(central.endings == [.pinOrKeyMissing])
        #expect(central.controller.links.count == 4)
    }

    @Test func theSameSeedMakesTheSameCapture() throws {
        func run(_ seed: UInt64) throws -> [UInt8] {
            let world = LinkLayerWorld(seed: seed)
            var writer = AirCaptureWriter(unixMicrosecondsAtZero: 0)
            var file = writer.header
            world.radio.addSniffer().onFrame = { file += writer.record($0) }
            let pair = try Pair(world)
            pair.encrypt()
            pair.central.send([1, 2, 3], on: pair.centralHandle)
            pair.encrypt(.other)
            return file
        }
        let first = try run(7)
        let (second, other) = (try run(7), try run(8))
        #expect(second == first)
        #expect(other != first)
    }

    // MARK: Authenticated payload timeout and LE Ping

    @Test func aSilentLinkIsPinged() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        pair.encrypt()
        let overheard = Overheard(world, central: pair.central)
        world.run(.seconds(100))
        #expect((3...8).contains(overheard.payloads.count / 2), "\(overheard.payloads.count)")
        #expect(overheard.payloads.allSatisfy { $0.count == 5 })
        for host in [pair.central, pair.peripheral] {
            #expect(host.events(AuthenticatedPayloadTimeoutExpired.self).isEmpty)
            #expect(host.endings.isEmpty)
        }
    }

    @Test func aPlainLinkIsNotPinged() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        let overheard = Overheard(world, central: pair.central)
        pair.central.send(WriteAuthenticatedPayloadTimeout(handle: pair.centralHandle, timeout: 100))
        world.run(.seconds(10))
        #expect(overheard.payloads.isEmpty)
        #expect(pair.central.events(AuthenticatedPayloadTimeoutExpired.self).isEmpty)
    }

    // A peer that answers at the link layer only: the host gets an event each time, until the answer is overdue.
    @Test func missingAuthenticPacketsAreReported() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        pair.encrypt()
        let set = WriteAuthenticatedPayloadTimeout(handle: pair.centralHandle, timeout: 500)
        #expect(pair.central.send(set) == .success)
        pair.peripheralLink?.perform([.hold])
        world.run(.milliseconds(4_900))
        #expect(pair.central.events(AuthenticatedPayloadTimeoutExpired.self).isEmpty)
        world.run(.milliseconds(200))
        #expect(pair.central.events(AuthenticatedPayloadTimeoutExpired.self).map(\.handle) == [pair.centralHandle])
        world.run(.seconds(5))
        #expect(pair.central.events(AuthenticatedPayloadTimeoutExpired.self).count == 2)
        world.run(.seconds(40))
        #expect(pair.central.endings == [.linkLayerResponseTimeout])
    }

    @Test func dataCountAsWell() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        pair.encrypt()
        pair.central.send(WriteAuthenticatedPayloadTimeout(handle: pair.centralHandle, timeout: 200))
        let overheard = Overheard(world, central: pair.central)
        for _ in 0..<20 {
            pair.peripheral.send([1], on: pair.peripheralHandle)
            world.run(.milliseconds(500))
        }
        #expect(overheard.frames.filter { $0.fromCentral && !$0.payload.isEmpty }.isEmpty, "no ping is needed")
        #expect(pair.central.events(AuthenticatedPayloadTimeoutExpired.self).isEmpty)
    }

    @Test func aPeerWithoutPingAuthenticatesItselfByItsRefusal() throws {
        let pair = try Pair(peripheral: { $0.features.remove(.ping) })
        pair.encrypt()
        pair.central.send(WriteAuthenticatedPayloadTimeout(handle: pair.centralHandle, timeout: 200))
        pair.world.run(.seconds(20))
        #expect(pair.central.events(AuthenticatedPayloadTimeoutExpired.self).isEmpty)
        #expect(pair.central.endings.isEmpty)
    }

    /// PDUs without a payload are not encrypted.
    @Test func anIdleLinkCostsNothingMore() throws {
        let world = LinkLayerWorld()
        let pair = try Pair(world)
        pair.encrypt()
        let overheard = Overheard(world, central: pair.central)
        world.run(.seconds(20))
        #expect(overheard.count > 1_000)
        #expect(overheard.payloads.isEmpty)
    }
}
