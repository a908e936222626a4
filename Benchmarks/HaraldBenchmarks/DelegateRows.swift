import BluetoothTypes
import CoreBluetooth
import EventLoops
import Foundation
import HCI
import HCITransports
import Synchronization

/// The rows of apps: from delegate to delegate, from stream to stream, and their memory.
extension HaraldBenchmarks {
    private static let value = Data(repeating: 0x55, count: 20)

    /// Two systems without air, on one core with `taskset -c 0`.
    static func delegates() {
        let pair = DelegatePair(on: NIOEventLoop())
        let count = Measurement.count(50_000)
        let notified = {
            let before = pair.follower.notified.value
            pair.notifier.notify(value, times: count)
            pair.follower.notified.wait(for: before + count)
        }
        row("notifications of 20 octets, delegate to delegate", count, Measurement(notified), both)
        let written = {
            let before = pair.notifier.written.value
            pair.follower.write(value, times: count)
            pair.notifier.written.wait(for: before + count)
        }
        row("writes without response of 20 octets, delegate to delegate", count, Measurement(written), both)
        callbacks(pair)
    }

    /// From HCI to the delegate, one callback for each packet; and the same path up to the app's queue, without the
    /// API.
    private static func callbacks(_ pair: DelegatePair) {
        let count = Measurement.count(50_000)
        let whole = callbacks("callbacks, HCI to delegate", pair)
        pair.line.isTapped.store(true, ordering: .relaxed)
        let below = Measurement { receive(count, on: pair, until: pair.line.notified) }
        row("the same up to the app's queue, HCI to event", count, below, both)
        row(
            "what the API adds to it",
            String(
                format: "%.0f ns, %.0f %%, %.1f allocations",
                (whole.seconds - below.seconds) * 1e9 / Double(count),
                100 * (whole.seconds / below.seconds - 1),
                (Double(whole.allocations) - Double(below.allocations)) / Double(count)
            )
        )
    }

    @discardableResult
    static func callbacks(_ what: String, _ pair: DelegatePair) -> Measurement {
        let count = Measurement.count(50_000)
        let measurement = Measurement { receive(count, on: pair, until: pair.follower.notified) }
        row(what, count, measurement, both)
        return measurement
    }

    private static func receive(_ count: Int, on pair: DelegatePair, until tally: Tally) {
        let portion = 100
        for _ in 0..<count / portion {
            let before = tally.value
            pair.parts.with { parts in
                guard let packet = parts.lines[0].lastNotification else { preconditionFailure("one has come") }
                for _ in 0..<portion { parts.lines[0].receive(packet) }
            }
            tally.wait(for: before + portion)
        }
    }

    /// A channel on the simulated radio: its throughput in simulated time, and the speed of the simulation.
    static func streams() {
        let pair = StreamPair()
        let count = Measurement.count(1 << 20)
        var seconds = 0.0
        let measurement = Measurement(repetitions: 3) { seconds = pair.transfer(count) }
        row("a megabyte from stream to stream at 1 Mbit/s", count, measurement) {
            let rate = Double($0) / seconds
            return String(
                format: "%.1f kB/s, %.0f %% of the air's limit, %.1f s/s",
                rate / 1e3,
                100 * rate / StreamPair.airLimit,
                seconds / $1.seconds
            )
        }
    }

    /// The lasting memory of a manager, and of a peripheral that an app keeps, in all layers.
    static func memory() {
        let pair = DelegatePair(on: VirtualEventLoop())
        let managers = 64
        var kept: [AnyObject] = []
        let before = Day.heap
        for _ in 0..<managers { kept.append(pair.app(on: \.phone) { CBCentralManager(delegate: nil, queue: .main) }) }
        pair.pass(.seconds(1))
        row("memory of an app with one manager", "\((Day.heap - before) / managers) octets")
        let keeper = pair.app(on: \.phone) { KeepingApp() }
        pair.pass(.seconds(1))
        let peripherals = 1_000
        let empty = Day.heap
        pair.parts.with { parts in
            for number in 0..<peripherals { parts.lines[0].receive(report(of: number)) }
        }
        pair.pass(.seconds(1))
        precondition(keeper.found.count >= peripherals, "all are found, and not only \(keeper.found.count)")
        row("memory of a peripheral that was found", "\((Day.heap - empty) / peripherals) octets")
        withExtendedLifetime(kept) {}
    }

    private static func report(of number: Int) -> HCIPacket {
        var report = ExtendedAdvertisingReport()
        report.kind = [.connectable, .scannable, .legacy]
        report.address = BluetoothAddress(0xC0FF_EE10_0000 + UInt64(number), kind: .randomDevice)
        report.primaryPHY = .le1M
        report.sid = 0xFF
        report.txPower = 127
        report.rssi = -60
        report.directAddress = .none
        report.data = [2, 1, 6, 3, 3, 0x0D, 0x18]
        return HCIPacket(LEExtendedAdvertisingReport(reports: [report]))
    }

    /// A simulated day, hour by hour.
    static func day() {
        let day = Day()
        day.run(seconds: 60)
        let (first, heap) = (day.received, Day.heap)
        for hour in 1...24 {
            let measurement = Measurement(repetitions: 1) { day.run(seconds: 3_600) }
            precondition(day.received - first == hour * 360_000, "none is lost")
            row(
                "hour \(hour) of 100 notifications a second",
                String(format: "%.1f s, %d octets more than at first", measurement.seconds, Day.heap - heap)
            )
        }
    }
}
