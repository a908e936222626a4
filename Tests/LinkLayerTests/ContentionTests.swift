import BluetoothTypes
import EventLoops
import Foundation
import HCI
import Testing

@testable import LinkLayer

/// Many advertisers and one scanner that scans continuously: unslotted contention, as in ALOHA.
@Suite struct ContentionTests {
    struct Crowd: CustomTestStringConvertible {
        var advertisers: Int
        /// The advertising interval, in milliseconds.
        var interval: Int

        var testDescription: String { "\(advertisers) at \(interval) ms" }
        /// PDUs per second from each advertiser on one channel: advDelay is 5 ms on average.
        var rate: Double { 1_000 / Double(interval + 5) }
        /// The probability that no other PDU begins within one air time before or after the start of a PDU.
        var survival: Double { exp(-2 * Double(advertisers - 1) * rate * 376e-6) }
    }

    static let crowds = [
        Crowd(advertisers: 100, interval: 100), Crowd(advertisers: 200, interval: 100),
        Crowd(advertisers: 1_000, interval: 1_000),
    ]
    /// The simulated time, in parts of so many seconds: long enough that 3 in 100 is about three standard deviations.
    static let (parts, partDuration) = (3, 8)

    // With ADV_NONCONN_IND of 31 octets, 376 us, and without capture: 469, 458 and 470 reports per second. Only on
    // channel 37, since the other two behave alike.
    @Test(arguments: crowds, [1, 2, 3] as [UInt64])
    func reportsComeAtTheRateThatContentionLeaves(crowd: Crowd, seed: UInt64) {
        let world = LinkLayerWorld(seed: seed) { $0.propagation.captureThreshold = .infinity }
        let scanner = world.host()
        var reports = 0
        scanner.onEvent = { if $0.code == LEAdvertisingReport.eventCode { reports += 1 } }
        let random = RandomSource(seed: seed &+ 100)
        for _ in 0..<crowd.advertisers {
            let advertiser = world.host(at: 1)
            let start = Int(random.below(UInt64(crowd.interval + 5) * 1_000))
            world.loop.schedule(after: .microseconds(start)) { advertiser.crowd(interval: crowd.interval) }
        }
        world.run(.milliseconds(crowd.interval * 2))
        reports = 0
        for _ in 0..<Self.parts {
            scanner.scanOnTheFirstChannel()
            world.run(.seconds(Self.partDuration))
        }
        let seconds = Double(Self.parts * Self.partDuration)
        let expected = Double(crowd.advertisers) * crowd.rate * crowd.survival * seconds
        #expect(abs(Double(reports) / expected - 1) < 0.03, "\(reports) of \(Int(expected))")
    }
}

extension TestHost {
    fileprivate func crowd(interval: Int) {
        send(LESetAdvertisingData(data: PacketBuffer([UInt8](repeating: 1, count: 31))))
        send(
            LESetAdvertisingParameters {
                $0.intervalMin = UInt16(interval * 8 / 5)
                $0.intervalMax = UInt16(interval * 8 / 5)
                $0.kind = .nonConnectable
                $0.ownAddressKind = .publicDevice
                $0.peerAddress = .none
                $0.channels = .channel37
                $0.filterPolicy = .unfiltered
            }
        )
        send(LESetAdvertisingEnable(isEnabled: true))
    }

    /// Scans continuously from a fresh start: the first window, on channel 37, is 10.24 s long.
    fileprivate func scanOnTheFirstChannel() {
        send(LESetScanEnable(isEnabled: false, filterDuplicates: .disabled))
        send(
            LESetScanParameters {
                $0.kind = .passive
                $0.scanInterval = 0x4000
                $0.scanWindow = 0x4000
                $0.ownAddressKind = .publicDevice
                $0.filterPolicy = .unfiltered
            }
        )
        send(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled))
    }
}
