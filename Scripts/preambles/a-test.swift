import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import Foundation
import ServiceMessages
import Testing

/// An app in the central role.
private final class Finder: NSObject, Sendable {}
/// An app in the peripheral role.
private final class Sensor: NSObject, Sendable {}

private func test() async throws {
    // BLOCK
}
