import BluetoothService
import BluetoothTesting
import CoreBluetooth
import Foundation
import ServiceMessages
import Testing

/// An app in the central role.
private final class Finder: NSObject, Sendable {}

private func test(world: TestWorld, phone: SimulatedDevice, sensor: SimulatedDevice, app: SimulatedApp) async throws {
    // BLOCK
}
