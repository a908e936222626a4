import BluetoothTypes
import EventLoops
import Foundation
import HCI
import Testing

@testable import LinkLayer

@Suite struct AirCaptureTests {
    private func sniffed(
        channel: UInt8 = 37,
        address: UInt32 = AccessAddress.advertising,
        phy: RadioPHY = .le1M,
        pdu: [UInt8] = [0x42, 0x03, 1, 2, 3],
        sender: RadioNode? = nil,
        _ change: (inout SniffedFrame) -> Void = { _ in }
    ) -> SniffedFrame {
        let radio = Radio(loop: VirtualEventLoop(), random: RandomSource(seed: 1))
        var frame = SniffedFrame(
            frame: RadioFrame(
                channel: channel,
                accessAddress: address,
                crcInit: AdvertisingPDU.crcInit,
                phy: phy,
                pdu: pdu
            ),
            start: .zero,
            rssi: -60,
            noise: nil,
            isCorrupted: false,
            sender: (sender ?? radio.add()).id
        )
        change(&frame)
        return frame
    }

    private func flags(_ record: [UInt8]) -> UInt16 {
        UInt16(record[36]) | UInt16(record[37]) << 8
    }

    // Core Vol 6 Part B 3.1.1. Interop/tests/test_captures.py checks the CRC with tshark as well.
    @Test func theCheckIsTheLinkLayers() {
        let random = RandomSource(seed: 3)
        // Appending its own CRC to a PDU leaves 0 in the register, whatever the PDU.
        for count in 0..<40 {
            let pdu = random.bytes(count)
            let check = CyclicRedundancyCheck.octets(of: pdu, initial: 0x12_3456)
            #expect(CyclicRedundancyCheck.octets(of: pdu + check, initial: 0x12_3456) == [0, 0, 0])
        }
        #expect(CyclicRedundancyCheck.octets(of: [], initial: 0x55_5555) == [0xAA, 0xAA, 0xAA])
        #expect(CyclicRedundancyCheck.octets(of: [], initial: 0x80_0000) == [0x01, 0x00, 0x00])
    }

    @Test func aFileBeginsAsPcapng() {
        let header = AirCaptureWriter(unixMicrosecondsAtZero: 0).header
        let section = "0a0d0d0a" + "1c000000" + "4d3c2b1a" + "01000000" + "ffffffffffffffff" + "1c000000"
        let interface = "01000000" + "14000000" + "00010000" + "ffff0000" + "14000000"
        #expect(hexadecimal(header) == section + interface)
    }

    @Test func eachFrameHasTheNameOfItsSender() {
        var writer = AirCaptureWriter(unixMicrosecondsAtZero: 0)
        let unnamed = writer.record(sniffed())
        let named = writer.record(sniffed(), from: "Pulse")
        // "Pulse" has five octets, which are padded to eight.
        let comment = "01000500" + "50756c7365000000" + "00000000"
        #expect(hexadecimal(named[8..<(named.count - 4)]) == hexadecimal(unnamed[8..<(unnamed.count - 4)]) + comment)
        #expect(Int(named[4]) == named.count)
    }

    @Test func longNamesAreCutOffBetweenCharacters() {
        var writer = AirCaptureWriter(unixMicrosecondsAtZero: 0)
        let record = writer.record(sniffed(), from: "ab" + String(repeating: "€", count: 200))
        // 2 + 82 * 3 octets, followed by the end of the options and the length of the block.
        let comment = record.dropLast(8).suffix(252)
        #expect(Array(comment.prefix(4)) == [1, 0, 248, 0])
        #expect(String(decoding: comment.dropFirst(4), as: UTF8.self) == "ab" + String(repeating: "€", count: 82))
    }

