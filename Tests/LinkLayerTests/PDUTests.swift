import BluetoothTypes
import HCI
import Testing

@testable import LinkLayer

private let device = BluetoothAddress(0x0102_0304_0506, kind: .publicDevice)
private let other = BluetoothAddress(0xC102_0304_0506, kind: .randomDevice)

private let connectionData: ConnectionData = {
    var data = ConnectionData()
    data.accessAddress = 0x5065_4BB1
    data.crcInit = 0x12_3456
    data.windowSize = 3
    data.windowOffset = 0x0102
    data.interval = 24
    data.latency = 4
    data.timeout = 100
    data.channelMap = ChannelMap(bits: 0x1F_0000_00FF)
    data.hop = 9
    data.clockAccuracy = 5
    return data
}()

private let advertisingPDUs: [AdvertisingPDU] = [
    .connectableScannable(.init(advertiser: device, data: [2, 1, 6], knowsAlgorithm2: true)),
    .directed(.init(advertiser: device, target: other, knowsAlgorithm2: false)),
    .nonConnectable(.init(advertiser: other, data: [])),
    .scanRequest(.init(scanner: other, advertiser: device)),
    .scanResponse(.init(advertiser: device, data: PacketBuffer([UInt8](repeating: 7, count: 31)))),
    .connect(.init(initiator: device, advertiser: other, link: connectionData, knowsAlgorithm2: true)),
    .scannable(.init(advertiser: device, data: [1])),
]

private let controlPDUs: [ControlPDU] = [
    .connectionUpdate(.init()), .channelMap(.init(map: .all, instant: 7)),
    .terminate(.init(.remoteUserTerminated)), .unknown(.init(.pingReq)), .featureRequest(.init(.phy2M)),
    .featureResponse(.init(.phyCoded)), .version(.init(version: .v5_3, company: 0xFFFF, subversion: 2)),
    .reject(.init(.unspecifiedError)), .peripheralFeatureRequest(.init([])), .connectionParameterRequest(.init()),
    .connectionParameterResponse(.init()), .rejectExtended(.init(.phyReq, .linkLayerProcedureCollision)),
    .pingRequest, .pingResponse, .lengthRequest(.init()), .lengthResponse(.init()),
    .phyRequest(.init(tx: .le1M, rx: .le2M)), .phyResponse(.init(tx: .coded, rx: .le1M)), .phyUpdate(.init()),
    .minimumUsedChannels(.init(phys: .le1M, channels: 5)), .clockAccuracyRequest(.init(5)),
    .clockAccuracyResponse(.init(7)), .encryptionRequest(.init()), .encryptionResponse(.init()),
    .startEncryptionRequest, .startEncryptionResponse, .pauseEncryptionRequest, .pauseEncryptionResponse,
    .subrateRequest(.init(factorMin: 2, factorMax: 9, maxLatency: 3, continuation: 1, timeout: 400)),
    .subrateIndication(.init()), .periodicSync(train), .periodicSync(respondingTrain),
    .soundingSecurityRequest(.init(vector: 1, nonce: 2, personalization: 3)), .soundingSecurityResponse(.init()),
    .soundingCapabilitiesRequest(.init(.simulated())), .soundingCapabilitiesResponse(.init(.simulated())),
    .soundingConfigurationRequest(soundingConfiguration), .soundingConfigurationResponse(.init(config: 3)),
    .soundingErrorTableRequest,
    .soundingErrorTableResponse(.init(PacketBuffer([UInt8](repeating: 9, count: 72)))),
    .soundingRequest(.init(config: 1, event: 0x0203, offsetMin: 500, offsetMax: 0x01_0203, snr: 0xF1)),
    .soundingResponse(.init(config: 1, event: 0x0203, offsetMin: 500, offsetMax: 0x01_0203)),
    .soundingIndication(.init(config: 2, event: 7, offset: 600, subevents: .init(eventInterval: 1, perEvent: 1))),
    .soundingTerminateRequest(.init(config: 1, procedures: 0x0405)), .soundingTerminateResponse(.init()),
]

private let soundingConfiguration: SoundingConfigurationRequest = {
    var pdu = SoundingConfigurationRequest()
    (pdu.config, pdu.isCreated, pdu.times) = (2, true, SoundingPlan.times)
    (pdu.configuration.mainMode, pdu.configuration.subMode, pdu.configuration.role) = (2, 1, .reflector)
    pdu.configuration.channelMap = [0xFC, 0xFF, 0x7F, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F]
    return pdu
}()

private let train: PeriodicSyncIndication = {
    var pdu = PeriodicSyncIndication()
    (pdu.serviceData, pdu.reference, pdu.lastCounter, pdu.syncCounter) = (0x0102, 0x0304, 0x0506, 0x0708)
    (pdu.sid, pdu.accuracy, pdu.advertiser, pdu.phy) = (11, .init(code: 5), other, .le2M)
    pdu.sync.offset = 6_000
    (pdu.sync.interval, pdu.sync.map, pdu.sync.accuracy) = (80, .init(bits: 0x1F_0000_00FF), .init(code: 6))
    (pdu.sync.accessAddress, pdu.sync.crcInit, pdu.sync.counter) = (0x5065_4BB1, 0x12_3456, 0x090A)
    return pdu
}()

