import CoreBluetooth
import EventLoops
import Foundation
import LinkLayer
import ServiceMessages
import Synchronization
import Testing

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import CoreBluetoothExtras

/// A phone whose apps use async/await, and a station near it, in virtual time.
final class AsyncWorld: Sendable {
    let world: SimulatedWorld
    let phone: SimulatedDevice
    let device: SimulatedDevice
    let station: Station
    private let app = Mutex<SimulatedApp?>(nil)

    init(seed: UInt64 = 1, lossRate: Double = 0, advertises: Bool = true) {
        var air = Radio.Configuration()
        air.lossRate = lossRate
        world = SimulatedWorld(seed: seed, radio: air)
        phone = world.addDevice(named: "Phone") { $0.sharesNotifications = true }
        device = world.addDevice(named: "Station", at: Position(x: 1))
        station = device.launch("station") { Station($0, advertises: advertises) }
    }

    /// Runs an app with a central manager to completion, in the world's time.
    @discardableResult
    func run<Success: Sendable>(
        for limit: Duration = .seconds(120),
        delegate: (any CBCentralManagerDelegate & Sendable)? = nil,
        _ body: @escaping @Sendable (CBCentralManager) async throws -> Success
    ) throws -> Success {
        let outcome = Mutex<Result<Success, any Error>?>(nil)
        phone.launch("app") { app in
            self.app.withLock { $0 = app }
            _ = app.task {
                do {
                    let queue = DispatchQueue(label: "app")
                    let success = try await body(CBCentralManager(delegate: delegate, queue: queue))
                    outcome.withLock { $0 = .success(success) }
                } catch {
                    outcome.withLock { $0 = .failure(error) }
                }
            }
        }
        world.run(for: limit) { outcome.withLock { $0 != nil } }
        return try #require(outcome.withLock { $0 }, "it has not come to an end").get()
    }

    /// Starts another task of the running app. Unlike a plain `Task`, it runs in the world's time.
    func task<Success: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        guard let app = app.withLock({ $0 }) else { preconditionFailure("no app runs") }
        return app.task(operation)
    }

    /// Moves the station out of range, or back.
    func leave() { device.move(to: Position(x: 1_000_000)) }
    func comeBack() { device.move(to: Position(x: 1)) }

    /// Suspends the current task for a virtual duration.
    func sleep(_ duration: Duration) async throws {
        try await Task.sleep(for: duration, clock: world.clock)
    }

    /// Runs an app like ``run(for:delegate:_:)``, with a connected peripheral and its characteristic.
    @discardableResult
    func connected<Success: Sendable>(
        for limit: Duration = .seconds(120),
        _ body: @escaping @Sendable (CBCentralManager, CBPeripheral, CBCharacteristic) async throws -> Success
    ) throws -> Success {
        try run(for: limit) { central in
            let peripheral = try await Self.find(central)
            try await central.openConnection(to: peripheral)
            return try await body(central, peripheral, Self.explore(peripheral))
        }
    }

    static func find(_ central: CBCentralManager) async throws -> CBPeripheral {
        try await central.poweredOn()
        for try await found in central.scan(services: [Station.service]) { return found.peripheral }
        throw ExtrasError.overflow
    }

    static func explore(_ peripheral: CBPeripheral, _ uuid: CBUUID = Station.value) async throws -> CBCharacteristic {
        let services = try await peripheral.discover(services: [Station.service])
        let service = try #require(services.first)
        let found = try await peripheral.discover(characteristics: [uuid], for: service)
        return try #require(found.first)
    }
}

extension SimulatedDevice {
    /// The device's own information on its only link.
    var link: LinkInformation? { withSystem { $0.links.all.first?.reporter.facts }.map { LinkInformation($0) } }
}

extension Data {
    /// The number after a letter in a value of the ``Station``.
    func number(_ letter: String) -> UInt32? {
        let text = String(decoding: self, as: UTF8.self)
        return text.hasPrefix(letter) ? UInt32(text.dropFirst()) : nil
    }
}
