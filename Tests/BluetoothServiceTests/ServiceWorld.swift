import BluetoothTypes
import EventLoops
import Foundation
import Logging
import SampleMessages
import Security
import ServiceMessages
import Synchronization
import TestBasics
import Testing

@testable import BluetoothService

/// Devices that share the air, in virtual time.
final class ServiceWorld {
    let loop = VirtualEventLoop()
    let air: TestAir
    private let random: RandomSource
    private var deviceCount: UInt64 = 0

    init(seed: UInt64 = 1) {
        air = TestAir(loop: loop)
        random = RandomSource(seed: seed)
    }

    /// Adds a device. Its system is powered on unless `isUp` is false.
    func device(
        _ name: String,
        isUp: Bool = true,
        isStarted: Bool = true,
        logger: Logger? = nil,
        bonds: (any BondStorage)? = nil,
        configure: (inout SystemConfiguration) -> Void = { _ in }
    ) -> TestDevice {
        var configuration = SystemConfiguration()
        configuration.deviceName = name
        // The controllers of this air identify each other by fixed addresses.
        configuration.address = .staticRandom
        configure(&configuration)
        let (controller, transport) = air.addController()
        let system = BluetoothSystem(
            controllers: ControllerSource(transport),
            loop: loop,
            random: random.split(deviceCount),
            configuration: configuration,
            bonds: bonds,
            logger: logger ?? Logger(label: name) { _ in SwiftLogNoOpLogHandler() }
        )
        let device = TestDevice(system: system, controller: controller, world: self)
        deviceCount += 1
        guard isStarted else { return device }
        system.start()
        if isUp { run(.milliseconds(1)) }
        return device
    }

    /// A manager of a new app on any system of this loop.
    func manager(_ role: ManagerRole, on system: BluetoothSystem) -> TestManager {
        TestManager(role, connection: system.openApp(AppIdentity(name: "test")), world: self)
    }

    /// A manager of an existing app.
    func manager(
        _ role: ManagerRole,
        of app: InProcessConnection,
        restoring: String?,
        isReopened: Bool
    ) -> TestManager {
        TestManager(role, connection: app, world: self, restoring: restoring, isReopened: isReopened)
    }

    func run(_ duration: Duration) {
        loop.run(for: duration)
    }

    /// Runs until `condition` holds, for a minute at most.
    @discardableResult
    func run(until condition: () -> Bool) -> Bool {
        loop.run(until: loop.now + .seconds(60), stopWhen: condition)
    }
}

final class TestDevice {
    let system: BluetoothSystem
    let controller: TestController
    private let world: ServiceWorld

    init(system: BluetoothSystem, controller: TestController, world: ServiceWorld) {
        self.system = system
        self.controller = controller
        self.world = world
    }

    /// A manager of a new app, or of `app`.
    func manager(
        _ role: ManagerRole,
        of app: InProcessConnection? = nil,
        restoring: String? = nil,
        isReopened: Bool = false
    ) -> TestManager {
        TestManager(
            role,
            connection: app ?? system.openApp(AppIdentity(name: "test")),
            world: world,
            restoring: restoring,
            isReopened: isReopened
        )
    }
}

/// A manager that records its events.
final class TestManager {
    private final class Record: Sendable {
        let events = Mutex<[Event]>([])
    }

    let connection: InProcessConnection
    let id: ManagerID
    private let record = Record()
    private let world: ServiceWorld

    fileprivate init(
        _ role: ManagerRole,
        connection: InProcessConnection,
        world: ServiceWorld,
        restoring identifier: String? = nil,
        isReopened: Bool = false
    ) {
        var options = ManagerOptions(showsPowerAlert: true, restoreIdentifier: identifier)
        options.isReopened = isReopened
        self.connection = connection
        self.world = world
        id = connection.openManager(
            role,
            options: options,
            queue: SerialQueue("manager")
        ) { [record] event in
            record.events.withLock { $0.append(event) }
        }
        world.run(.zero)
    }

    /// The events received and not removed yet.
    var events: [Event] { record.events.withLock { $0 } }

    /// Removes and returns the events received so far.
    @discardableResult
    func take() -> [Event] {
        record.events.withLock { events in
            defer { events = [] }
            return events
        }
    }

    func send(_ request: Request) {
        connection.send(request, from: id)
    }

    func ask(_ query: Query) -> [PeerInfo] {
        switch connection.ask(query, from: id) {
        case .success(.peripherals(let peers)), .success(.connectedPeripherals(let peers)): peers
        case .success, .failure: []
        }
    }

    func close() {
        connection.closeManager(id)
        world.run(.zero)
    }

