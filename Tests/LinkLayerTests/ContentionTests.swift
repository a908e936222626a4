import BluetoothTypes
import EventLoops
import Foundation
import HCI
import Radio
import Testing

@testable import LinkLayer

/// Many advertisers and one scanner that never rests: unslotted contention, as ALOHA has it.
@Suite struct ContentionTests {
    struct Crowd: CustomTestStringConvertible {
        var advertisers: Int
        /// In milliseconds.
        var interval: Int
        /// What is simulated, in seconds: so long that 3 in 100 are three standard deviations or more.
        var duration: Int

        var testDescription: String { "\(advertisers) at \(interval) ms" }
        /// PDUs on one channel in a second from each: advDelay is 5 ms on average.
        var rate: Double { 1_000 / Double(interval + 5) }
        /// A PDU survives when none of the others begins within its air time before or after its beginning.
        var survival: Double { exp(-2 * Double(advertisers - 1) * rate * 376e-6) }
    }

    static let crowds = [
        Crowd(advertisers: 100, interval: 100, duration: 25),
        Crowd(advertisers: 200, interval: 100, duration: 25),
        Crowd(advertisers: 1_000, interval: 1_000, duration: 25),
    ]

    // With ADV_NONCONN_IND of 31 octets, 376 us, and without capture: 469, 458 and 470 reports in a second.
    @Test(arguments: crowds, [1, 2, 3] as [UInt64])
    func reportsComeAtTheRateThatContentionLeaves(crowd: Crowd, seed: UInt64) {
        let world = World(seed: seed) { $0.propagation.captureThreshold = .infinity }
        let scanner = world.host()
        var reports = 0
        scanner.onEvent = { if $0.code == LEAdvertisingReport.eventCode { reports += 1 } }
        let random = RandomSource(seed: seed &+ 100)
        for _ in 0..<crowd.advertisers {
            let advertiser = world.host(at: 1)
            advertiser.send(LESetAdvertisingData(data: PacketBuffer([UInt8](repeating: 1, count: 31))))
            let start = Int(random.below(UInt64(crowd.interval + 5) * 1_000))
            world.loop.schedule(after: .microseconds(start)) {
                advertiser.advertise(.nonConnectable, interval: UInt16(crowd.interval * 8 / 5))
            }
        }
        world.run(.milliseconds(crowd.interval * 2))
        scanner.scanOnOneChannel()
        reports = 0
        world.run(.seconds(crowd.duration))
        let expected = Double(crowd.advertisers) * crowd.rate * crowd.survival * Double(crowd.duration)
        #expect(abs(Double(reports) / expected - 1) < 0.03, "\(reports) of \(Int(expected))")
    }
}

extension TestHost {
    /// Scans without a pause, in windows so long that changes of the channel do not count.
    fileprivate func scanOnOneChannel() {
        send(
            LESetScanParameters(
                kind: .passive,
                scanInterval: 0x4000,
                scanWindow: 0x4000,
                ownAddressKind: .publicDevice,
                filterPolicy: .everybody
            )
        )
        send(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled))
    }
}
