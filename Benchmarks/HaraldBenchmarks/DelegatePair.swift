import AppAdvice
import BluetoothService
import BluetoothTypes
import CoreBluetooth
import EventLoops
import Foundation
import HCI
import LinkLayer
import Logging
import ServiceMessages
import Synchronization

/// Two systems with an app each, from delegate to delegate. They connect over the virtual radio. Then their transports
/// are shortened, so that only the two systems and the API on both sides are measured.
///
/// In real time the loop does not wait for callbacks, as with apps on controllers; in virtual time it waits for each.
final class DelegatePair {
    /// The objects that live on the loop.
    final class Parts {
        let phone: BluetoothSystem
        let sensor: BluetoothSystem
        /// The transports of the phone and of the sensor.
        let lines: [ShortLine]
        private let radio: Radio
        private let controllers: [VirtualController]
        private let ends: [InMemoryTransport]

        init(on loop: any EventLoop) {
            let random = RandomSource(seed: 1)
            let radio = Radio(loop: loop, random: random.split(0))
            let ends = (0..<2).map { _ in InMemoryTransport.pair(loop: loop) }
            controllers = ends.enumerated().map { number, end in
                VirtualController(
                    transport: end.controller,
                    node: radio.add(),
                    loop: loop,
                    random: random.split(UInt64(number + 1)),
                    configuration: .init(
                        publicAddress: BluetoothAddress(0xC0FF_EE00_0000 + UInt64(number), kind: .publicDevice)
                    )
                )
            }
            let lines = ends.map { ShortLine($0.host, loop: loop) }
            let systems = lines.enumerated().map { number, line in
                BluetoothSystem(
                    controllers: ControllerSource(line),
                    loop: loop,
                    random: random.split(UInt64(number + 101)),
                    logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
                )
            }
            for system in systems { system.start() }
            (self.radio, self.ends, self.lines) = (radio, ends.flatMap { [$0.host, $0.controller] }, lines)
            (phone, sensor) = (systems[0], systems[1])
        }
    }

    let parts: LoopBound<Parts>
    private(set) var notifier: NotifyingApp!
    private(set) var follower: FollowingApp!
    private let loop: any EventLoop
    private var connections: [any ServiceConnection] = []
    /// The number of notifications received since the pair was created.
    private(set) var received = 0
    /// The connection of the subscribed app to its service.
    private(set) var line: TappedConnection!

    /// - Parameter follows: Whether the subscribed app is in this process.
    init(on loop: any EventLoop, follows: Bool = true) {
        self.loop = loop
        parts = loop.make { Parts(on: loop) }
        pass(.seconds(1))
        notifier = app(on: \.sensor) { NotifyingApp() }
        guard follows else { return }
        line = TappedConnection(open(on: \.phone))
        follower = app(through: line) { FollowingApp() }
        for _ in 0..<60 where !follower.isReady.load(ordering: .acquiring) { pass(.milliseconds(500)) }
        precondition(follower.isReady.load(ordering: .acquiring), "the two find each other")
        shorten()
    }

    /// Removes controllers and air once an app is subscribed. Sends one notification first, to repeat later.
    func shorten() {
        parts.with { ($0.lines[0].other, $0.lines[1].other) = ($0.lines[1], $0.lines[0]) }
        notifier.notify(Data(repeating: 0x55, count: 20), times: 1)
        while parts.with({ $0.lines[0].lastNotification == nil }) { pass(.milliseconds(10)) }
        received = 1
    }

    /// Lets an advisor follow the phone's apps.
    func advise() {
        parts.with { parts in
            let stream = AdviceStream()
            parts.phone.observers.add(stream.kinds, counting: { stream.count($0) }) { stream.accept($0) }
        }
    }

    /// Lets time pass: virtual time, or by sleeping.
    func pass(_ duration: Duration) {
        if let loop = loop as? VirtualEventLoop { return loop.run(for: duration) }
        Thread.sleep(
            forTimeInterval: Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        )
    }

    /// Creates an app on a system.
    func app<App>(on system: any KeyPath<Parts, BluetoothSystem> & Sendable, _ make: () -> App) -> App {
        app(through: open(on: system), make)
    }

    private func app<App>(through connection: any ServiceConnection, _ make: () -> App) -> App {
        connections.append(connection)
        return ServiceLocator.$current.withValue(connection, operation: make)
    }

    private func open(on system: any KeyPath<Parts, BluetoothSystem> & Sendable) -> any ServiceConnection {
        parts.with { $0[keyPath: system].openApp(AppIdentity(name: "app")) }
    }
}
