import CoreBluetooth
import Foundation

/// The sensors found so far, for a view.
public final class SensorList: ObservableObject {
    @Published public private(set) var names: [UUID: String] = [:]

    public init() {}

    public func add(_ peripheral: CBPeripheral) {
        add(peripheral.name ?? "no name", for: peripheral.identifier)
    }

    func add(_ name: String, for identifier: UUID) {
        names[identifier] = name
    }
}
