import BluetoothTypes
import EventLoops
import Foundation
import HCI
import Testing

@testable import Crowd
@testable import LinkLayer

/// The contention model beside virtual controllers on the radio: connectable advertising on all channels, and a scan
/// that uses the channels in turn.
@Suite struct CrowdModelTests {
    struct Controllers: CustomTestStringConvertible {
        var count: Int
        /// The advertising interval, in milliseconds.
        var interval: Int
        var seconds: Int

        var group: AdvertiserGroup {
            AdvertiserGroup(count: count, interval: .milliseconds(interval), dataOctets: TestHost.dataOctets)
        }

        var testDescription: String { "\(count) at \(interval) ms" }
    }

    /// With `HARALD_THOROUGH`, long enough that 3 in 100 is more than three standard deviations of the report rate.
    private static let scale = ProcessInfo.processInfo.environment["HARALD_THOROUGH"] == nil ? 1 : 20
    // Between 85 % and 16 % of the PDUs survive.
    private static let crowds = [
        Controllers(count: 10, interval: 20, seconds: 2), Controllers(count: 50, interval: 20, seconds: 2),
        Controllers(count: 25, interval: 100, seconds: 4), Controllers(count: 300, interval: 100, seconds: 1),
        Controllers(count: 250, interval: 1_000, seconds: 4), Controllers(count: 2_000, interval: 1_000, seconds: 2),
    ]

    @Test(arguments: crowds)
    func controllersReportAsTheModelExpects(crowd: Controllers) {
        let world = LinkLayerWorld(seed: 1)
        let scanner = world.host()
        let random = RandomSource(seed: 1)
        for _ in 0..<crowd.count {
            // At the same distance, no PDU is strong enough to survive a collision.
            let advertiser = world.host(at: 1)
            let start = Int(random.below(UInt64(crowd.interval + 5) * 1_000))
            world.loop.schedule(after: .microseconds(start)) { advertiser.advertise(every: crowd.interval) }
        }
        world.run(.milliseconds(crowd.interval * 2))

        var (reports, events) = (0, [CrowdFrame]())
        scanner.onEvent = { if $0.code == LEAdvertisingReport.eventCode { reports += 1 } }
        world.sniff { sniffed in
            guard sniffed.frame.channel == 37 else { return }
            let (start, device) = (sniffed.start.microseconds, sniffed.sender.number)
            events.append(CrowdFrame(start: start, end: start + sniffed.frame.airTimeMicroseconds, device: device))
        }
        let begin = world.loop.now.microseconds
        scanner.scanInTurn()
        world.run(.seconds(crowd.seconds * Self.scale))

        // Chance affects both numbers alike. They differ since an advertiser receives frames that start when a response
        // would: its event and that of the sender are aligned then, and collide on the next channel.
        let simulated = Self.reports(of: events, crowd, since: begin)
        #expect(abs(Double(reports) / Double(simulated) - 1) < 0.03, "\(reports) of \(simulated)")
        let rate = Double(reports) / Double(crowd.seconds * Self.scale)
        let expected = ContentionModel([crowd.group]).reportRate(.continuous)
        let tolerance = Self.scale == 1 ? 0.1 : 0.03
        #expect(abs(rate / expected - 1) < tolerance, "\(rate) of \(expected) a second")
    }

    /// Returns the number of reports that the simulation of a crowd makes of events, given by their PDUs on channel 37.
    private static func reports(of events: [CrowdFrame], _ crowd: Controllers, since begin: Int64) -> Int {
        var observer = CrowdObserver(.continuous, phase: -begin, devices: crowd.count + 1)
        for channel in 0..<3 {
            var sweep = ChannelSweep()
            for event in events {
                let delay = Int64(channel) * crowd.group.timing.spacing
                sweep.add(CrowdFrame(start: event.start + delay, end: event.end + delay, device: event.device))
            }
            let survivors = sweep.settle(before: .max)
            for frame in survivors { observer.receive(frame, channel: channel) }
        }
        return observer.reports
    }
}

extension TestHost {
    fileprivate static let dataOctets = 24

    fileprivate func advertise(every milliseconds: Int) {
        send(LESetAdvertisingData(data: PacketBuffer([UInt8](repeating: 1, count: Self.dataOctets))))
        advertise(.connectableScannable, interval: UInt16(milliseconds * 8 / 5))
    }

    /// Scans without pauses, 30 ms on each channel.
    fileprivate func scanInTurn() {
        send(
            LESetScanParameters {
                $0.kind = .passive
                $0.scanInterval = 48
                $0.scanWindow = 48
                $0.ownAddressKind = .publicDevice
                $0.filterPolicy = .unfiltered
            }
        )
        send(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled))
    }
}