    /// Runs the world until an event matches `pick`, and removes it and all earlier events.
    func expect<T>(_ what: String, _ pick: (Event) -> T?) throws -> T {
        var found: T?
        world.run(until: {
            record.events.withLock { events in
                guard let index = events.firstIndex(where: { pick($0) != nil }) else { return false }
                found = pick(events[index])
                events.removeFirst(index + 1)
                return true
            }
        })
        return try #require(found, "\(what) did not come")
    }

    /// Sends a request and waits for an event.
    func ask<T>(_ request: Request, _ what: String, _ pick: (Event) -> T?) throws -> T {
        send(request)
        return try expect(what, pick)
    }
}

// MARK: - Shared examples

enum Example {
    static let service: BluetoothUUID = 0x180D
    static let measurement: BluetoothUUID = 0x2A37
    static let location: BluetoothUUID = 0x2A38
    static let controlPoint: BluetoothUUID = 0x2A39
    static let note: BluetoothUUID = 0x2A3D

    static let serviceID = LocalAttributeID(1)
    static let measurementID = LocalAttributeID(2)
    static let locationID = LocalAttributeID(3)
    static let controlPointID = LocalAttributeID(4)
    static let noteID = LocalAttributeID(5)

    /// A service without characteristics.
    static let emptyBattery = LocalService(id: LocalAttributeID(1), uuid: 0x180F, isPrimary: true)
    /// A service with a fixed value.
    static let battery = LocalService(
        id: LocalAttributeID(9),
        uuid: 0x180F,
        isPrimary: true,
        characteristics: [
            LocalCharacteristic(id: LocalAttributeID(10), uuid: 0x2A19, properties: 2, permissions: 1, value: [77])
        ]
    )

    /// One characteristic of each kind: notified, fixed, readable and writable, dynamic.
    static let heartRate = LocalService(
        id: serviceID,
        uuid: service,
        isPrimary: true,
        characteristics: [
            LocalCharacteristic(id: measurementID, uuid: measurement, properties: 0x10, permissions: 1),
            LocalCharacteristic(
                id: locationID,
                uuid: location,
                properties: 0x02,
                permissions: 1,
                value: [1],
                descriptors: [LocalDescriptor(uuid: 0x2901, value: PacketBuffer(Array("Where".utf8)))]
            ),
            LocalCharacteristic(id: controlPointID, uuid: controlPoint, properties: 0x0C, permissions: 2),
            LocalCharacteristic(id: noteID, uuid: note, properties: 0x2A, permissions: 3),
        ]
    )
}

extension TestManager {
    /// As a peripheral: publishes and advertises the example.
    func publish(_ service: LocalService = Example.heartRate, name: String? = "Strap") throws {
        let error = try ask(.addService(service), "serviceAdded") { event in
            if case .peripheral(.serviceAdded(service.id, let error)) = event { return Optional.some(error) }
            return nil
        }
        #expect(error == nil)
        let request = AdvertisingRequest(localName: name, services: [service.uuid])
        let failure = try ask(.startAdvertising(request), "advertisingStarted") { event in
            if case .peripheral(.advertisingStarted(let error, _)) = event { return Optional.some(error) }
            return nil
        }
        #expect(failure == nil)
    }

    /// As a central: finds a device that advertises a service.
    func find(_ service: BluetoothUUID = Example.service) throws -> PeerInfo {
        let peer = try ask(.startScan(ScanRequest(services: [service])), "discovered") { event in
            if case .central(.discovered(let peer, _, _)) = event { return peer }
            return nil
        }
        send(.stopScan)
        return peer
    }

    /// As a central: connects.
    func connect(_ peer: UUID) throws {
        try ask(.connect(peer: peer, options: ConnectOptions()), "connected") { event in
            if case .central(.peer(peer, .connected)) = event { return () }
            return nil
        }
    }

    /// As a central: discovers all characteristics of a service.
    func explore(_ peer: UUID, _ service: BluetoothUUID = Example.service) throws -> [BluetoothUUID: AttributeHandle] {
        let services = try ask(.discoverServices(peer: peer, uuids: [service]), "servicesDiscovered") { event in
            if case .central(.peer(peer, .servicesDiscovered(.success(let services)))) = event { return services }
            return nil
        }
        let handle = try #require(services.first?.handle)
        let request = Request.discoverCharacteristics(peer: peer, service: handle, uuids: nil)
        let found = try ask(request, "characteristicsDiscovered") { event in
            if case .central(.peer(peer, .characteristicsDiscovered(handle, .success(let found)))) = event {
                return found
            }
            return nil
        }
        return Dictionary(uniqueKeysWithValues: found.map { ($0.uuid, $0.handle) })
    }
}