private let respondingTrain: PeriodicSyncIndication = {
    var pdu = train
    let timing = LESubeventTiming(subevents: 4, interval: 20, responseSlotDelay: 8, responseSlotSpacing: 16)
    pdu.responses = ResponseTiming(accessAddress: 0x7182_93A4, timing: timing)
    return pdu
}()

@Suite struct PDUTests {
    @Test(arguments: advertisingPDUs)
    func advertisingPDUsGoRound(pdu: AdvertisingPDU) throws {
        #expect(try AdvertisingPDU(reading: PacketBuffer(pdu.encoded())) == pdu)
    }

    // The data may be shorter only if the header's length matches.
    @Test(arguments: advertisingPDUs)
    func advertisingPDUsCutAnywhereAreErrors(pdu: AdvertisingPDU) {
        let bytes = PacketBuffer(pdu.encoded())
        for length in 0..<bytes.count {
            #expect(throws: PacketError.self) { try AdvertisingPDU(reading: bytes.prefix(upTo: length)) }
        }
        var longer = bytes
        longer.append(0)
        #expect(throws: PacketError.self) { try AdvertisingPDU(reading: longer) }
    }

    @Test func connectIndLaidOutAsInTheSpecification() {
        let pdu = AdvertisingPDU.connect(
            .init(initiator: device, advertiser: other, link: connectionData, knowsAlgorithm2: true)
        )
        // Header, InitA, AdvA, AA, CRCInit, WinSize, WinOffset, Interval, Latency, Timeout, ChM, Hop and SCA.
        let hex =
            "a522" + "060504030201" + "0605040302c1" + "b14b6550" + "563412" + "03" + "0201" + "1800" + "0400"
            + "6400" + "ff0000001f" + "a9"
        #expect(hexadecimal(pdu.encoded()) == hex)
    }

    @Test func advertisingDataAreNotLongerThan31() {
        let bytes: [UInt8] = [0x02, 38] + [UInt8](repeating: 0, count: 38)
        #expect(throws: PacketError.self) { try AdvertisingPDU(reading: PacketBuffer(bytes)) }
    }

    @Test(arguments: 7..<16 as Range<UInt8>)
    func reservedTypesAreErrors(kind: UInt8) {
        #expect(throws: PacketError.self) { try AdvertisingPDU(reading: [kind, 0]) }
    }

    @Test(arguments: controlPDUs)
    func controlPDUsGoRound(pdu: ControlPDU) throws {
        #expect(try ControlPDU(reading: pdu.encoded()) == pdu)
    }

    @Test(arguments: controlPDUs)
    func controlPDUsCutAnywhereAreErrors(pdu: ControlPDU) {
        let bytes = pdu.encoded()
        for length in 0..<bytes.count {
            #expect(throws: PacketError.self) { try ControlPDU(reading: bytes.prefix(upTo: length)) }
        }
        var longer = bytes
        longer.append(0)
        #expect(throws: PacketError.self) { try ControlPDU(reading: longer) }
    }

    // Core Vol 6 Part B 2.4.2: octets of data after each opcode.
    @Test(
        arguments: [
            (.connectionUpdateInd, 11),
            (.channelMapInd, 7),
            (.terminateInd, 1),
            (.encReq, 22),
            (.encRsp, 12),
            (.startEncReq, 0),
            (.startEncRsp, 0),
            (.unknownRsp, 1),
            (.featureReq, 8),
            (.featureRsp, 8),
            (.pauseEncReq, 0),
            (.pauseEncRsp, 0),
            (.versionInd, 5),
            (.rejectInd, 1),
            (.peripheralFeatureReq, 8),
            (.connectionParamReq, 23),
            (.connectionParamRsp, 23),
            (.rejectExtInd, 2),
            (.pingReq, 0),
            (.pingRsp, 0),
            (.lengthReq, 8),
            (.lengthRsp, 8),
            (.phyReq, 2),
            (.phyRsp, 2),
            (.phyUpdateInd, 4),
            (.minUsedChannelsInd, 2),
            (.periodicSyncInd, 34),
            (.clockAccuracyReq, 1),
            (.clockAccuracyRsp, 1),
            (.subrateReq, 10),
            (.subrateInd, 10),
        ] as [(ControlOpcode, Int)]
    )
    func lengthsOfControlPDUs(opcode: ControlOpcode, length: Int) throws {
        let pdu = try #require(controlPDUs.first { $0.opcode == opcode })
        #expect(pdu.encoded().count == 1 + length)
    }

    @Test(arguments: [UInt8](0...255))
    func everyOpcodeIsReadOrRefused(opcode: UInt8) {
        let isKnown = controlPDUs.contains { $0.opcode.rawValue == opcode }
        for length in 0..<40 {
            let bytes = PacketBuffer([opcode] + [UInt8](repeating: 0, count: length))
            let pdu = try? ControlPDU(reading: bytes)
            #expect(isKnown || pdu == nil)
        }
    }

