import BluetoothService
import BluetoothTypes
import EventLoops
import Foundation
import GATT
import HCI
import LinkLayer
import Logging
import ServiceMessages
import Synchronization

/// Rows for n, 2n and 4n of the same thing. If nothing grows with the square of n, they have the same time for one.
extension HaraldBenchmarks {
    static func scale() throws {
        // The largest are the limits: for services of a peer, and for links of a virtual controller.
        for services in [60, 120, 240] { try discovery(of: services) }
        for links in [5, 10, 20] { idleLinks(links) }
    }

    static func reports() {
        guard !Measurement.isCounted else { return reports(addresses: 100, apps: 1) }
        for addresses in [25_000, 50_000, 100_000] { reports(addresses: addresses, apps: 1) }
        // The largest is the limit for apps that scan.
        for apps in [16, 32, 64] { reports(addresses: 1_000, apps: apps) }
    }

    /// Ten advertising reports from each address, until all apps have their events, with the first report of an address
    /// among them.
    private static func reports(addresses: Int, apps: Int) {
        let host = ScanningHost(apps: apps)
        let repetitions = Measurement.isCounted ? Measurement.repetitions : 1
        let measurement = Measurement(repetitions: repetitions) {
            for _ in 0..<10 { host.receive(from: addresses) }
        }
        let what =
            "advertising reports of \(addresses) addresses, ten each, to \(apps) \(apps == 1 ? "app" : "apps"): one event"
        row(what, 10 * addresses * apps, measurement, nanoseconds)
        precondition(host.discovered == 10 * addresses * apps * repetitions, "each app receives each report")
    }

    /// All services of a peer with a characteristic each.
    private static func discovery(of count: Int) throws {
        let pair = try StackPair(services: count)
        var found = 0
        func discover(_ services: ArraySlice<DiscoveredService>) {
            guard let first = services.first else { return }
            pair.client.discoverCharacteristics(of: first) { result in
                found += (try? result.get().count) ?? 0
                discover(services.dropFirst())
            }
        }
        let measurement = Measurement(repetitions: 1) {
            pair.client.discoverServices { if case .success(let services) = $0 { discover(services[...]) } }
            pair.loop.run(for: .seconds(60))
        }
        precondition(found > count, "all are found")
        row(
            "discovery of \(count) services with a characteristic each, through two hosts: one service",
            count,
            measurement
        ) {
            String(format: "%.1f µs", $1.seconds * 1e6 / Double($0))
        }
    }

    private static func idleLinks(_ count: Int) {
        let star = IdlePair(sensors: count)
        let measurement = Measurement(repetitions: 1) { star.run(seconds: 10) }
        row("ten simulated seconds of a device with \(count) idle links: one link", count, measurement) {
            String(format: "%.1f ms", $1.seconds * 1e3 / Double($0))
        }
    }
}

/// A queue of apps that run on the loop, so that a row has no waits between threads.
private struct LoopQueue: CallbackQueue {
    var isCurrent: Bool { true }

    func async(_ callback: @escaping @Sendable () -> Void) { callback() }
}

/// A system with apps that scan, and a controller whose reports are injected.
private final class ScanningHost {
    private final class Found: Sendable {
        let count = Atomic(0)
    }

    private let loop = VirtualEventLoop()
    private let line: ShortLine
    private let system: BluetoothSystem
    private let found = Found()
    private var kept: [AnyObject] = []

    init(apps: Int) {
        let ends = InMemoryTransport.pair(loop: loop)
        let random = RandomSource(seed: 1)
        line = ShortLine(ends.host, loop: loop)
        let controller = VirtualController(
            transport: ends.controller,
            node: Radio(loop: loop, random: random.split(0)).add(),
            loop: loop,
            random: random.split(1),
            configuration: .init(publicAddress: BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice))
        )
        system = BluetoothSystem(
            controllers: ControllerSource(line),
            loop: loop,
            random: random.split(2),
            logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
        )
        kept = [controller, ends.host]
        system.start()
        loop.run(for: .seconds(1))
        for number in 0..<apps {
            let connection = system.openApp(AppIdentity(name: "app \(number)"))
            let id = connection.openManager(.central, options: ManagerOptions(), queue: LoopQueue()) { [found] event in
                if case .central(.discovered) = event { found.count.add(1, ordering: .relaxed) }
            }
            connection.send(.central(.startScan(ScanRequest(services: nil, allowsDuplicates: true))), from: id)
            kept.append(connection)
        }
        loop.run(for: .seconds(1))
    }

    var discovered: Int { found.count.load(ordering: .relaxed) }

    /// Injects a report from each of `count` addresses.
    func receive(from count: Int) {
        var report = ExtendedAdvertisingReport()
        report.kind = [.connectable, .scannable, .legacy]
        report.data = PacketBuffer([2, 1, 6, 3, 3, 0x0D, 0x18])
        report.rssi = -60
        for number in 0..<count {
            report.address = BluetoothAddress(0xC000_0000_0000 + UInt64(number), kind: .randomDevice)
            line.receive(HCIPacket(LEExtendedAdvertisingReport(reports: [report])))
            if number % 100 == 99 { loop.run(for: .zero) }
        }
        loop.run(for: .zero)
    }
}
