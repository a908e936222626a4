import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import LinkLayer

private let device = BluetoothAddress(0x0102_0304_0506, kind: .publicDevice)
private let other = BluetoothAddress(0xC102_0304_0506, kind: .randomDevice)

private func header(_ change: (inout ExtendedHeader) -> Void) -> ExtendedHeader {
    var header = ExtendedHeader()
    change(&header)
    return header
}

private func sync(_ interval: UInt16) -> SyncInfo {
    var sync = SyncInfo()
    sync.interval = interval
    return sync
}

private let pointer = AuxiliaryPointer(channel: 12, offset: 1_500, phy: .le2M, isPrecise: true)
private let info = AdvertisingDataInfo(set: 9, data: 0xABC)

private let headers: [ExtendedHeader] = [
    header { _ in },
    header { $0.advertiser = device },
    header { $0.target = other },
    header { ($0.advertiser, $0.target) = (other, device) },
    header { $0.constantTone = 0x54 },
    header { $0.info = info },
    header { $0.pointer = pointer },
    header { $0.sync = sync(80) },
    header { $0.txPower = -20 },
    header { $0.controllerData = [2, 0x28, 1] },
    header {
        ($0.advertiser, $0.target, $0.constantTone, $0.info) = (device, other, 1, info)
        ($0.pointer, $0.sync, $0.txPower, $0.controllerData) = (pointer, sync(6), 20, sampleData(24))
    },
]

private let pdus: [AdvertisingPDU] =
    headers.flatMap { header in
        [ExtendedAdvertisement.Mode.nonConnectable, .connectable, .scannable, .reserved].flatMap { mode in
            [0, 1, 190].map { AdvertisingPDU.extended(.init(mode: mode, extended: header, data: sampleData($0))) }
        }
    } + [.connectResponse(.init(mode: .nonConnectable, extended: headers[3]))]

@Suite struct ExtendedPDUTests {
    @Test(arguments: pdus)
    func theyGoRound(pdu: AdvertisingPDU) throws {
        // The kind of an absent address is not encoded; it is written as public.
        #expect(try AdvertisingPDU(reading: PacketBuffer(pdu.encoded())) == pdu)
    }

    // Truncated anywhere, with a correct or an incorrect length in the header.
    @Test(arguments: pdus)
    func cutAnywhereTheyAreErrorsOrShorter(pdu: AdvertisingPDU) throws {
        let bytes = PacketBuffer(pdu.encoded())
        for length in 0..<bytes.count {
            #expect(throws: PacketError.self) { try AdvertisingPDU(reading: bytes.prefix(upTo: length)) }
            guard length >= 2 else { continue }
            var honest = bytes.prefix(upTo: length)
            honest[1] = UInt8(length - 2)
            // A cut within the extended header is an error; beyond it, the data are shorter.
            let headerEnd = 3 + Int(bytes[2] & 0x3F)
            if length < headerEnd {
                #expect(throws: PacketError.self) { try AdvertisingPDU(reading: honest) }
            } else {
                let read = try AdvertisingPDU(reading: honest)
                #expect(read.encoded() == honest.bytes)
            }
        }
        var longer = bytes
        longer.append(0)
        #expect(throws: PacketError.self) { try AdvertisingPDU(reading: longer) }
    }

    // Core Vol 6 Part B 2.3.4: flags, AdvA, TargetA, CTEInfo, ADI, AuxPtr, SyncInfo, TxPower, ACAD, then AdvData.
    @Test func laidOutAsInTheSpecification() {
        let body = header {
            ($0.advertiser, $0.target, $0.info, $0.pointer, $0.txPower) = (device, other, info, pointer, -4)
            $0.controllerData = [0xEE]
        }
        let pdu = AdvertisingPDU.extended(.init(mode: .connectable, extended: body, data: [1, 2]))
        // TargetA is random; channel 12, 50 ppm, 30 us; 50 units on 2M.
        let hex = "8717" + "54" + "5b" + "060504030201" + "0605040302c1" + "bc9a" + "4c3220" + "fc" + "ee" + "0102"
        #expect(hexadecimal(pdu.encoded()) == hex)
    }

    // Every first octet of the payload, every set of flags, and lengths around the minimum they need.
    @Test(arguments: [0x07, 0x08] as [UInt8])
    func everyHeaderIsReadOrRefused(kind: UInt8) {
        for lengthAndMode in UInt8.min...UInt8.max {
            for flags in stride(from: UInt8.min, through: 0xF0, by: 5) {
                for octets in [0, 8, 61] {
                    let payload = [lengthAndMode, flags] + [UInt8](repeating: 0xFF, count: octets)
                    let bytes = PacketBuffer([kind | 0xC0, UInt8(payload.count)] + payload)
                    guard let pdu = try? AdvertisingPDU(reading: bytes) else { continue }
                    _ = AuxiliaryTrail(reading: pdu)
                }
            }
        }
    }

