import AppAdvice
import BluetoothService
import BluetoothTypes
import CoreBluetooth
import Dispatch
import EventLoops
import Foundation
import HCI
import LinkLayer
import Logging
import ServiceMessages
import Synchronization

/// Two Bluetooth systems on the virtual radio: a central that has subscribed to a value of a peripheral. Packets are
/// then injected into the central's system as if its controller had sent them, with everything else idle.
final class ServicePair {
    /// The events of one manager.
    private final class Inbox: Sendable {
        let events = Mutex<[Event]>([])
        let values = Atomic<Int>(0)

        func take(_ event: Event) {
            if case .central(.peer(_, .valueNotified)) = event { _ = values.add(1, ordering: .relaxed) }
            events.withLock { $0.append(event) }
        }
    }

    /// One manager of an app.
    private final class Manager: Sendable {
        private let connection: any ServiceConnection
        private let id: ManagerID
        let inbox = Inbox()

        init(_ system: BluetoothSystem, _ role: ManagerRole) {
            connection = system.openApp(AppIdentity(name: "\(role)"))
            id = connection.openManager(
                role,
                options: ManagerOptions(),
                queue: AppQueue(DispatchQueue(label: "\(role)")),
                handler: { [inbox] in inbox.take($0) }
            )
        }

        func send(_ request: Request) { connection.send(request, from: id) }
    }

    private let loop = VirtualEventLoop()
    private let radio: Radio
    private let random = RandomSource(seed: 1)
    private var kept: [AnyObject] = []
    private var tap: ShortLine?
    private var central: BluetoothSystem?

    init() {
        radio = Radio(loop: loop, random: random.split(0))
        let sensor = Manager(system(1), .peripheral)
        // The tap is on the transport of the second system.
        let phone = Manager(system(2), .central)
        loop.run(for: .seconds(1))
        publish(sensor)
        subscribe(phone)
        manager = phone
        sensor.send(.peripheral(.updateValue(LocalAttributeID(2), value: [1, 2, 3], centrals: nil)))
        loop.run(for: .seconds(1))
        kept.append(sensor)
    }

    private var manager: Manager?

    /// The number of values that the app received.
    var received: Int { manager?.inbox.values.load(ordering: .relaxed) ?? 0 }

    /// Injects the last notification into the central's system again; the deliveries to the app are queued.
    func receive() {
        guard let tap, let packet = tap.last else { return }
        tap.receive(packet)
    }

    /// Lets the app receive the queued deliveries.
    func deliver() { loop.run(for: .zero) }

    /// Lets an advisor follow the apps of the central's system.
    func advise() {
        let stream = AdviceStream()
        central?.observers.add(stream.kinds, counting: { stream.count($0) }) { stream.accept($0) }
    }

    private func system(_ number: UInt64) -> BluetoothSystem {
        let ends = InMemoryTransport.pair(loop: loop)
        let controller = VirtualController(
            transport: ends.controller,
            node: radio.add(),
            loop: loop,
            random: random.split(number),
            configuration: .init(publicAddress: BluetoothAddress(0xC0FF_EE00_0000 + number, kind: .publicDevice))
        )
        let tap = ShortLine(ends.host, loop: loop)
        self.tap = tap
        let system = BluetoothSystem(
            controllers: ControllerSource(tap),
            loop: loop,
            random: random.split(number + 100),
            logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
        )
        system.start()
        central = system
        kept += [controller, system, ends.host]
        return system
    }

    private func publish(_ sensor: Manager) {
        let value = LocalCharacteristic(id: LocalAttributeID(2), uuid: 0x2A37, properties: 0x10, permissions: 0)
        let service = LocalService(id: LocalAttributeID(1), uuid: 0x180D, isPrimary: true, characteristics: [value])
        sensor.send(.peripheral(.addService(service)))
        sensor.send(.peripheral(.startAdvertising(AdvertisingRequest(localName: "Sensor", services: [0x180D]))))
        loop.run(for: .seconds(1))
    }

    private func subscribe(_ phone: Manager) {
        phone.send(.central(.startScan(ScanRequest(services: [0x180D]))))
        let peer = wait(phone) { event -> UUID? in
            guard case .central(.discovered(let peer, _, _)) = event else { return nil }
            return peer.identifier
        }
        phone.send(.central(.stopScan))
        phone.send(.central(.peer(peer, .connect(ConnectOptions()))))
        _ = wait(phone) { event -> Bool? in
            guard case .central(.peer(_, .connected)) = event else { return nil }
            return true
        }
        phone.send(.central(.peer(peer, .link(.discoverServices([0x180D])))))
        let service = wait(phone) { event -> AttributeHandle? in
            guard case .central(.peer(_, .servicesDiscovered(.success(let found)))) = event else { return nil }
            return found.first?.handle
        }
        phone.send(.central(.peer(peer, .link(.discoverCharacteristics(of: service, nil)))))
        let characteristic = wait(phone) { event -> AttributeHandle? in
            guard case .central(.peer(_, .characteristicsDiscovered(_, .success(let found)))) = event else {
                return nil
            }
            return found.first?.handle
        }
        phone.send(.central(.peer(peer, .link(.setNotify(characteristic, isEnabled: true)))))
        _ = wait(phone) { event -> Bool? in
            guard case .central(.peer(_, .notifyStateChanged)) = event else { return nil }
            return true
        }
    }

    private func wait<Value>(_ manager: Manager, _ find: (Event) -> Value?) -> Value {
        loop.run(for: .seconds(10))
        let events = manager.inbox.events.withLock { $0 }
        for event in events {
            if let found = find(event) { return found }
        }
        preconditionFailure("the session goes through")
    }
}
