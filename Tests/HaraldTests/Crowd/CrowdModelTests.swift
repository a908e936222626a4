import BluetoothTypes
import EventLoops
import Foundation
import HCI
import LinkLayer
import Testing

@testable import harald

/// The contention model beside virtual controllers on the radio: connectable advertising on all channels, and a scan
/// that uses the channels in turn.
@Suite struct CrowdModelTests {
    struct Controllers: CustomTestStringConvertible {
        var count: Int
        /// The advertising interval, in milliseconds.
        var interval: Int
        var seconds: Int

        var group: AdvertiserGroup {
            AdvertiserGroup(count: count, interval: .milliseconds(interval), dataOctets: CrowdHost.dataOctets)
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
        let air = CrowdAir()
        let scanner = air.host(at: 0)
        let random = RandomSource(seed: 1)
        for _ in 0..<crowd.count {
            // At the same distance, no PDU is strong enough to survive a collision.
            let advertiser = air.host(at: 1)
            let start = Int(random.below(UInt64(crowd.interval + 5) * 1_000))
            air.loop.schedule(after: .microseconds(start)) { advertiser.advertise(every: crowd.interval) }
        }
        air.loop.run(for: .milliseconds(crowd.interval * 2))

        var (reports, events) = (0, [CrowdFrame]())
        scanner.onReport = { reports += 1 }
        air.radio.onTransmission = { sniffed in
            guard sniffed.frame.channel == 37 else { return }
            let (start, device) = (sniffed.start.microseconds, sniffed.sender.number)
            events.append(CrowdFrame(start: start, end: start + sniffed.frame.airTimeMicroseconds, device: device))
        }
        let begin = air.loop.now.microseconds
        scanner.scanInTurn()
        air.loop.run(for: .seconds(crowd.seconds * Self.scale))

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

/// A radio channel and the hosts on it.
private final class CrowdAir {
    let loop = VirtualEventLoop()
    let radio: Radio
    private let random = RandomSource(seed: 1)
    private var hosts: [CrowdHost] = []

    init() {
        radio = Radio(loop: loop, random: random.split(0))
    }

    /// Adds a host at a distance in metres.
    func host(at distance: Double) -> CrowdHost {
        let number = UInt64(hosts.count) + 1
        let line = InMemoryTransport.pair(loop: loop)
        let controller = VirtualController(
            transport: line.controller,
            node: radio.add(at: Position(x: distance)),
            loop: loop,
            random: random.split(number),
            configuration: VirtualControllerConfiguration(
                publicAddress: BluetoothAddress(0xC0FF_EE00_0000 + number, kind: .publicDevice)
            )
        )
        let host = CrowdHost(line.host, controller)
        hosts.append(host)
        return host
    }
}

/// A host that sends raw commands and counts advertising reports.
private final class CrowdHost {
    static let dataOctets = 24

    var onReport: (() -> Void)?
    private let line: InMemoryTransport
    private let controller: VirtualController

    init(_ line: InMemoryTransport, _ controller: VirtualController) {
        self.line = line
        self.controller = controller
        line.onReceive = { [unowned self] packet in
            guard packet.kind == .event, let event = try? EventPacket(reading: packet.bytes) else { return }
            if event.code == LEAdvertisingReport.eventCode, event.subevent == LEAdvertisingReport.subevent {
                onReport?()
            }
        }
    }

    func advertise(every milliseconds: Int) {
        send(LESetAdvertisingData(data: PacketBuffer([UInt8](repeating: 1, count: Self.dataOctets))))
        send(
            LESetAdvertisingParameters {
                $0.intervalMin = UInt16(milliseconds * 8 / 5)
                $0.intervalMax = UInt16(milliseconds * 8 / 5)
                $0.kind = .connectableScannable
                $0.ownAddressKind = .publicDevice
                $0.peerAddress = .none
                $0.channels = .all
                $0.filterPolicy = .unfiltered
            }
        )
        send(LESetAdvertisingEnable(isEnabled: true))
    }

    /// Scans without pauses, 30 ms on each channel.
    func scanInTurn() {
        send(SetEventMask(mask: EventMask(rawValue: .max)))
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

    private func send(_ command: some HCICommand) { line.send(HCIPacket(command)) }
}