    @Test func noiseIsReadOrRefused() {
        let random = RandomSource(seed: 11)
        var read = 0
        for _ in 0..<20_000 {
            let payload = random.bytes(Int(random.below(80)))
            let bytes = PacketBuffer([UInt8(random.below(256)) & 0xF0 | 7, UInt8(payload.count)] + payload)
            guard let pdu = try? AdvertisingPDU(reading: bytes) else { continue }
            read += 1
            _ = AuxiliaryTrail(reading: pdu)
            #expect((try? AdvertisingPDU(reading: PacketBuffer(pdu.encoded()))) != nil)
        }
        #expect(read > 200)
    }

    @Test(
        arguments: [
            (0, 0), (1, 0), (29, 0), (30, 30), (300, 300), (245_699, 245_670), (245_700, 245_700), (245_999, 245_700),
            (246_000, 246_000), (2_457_300, 2_457_300), (9_999_999, 2_457_300),
        ] as [(Int64, Int64)]
    )
    func offsets(asked: Int64, told: Int64) throws {
        for (phy, channel) in [(LEPHY.le1M, 0), (.le2M, 17), (.coded, 36)] as [(LEPHY, UInt8)] {
            let made = AuxiliaryPointer(channel: channel, offset: asked, phy: phy, isPrecise: false)
            let pointer = try AuxiliaryPointer(reading: made.encoded())
            #expect(pointer.offset == told)
            #expect(pointer.phy == phy)
            #expect(pointer.channel == channel)
            #expect(pointer.unit == (asked >= 245_700 ? 300 : 30))
        }
    }

    // Reserved channels and PHYs, and PDUs that would begin before this one ends.
    @Test func pointersThatCannotBeFollowed() throws {
        for channel in 0...63 as ClosedRange<UInt8> {
            let pointer = AuxiliaryPointer(channel: channel, offset: 3_000, phy: .le1M, isPrecise: true)
            #expect(pointer.isUsable(behind: 128) == (channel < 37))
        }
        for code in 0...7 as ClosedRange<UInt8> {
            let pointer = try AuxiliaryPointer(reading: [5, 100, code << 5])
            #expect((pointer.phy == nil) == (code > 2))
            #expect(pointer.isUsable(behind: 128) == (code <= 2))
        }
        #expect(!AuxiliaryPointer(channel: 1, offset: 0, phy: .le1M, isPrecise: true).isUsable(behind: 136))
        #expect(!AuxiliaryPointer(channel: 1, offset: 390, phy: .le1M, isPrecise: true).isUsable(behind: 136))
        #expect(AuxiliaryPointer(channel: 1, offset: 420, phy: .le1M, isPrecise: true).isUsable(behind: 136))
    }

    // Data of any length use the fewest possible PDUs, none longer than 255 octets.
    @Test(arguments: [LEPHY.le1M, .le2M, .coded], [[], [.includeTxPower], [.anonymous]] as [LEAdvertisingProperties])
    func segments(phy: LEPHY, properties: LEAdvertisingProperties) throws {
        var set = AdvertisingSet(.standard(0, properties) { $0.secondaryPHY = phy })
        set.air = .init(own: other)
        var channels = SecondaryChannels(identifier: 77)
        for length in Array(stride(from: 0, to: 1_650, by: 61)) + [241, 242, 243, 244, 245, 246, 1_650] {
            set.data = .init(sampleData(length))
            let segment = set.segment(isPrecise: true, channels: &channels)
            #expect(segment.parts.count <= length / 242 + 1)
            var data: PacketBuffer = []
            for (index, part) in segment.parts.enumerated() {
                guard case .extended(let body) = try AdvertisingPDU(reading: PacketBuffer(part.pdu)) else { return }
                #expect(part.pdu.count <= 257)
                #expect(body.extended.info == set.info)
                data.append(contentsOf: body.data)
                let next = index + 1 < segment.parts.count ? segment.parts[index + 1] : nil
                #expect(body.extended.pointer?.channel == next?.channel)
                #expect(body.extended.pointer?.offset == next.map { $0.start - part.start })
                #expect(body.extended.pointer?.phy == next.map { _ in phy })
                let airTime = phy.radioPHY.airTimeMicroseconds(octets: part.pdu.count)
                if let next { #expect((300..<330).contains(next.start - part.start - airTime)) }
            }
            #expect(data == set.data.bytes)
        }
    }
}

extension AuxiliaryTrail {
    /// Decodes a PDU as a scanner does when it arrives on a primary channel.
    fileprivate init?(reading pdu: AdvertisingPDU) {
        guard case .extended(let body) = pdu else { return nil }
        let frame = RadioFrame.advertising(pdu.encoded(), channel: 37, phy: .le1M)
        let received = ReceivedFrame(frame: frame, start: .zero, rssi: 0, isCorrupted: false)
        self.init(body, received, primaryPHY: .le1M)
        _ = append(body, received)
        _ = follow(body, received)
        _ = window(ClockAccuracy(code: 0))
    }
}