    @Test func advertisedNamesAreLearned() {
        let radio = Radio(loop: VirtualEventLoop(), random: RandomSource(seed: 1))
        let (belt, far) = (radio.add(), radio.add())
        // ADV_IND with the complete local name "Belt".
        let pdu: [UInt8] = [0x40, 12] + [1, 2, 3, 4, 5, 0xC6] + [5, 9, 0x42, 0x65, 0x6C, 0x74]
        var names = AdvertisedNames()
        names.learn(from: sniffed(pdu: pdu, sender: far) { $0.isCorrupted = true })
        for count in 0..<pdu.count { names.learn(from: sniffed(pdu: Array(pdu.prefix(count)), sender: far)) }
        names.learn(from: sniffed(pdu: pdu, sender: belt))
        names.learn(from: sniffed(channel: 4, address: 0x5065_4BB1, pdu: [0x40, 0], sender: belt))
        #expect(names[belt.id] == "Belt")
        #expect(names[far.id] == nil)
    }

    @Test func aRecordHasAllItsFields() {
        var writer = AirCaptureWriter(unixMicrosecondsAtZero: 1_000_000_000_000_000)
        let frame = sniffed {
            $0.start = Instant(microseconds: 2_000_345)
            $0.noise = -101
        }
        let packet = writer.record(frame)
        // 1 000 000 002.000345 s, in microseconds, the high half first.
        let header = "06000000" + "38000000" + "00000000" + "7e8d0300" + "d905e5a4"
        let lengths = "16000000" + "16000000"
        let pseudoHeader = "00" + "c4" + "9b" + "00" + "d6be898e" + "370c"
        let body = header + lengths + pseudoHeader + "d6be898e" + "4203010203"
        #expect(hexadecimal(packet.prefix(47)) == body)
        #expect(hexadecimal(packet.suffix(6)) == "0000" + "38000000")
    }

    @Test(arguments: [(0, 1), (10, 11), (11, 13), (36, 38), (37, 0), (38, 12), (39, 39)] as [(UInt8, UInt8)])
    func channelsAreGivenByFrequency(index: UInt8, number: UInt8) {
        var writer = AirCaptureWriter(unixMicrosecondsAtZero: 0)
        #expect(writer.record(sniffed(channel: index))[28] == number)
    }

    @Test(
        arguments: [
            (RadioPHY.le1M, 0, []), (.le2M, 1, []), (.codedS8, 2, [0]), (.codedS2, 2, [1]),
        ] as [(RadioPHY, UInt16, [UInt8])]
    )
    func thePHYIsToldAndCodedOnesHaveTheirIndicator(phy: RadioPHY, number: UInt16, indicator: [UInt8]) {
        var writer = AirCaptureWriter(unixMicrosecondsAtZero: 0)
        let packet = writer.record(sniffed(phy: phy))
        #expect(flags(packet) >> 14 == number)
        #expect(Array(packet[42...].prefix(indicator.count + 1)) == indicator + [0x42])
        #expect(Int(packet[20]) == 10 + 4 + indicator.count + 5 + 3)
    }

    @Test func corruptedFramesHaveAWrongCRC() {
        var writer = AirCaptureWriter(unixMicrosecondsAtZero: 0)
        let good = writer.record(sniffed())
        let bad = writer.record(sniffed { $0.isCorrupted = true })
        #expect(flags(good) & 0x0C00 == 0x0C00)
        #expect(flags(bad) & 0x0C00 == 0x0400)
        #expect(Array(good[47..<50]) == CyclicRedundancyCheck.octets(of: [0x42, 3, 1, 2, 3], initial: 0x55_5555))
        #expect(zip(good[47..<50], bad[47..<50]).allSatisfy { $0 == ~$1 })
        #expect(good[38..<47] == bad[38..<47])
    }

    @Test func aConnectionsFramesHaveADirection() throws {
        let world = LinkLayerWorld()
        var writer = AirCaptureWriter(unixMicrosecondsAtZero: 0)
        var kinds: [UInt16: Set<RadioNode.ID>] = [:]
        let sniffer = world.radio.addSniffer()
        sniffer.onFrame = { kinds[self.flags(writer.record($0)) >> 7 & 7, default: []].insert($0.sender) }
        let pair = try Pair(world)
        #expect(kinds[2] == [pair.central.controller.node.id])
        #expect(kinds[3] == [pair.peripheral.controller.node.id])
        #expect(kinds.keys.sorted() == [0, 2, 3])
    }

