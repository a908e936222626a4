import BluetoothService
import BluetoothTypes
import CoreBluetooth
import EventLoops
import Foundation
import HCI
import LinkLayer
import Logging
import ServiceMessages

/// Two whole systems, from Core Bluetooth to the air, with hooks to change what passes between their parts.
final class StackWorld {
    /// The places where packets pass.
    enum Place: Int, CaseIterable {
        case hostOfCentral, controllerOfCentral, hostOfPeripheral, controllerOfPeripheral
    }

    /// The limit of tasks in one session. A successful session has a few thousand.
    static let maximumTasks = 300_000

    let loop = VirtualEventLoop()
    let radio: Radio
    /// Called with each packet before it is forwarded; returns the packets to forward instead.
    var onPacket: ((HCIPacket, Place) -> [HCIPacket])?
    private var systems: [BluetoothSystem] = []
    // One at each end. If a system closes its transport, the next one leads to a controller without any state.
    private var controllers: [VirtualController?] = [nil, nil]
    private var nodes: [RadioNode] = []
    private let random = RandomSource(seed: 1)
    private var tasks = 0

    init() {
        radio = Radio(loop: loop, random: random.split(0))
        for number in 0..<2 {
            nodes.append(radio.add(at: Position(x: Double(number))))
            var configuration = SystemConfiguration()
            configuration.deviceName = number == 0 ? "Central" : "Peripheral"
            let system = BluetoothSystem(
                controllers: ControllerSource { [unowned self] in openLine(to: number) },
                loop: loop,
                random: random.split(UInt64(number) + 11),
                configuration: configuration,
                logger: Logger(label: "fuzzing") { _ in SwiftLogNoOpLogHandler() }
            )
            system.start()
            systems.append(system)
        }
    }

    /// The system of the central.
    var phone: BluetoothSystem { systems[0] }

    private func openLine(to number: Int) -> any HCITransport {
        let pair = InMemoryTransport.pair(loop: loop)
        let line = MutableLine(pair.host)
        line.change = { [unowned self] packet, isDown in
            let place = Place.allCases[number * 2 + (isDown ? 0 : 1)]
            return onPacket?(packet, place) ?? [packet]
        }
        controllers[number] = VirtualController(
            transport: pair.controller,
            node: nodes[number],
            loop: loop,
            random: random.split(UInt64(number) + 1),
            configuration: .init(publicAddress: BluetoothAddress(UInt64(number) + 1, kind: .publicDevice))
        )
        return line
    }

    /// Runs a session of the two apps, for at most `limit`.
    ///
    /// - Returns: Whether the central's app succeeded.
    func runSession(limit: Duration) -> Bool {
        let sensor = ServiceLocator.$current.withValue(systems[1].openApp(AppIdentity(name: "sensor"))) {
            PeripheralApp()
        }
        let app = ServiceLocator.$current.withValue(systems[0].openApp(AppIdentity(name: "app"))) { CentralApp() }
        tasks = 0
        let isThrough = run(for: limit) { app.isThrough }
        // Keeps the apps until the session has ended.
        withExtendedLifetime((sensor, app)) {}
        return isThrough
    }

    /// Turns Bluetooth off and on again at both devices.
    func switchOffAndOn() {
        for system in systems { system.controllers.setPower(false) }
        run(for: .seconds(20)) { false }
        for system in systems { system.controllers.setPower(true) }
        run(for: .seconds(1)) { false }
    }

    /// Ends everything, so that nothing on the loop retains objects of the world.
    func end() {
        for system in systems { system.stop() }
        tasks = 0
        run(for: .seconds(60)) { false }
    }

    @discardableResult
    func run(for duration: Duration, until condition: () -> Bool) -> Bool {
        loop.run(until: loop.now + duration) {
            tasks += 1
            hold(tasks <= Self.maximumTasks, "\(tasks) tasks in one session")
            return condition()
        }
    }
}

/// A host's end of a transport whose packets may be changed.
private final class MutableLine: HCITransport {
    var onReceive: ((HCIPacket) -> Void)?
    var onClose: ((HCITransportError) -> Void)?
    var change: ((HCIPacket, Bool) -> [HCIPacket])?
    private let line: any HCITransport

    init(_ line: any HCITransport) {
        self.line = line
        line.onReceive = { [unowned self] packet in
            for packet in change?(packet, false) ?? [packet] { onReceive?(packet) }
        }
        line.onClose = { [unowned self] in onClose?($0) }
    }

    func send(_ packet: HCIPacket) {
        for packet in change?(packet, true) ?? [packet] { line.send(packet) }
    }

    func close() { line.close() }
}