    @Test func dataHeaders() throws {
        let header = DataHeader(.start, nextExpected: true, sequence: false, moreData: true, length: 27)
        #expect(header.encoded() == [0b0001_0110, 27])
        let read = try DataHeader(reading: [0b0000_1011, 5])
        #expect(read.content == .control)
        #expect(!read.nextExpected)
        #expect(read.sequence)
        #expect(!read.moreData)
        #expect(read.length == 5)
        #expect(throws: PacketError.self) { try DataHeader(reading: [1]) }
        #expect(throws: PacketError.self) { try DataHeader(reading: []) }
    }

    // Core Vol 6 Part B 2.4.2.27: ID, SyncInfo, connEventCount, lastPaEventCounter, SID with AType and SCA, PHY, AdvA,
    // syncConnEventCount; and in SyncInfo (2.3.4.6) offset, interval, ChM with SCA, AA, CRCInit, paEventCounter.
    @Test func periodicSyncIndLaidOutAsInTheSpecification() {
        let octets: [UInt8] = [
            0x1C, 0x02, 0x01, 0xC8, 0x00, 0x50, 0x00, 0xFF, 0x00, 0x00, 0x00, 0xDF, 0xB1, 0x4B, 0x65, 0x50, 0x56, 0x34,
            0x12, 0x0A, 0x09, 0x04, 0x03, 0x06, 0x05, 0xBB, 0x02, 0x06, 0x05, 0x04, 0x03, 0x02, 0xC1, 0x08, 0x07,
        ]
        #expect(Array(ControlPDU.periodicSync(train).encoded()) == octets)
        // 2.4.2.41: the same, then RspAA, numSubevents, subeventInterval, responseSlotDelay, responseSlotSpacing.
        let responding = [0x2A] + octets.dropFirst() + [0xA4, 0x93, 0x82, 0x71, 4, 20, 8, 16]
        #expect(Array(ControlPDU.periodicSync(respondingTrain).encoded()) == responding)
        #expect(responding.count == 43)
        #expect(ControlPDU.soundingErrorTableResponse(.init()).encoded().count == ControlPDU.maximumOctets)
        // Neither parses as the other.
        #expect(throws: PacketError.self) { try ControlPDU(reading: PacketBuffer([0x2A] + octets.dropFirst())) }
        #expect(throws: PacketError.self) { try ControlPDU(reading: PacketBuffer([0x1C] + responding.dropFirst())) }
    }

    // CSS Part A 1.24, and the AD type of the Assigned Numbers.
    @Test func responseTimingLaidOutAsInTheSpecification() throws {
        let responses = try #require(respondingTrain.responses)
        let octets: PacketBuffer = [9, 0x32, 0xA4, 0x93, 0x82, 0x71, 4, 20, 8, 16]
        #expect(responses.controllerData == octets)
        #expect(try ResponseTiming.find(in: octets) == responses)
        let behind = PacketBuffer([3, 0x28, 1, 2] + octets.bytes + [2, 0x2C, 1])
        #expect(try ResponseTiming.find(in: behind) == responses)
        #expect(try ResponseTiming.find(in: []) == nil && ResponseTiming.find(in: [3, 0x28, 1, 2]) == nil)
        #expect(try ResponseTiming.find(in: [0, 0]) == nil)
        let bytes = octets.bytes
        let hostile: [[UInt8]] = [
            [8] + bytes[1..<9], [10] + bytes[1...] + [0], [9, 0x32, 1], [200, 0x28],
        ]
        for bad in hostile {
            #expect(throws: PacketError.self, "\(bad)") { try ResponseTiming.find(in: PacketBuffer(bad)) }
        }
    }

    @Test func subratePDUsLaidOutAsInTheSpecification() {
        let request = SubrateRequest(
            factorMin: 0x0201,
            factorMax: 0x0403,
            maxLatency: 0x0605,
            continuation: 0x0807,
            timeout: 0x0A09
        )
        #expect(Array(ControlPDU.subrateRequest(request).encoded()) == [0x26, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
        var indication = SubrateIndication()
        (indication.factor, indication.base, indication.latency) = (0x0201, 0x0403, 0x0605)
        (indication.continuation, indication.timeout) = (0x0807, 0x0A09)
        #expect(Array(ControlPDU.subrateIndication(indication).encoded()) == [0x27, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    }

    // Short offsets in units of 30 µs, longer ones in 300 µs, and from 2.4576 s on with Offset Adjust; an offset out of
    // range is 0.
    @Test(
        arguments: [
            (30, 30, 30), (89, 60, 30), (245_699, 245_670, 30), (245_700, 245_700, 300), (2_457_599, 2_457_300, 300),
            (2_457_900, 2_457_900, 300), (4_914_900, 4_914_900, 300), (4_915_200, 0, 30), (29, 0, 30), (0, 0, 30),
        ] as [(Int64, Int64, Int64)]
    )
    func offsetsOfTrains(offset: Int64, told: Int64, unit: Int64) throws {
        var sync = SyncInfo()
        sync.offset = offset
        let read = try SyncInfo(reading: sync.encoded())
        #expect(read.offset == told)
        #expect(read.unit == unit)
        #expect(sync.encoded().count == 18)
    }
}