    @Test func aConnectionWhoseBeginningWasNotSeenHasNone() {
        var directory = AirDirectory()
        let kind = directory.classify(sniffed(channel: 3, address: 0x5065_4BB1))
        #expect(kind == .unspecified)
    }

    @Test func knownConnectionsAreBounded() {
        var directory = AirDirectory()
        let radio = Radio(loop: VirtualEventLoop(), random: RandomSource(seed: 1))
        let (central, peripheral) = (radio.add(), radio.add())
        func connect(_ address: UInt32) -> SniffedFrame {
            var data = ConnectionData()
            data.accessAddress = address
            let request = ConnectIndication(initiator: .none, advertiser: .none, link: data, knowsAlgorithm2: true)
            return sniffed(pdu: AdvertisingPDU.connect(request).encoded(), sender: central)
        }
        for address in 0...UInt32(AirDirectory.maximum) { _ = directory.classify(connect(address)) }
        let kinds = [0, 1].map { directory.classify(sniffed(channel: 3, address: $0, sender: peripheral)) }
        #expect(kinds == [.unspecified, .fromPeripheral])
    }

    // AUX_ADV_IND points to AUX_CHAIN_IND; AUX_SCAN_REQ is answered by AUX_SCAN_RSP.
    @Test func auxiliaryPDUsAreToldApart() {
        var directory = AirDirectory()
        let radio = Radio(loop: VirtualEventLoop(), random: RandomSource(seed: 1))
        let (advertiser, scanner) = (radio.add(), radio.add())
        let address = [UInt8](repeating: 1, count: 6)
        // Extended header with AdvA, ADI and AuxPtr to channel 9.
        let pointing: [UInt8] = [0x07, 13, 12, 0x19] + address + [0, 0] + [9, 0, 0]
        let last: [UInt8] = [0x07, 4, 3, 0x08, 0, 0]
        func kind(_ pdu: [UInt8], _ channel: UInt8, at time: Int64, _ sender: RadioNode) -> AirFrameKind {
            directory.classify(
                sniffed(channel: channel, pdu: pdu, sender: sender) { $0.start = Instant(microseconds: time) }
            )
        }
        #expect(kind(pointing, 37, at: 0, advertiser) == .unspecified)
        #expect(kind(pointing, 9, at: 1_000, advertiser) == .auxiliary)
        #expect(kind(last, 9, at: 2_000, advertiser) == .chain)
        #expect(kind(last, 9, at: 9_000, advertiser) == .auxiliary)
        let request: [UInt8] = [0x03, 12] + address + address
        #expect(kind(request, 9, at: 10_000, scanner) == .auxiliary)
        #expect(kind(last, 9, at: 10_000 + 176 + 150, advertiser) == .scanResponse)
    }

    // The writer validates nothing: it also writes frames that are not PDUs.
    @Test func framesCutOffAnywhereAreWritten() {
        let pdus: [[UInt8]] = [
            [0x07, 13, 12, 0x19] + [UInt8](repeating: 1, count: 8) + [9, 0, 0],
            [0x05, 34] + [UInt8](repeating: 0xFF, count: 34),
        ]
        for pdu in pdus {
            for count in 0...pdu.count {
                for channel in [5, 37] as [UInt8] {
                    var writer = AirCaptureWriter(unixMicrosecondsAtZero: .min)
                    let packet = writer.record(sniffed(channel: channel, pdu: Array(pdu.prefix(count))))
                    let length = 10 + 4 + count + 3
                    #expect(packet[20...23] == [UInt8(length), 0, 0, 0])
                    #expect(packet.count == 28 + (length + 3) / 4 * 4 + 4)
                    #expect(Int(packet[4]) == packet.count)
                }
            }
        }
    }

    /// Writes a capture with data on each PHY into the folder that the tshark check reads.
    @Test(arguments: [LEPHYs.le1M, .le2M, .coded])
    func capturesAreLeftForTheDecoder(phy: LEPHYs) throws {
        let world = LinkLayerWorld()
        var writer = AirCaptureWriter(unixMicrosecondsAtZero: 978_307_200_000_000)
        var file = writer.header
        let sniffer = world.radio.addSniffer(at: Position(x: 0.5, y: 0.5))
        sniffer.onFrame = { file += writer.record($0) }
        let pair = try Pair(world)
        pair.central.setPHY(pair.centralHandle, phy)
        world.run(.seconds(1))
        // A notification of two octets: length, channel identifier, opcode, handle, value.
        pair.peripheral.send([5, 0, 4, 0, 0x1B, 0x0E, 0x00, 0x16, 0x48], on: pair.peripheralHandle)
        world.run(.milliseconds(200))
        pair.central.send(Disconnect(handle: pair.centralHandle, reason: .remoteUserTerminated))
        world.run(.seconds(1))
        let folder = URL(fileURLWithPath: ".build/captures")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(file).write(to: folder.appendingPathComponent("phy-\(phy.rawValue).air.pcapng"))
        #expect(file.count > 1_000)
    }

    /// Writes a capture of a link that becomes encrypted and carries data, for the same check. The key does not change:
    /// tshark cannot decode LL_PAUSE_ENC_REQ, which is encrypted, and reports its answers as errors.
    @Test func encryptedCapturesAreLeftForTheDecoder() throws {
        let world = LinkLayerWorld()
        var writer = AirCaptureWriter(unixMicrosecondsAtZero: 978_307_200_000_000)
        var file = writer.header
        world.radio.addSniffer(at: Position(x: 0.5, y: 0.5)).onFrame = { file += writer.record($0) }
        let pair = try Pair(world)
        pair.encrypt()
        let notification: [UInt8] = [5, 0, 4, 0, 0x1B, 0x0E, 0x00, 0x16, 0x48]
        pair.peripheral.send(notification, on: pair.peripheralHandle)
        pair.central.send(notification, on: pair.centralHandle)
        world.run(.milliseconds(200))
        pair.central.send(Disconnect(handle: pair.centralHandle, reason: .remoteUserTerminated))
        world.run(.seconds(1))
        #expect(pair.central.data.count == 1)
        #expect(pair.peripheral.data.count == 1)
        let folder = URL(fileURLWithPath: ".build/captures")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(file).write(to: folder.appendingPathComponent("encrypted.air.pcapng"))
    }

    /// Writes a capture of a train with a chain, and of a link over which the train is transferred and which is then
    /// subrated, for the same check.
    @Test func capturesOfTrainsAreLeftForTheDecoder() throws {
        let world = LinkLayerWorld()
        var writer = AirCaptureWriter(unixMicrosecondsAtZero: 978_307_200_000_000)
        var file = writer.header
        var kinds: [UInt16: Int] = [:]
        world.radio.addSniffer(at: Position(x: 0.5, y: 0.5)).onFrame = {
            let record = writer.record($0)
            kinds[flags(record) & 0x3380, default: 0] += 1
            file += record
        }
        let (central, peripheral) = (world.host(), world.host(at: 1))
        for host in [central, peripheral] { host.send(LESetHostFeature(bitNumber: 38, isSupported: true)) }
        peripheral.advertiseExtended(.connectable, set: 1)
        central.connectExtended(to: peripheral.address)
        world.run(.seconds(1))
        let handle = try #require(central.connections.first).handle
        central.send(LEReadRemoteFeatures(handle: handle))
        // More data than one PDU holds. The first PDU carries 250 octets. Because tshark decodes the data of each PDU
        // separately, an AD structure ends there.
        let name: [UInt8] = [24, 9] + [UInt8](repeating: 0x41, count: 23)
        central.advertisePeriodically(data: PacketBuffer((0..<16).flatMap { _ in name }), interval: 80)
        world.run(.seconds(1))
        #expect(
            central.send(LEPeriodicAdvertisingSetInfoTransfer(handle: handle, serviceData: 0x0102, set: 0)) == .success
        )
        let request = LESubrateRequest {
            $0.handle = handle
            $0.parameters.subrateMin = 2
            $0.parameters.subrateMax = 4
            $0.parameters.maxLatency = 0
            $0.parameters.continuation = 1
            $0.parameters.supervisionTimeout = 400
        }
        #expect(central.send(request) == .success)
        world.run(.seconds(1))
        // AUX_ADV_IND, AUX_CHAIN_IND and AUX_SYNC_IND, distinguished by the flags.
        #expect((kinds[0x2080] ?? 0) >= 15 && (kinds[0x1080] ?? 0) >= 15 && (kinds[0x0080] ?? 0) >= 15)
        let folder = URL(fileURLWithPath: ".build/captures")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(file).write(to: folder.appendingPathComponent("train.air.pcapng"))
    }

    // AUX_SYNC_SUBEVENT_IND and AUX_SYNC_SUBEVENT_RSP, a connection from a subevent, and LL_PERIODIC_SYNC_WR_IND over
    // it.
    @Test func aTrainWithResponsesIsCaptured() throws {
        let world = LinkLayerWorld()
        var writer = AirCaptureWriter(unixMicrosecondsAtZero: 978_307_200_000_000)
        var file = writer.header
        var kinds: [UInt16: Int] = [:]
        world.sniff {
            let record = writer.record($0)
            kinds[flags(record) & 0x3380, default: 0] += 1
            file += record
        }
        let (advertiser, listener) = (world.host(), world.host(at: 1))
        // AD structures, which tshark decodes.
        let parameters = LESetPeriodicAdvertisingParametersV2.sample(properties: .includeTxPower)
        let status = advertiser.advertiseResponsively(parameters, on: world, data: { [5, 0xFF, 0xFF, 0xFF, 0x53, $0] })
        #expect(status == .success)
        listener.unmask(TestHost.newestForms)
        listener.scanExtended()
        listener.synchronize(to: advertiser.address)
        #expect(world.run(upTo: .seconds(5)) { !listener.newTrains.isEmpty })
        let sync = try #require(listener.newTrains.first).v1.sync
        listener.send(LESetExtendedScanEnable(isEnabled: false, filterDuplicates: .disabled, duration: 0, period: 0))
        let chosen = listener.listen(to: sync, [1, 2], properties: .includeTxPower, on: world) {
            $0.answer([5, 0xFF, 0xFF, 0xFF, 0x52, $0.periodicSubevent], slot: 1)
        }
        #expect(chosen == .success)
        world.run(.seconds(1))
        var command = LEExtendedCreateConnectionV2()
        (command.set, command.periodicSubevent) = (0, 2)
        (command.v1.peerAddress, command.v1.le1M) = (listener.address, .standard)
        #expect(advertiser.send(command) == .success)
        world.run(.seconds(1))
        let handle = try #require(advertiser.newConnections.first).v1.handle
        advertiser.send(LEReadRemoteFeatures(handle: handle))
        world.run(.milliseconds(300))
        let told = LEPeriodicAdvertisingSetInfoTransfer(handle: handle, serviceData: 0x0304, set: 0)
        #expect(advertiser.send(told) == .success)
        world.run(.milliseconds(300))
        #expect((kinds[0x2080] ?? 0) >= 80 && (kinds[0x0080] ?? 0) >= 10)
        #expect((kinds[0x0100] ?? 0) >= 10 && (kinds[0x0180] ?? 0) >= 10)
        let folder = URL(fileURLWithPath: ".build/captures")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(file).write(to: folder.appendingPathComponent("responses.air.pcapng"))
    }
}
