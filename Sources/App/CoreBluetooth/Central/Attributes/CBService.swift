import Foundation
import ServiceMessages
import Synchronization

/// A service of a peripheral: a collection of characteristics for one function.
///
/// Services of a peripheral are found by ``CBPeripheral/discoverServices(_:)``. Such an object is valid until the
/// service changes or the connection ends (behaviours 3.14, 4.13).
///
/// Properties may be read from any thread. The lists of a peripheral's service change on the manager's queue, right
/// before the delegate is called.
open class CBService: CBAttribute, @unchecked Sendable {
    // Safe: all mutable state is in a mutex.
    private struct Contents: Sendable {
        weak var peripheral: CBPeripheral?
        var characteristics: [CBCharacteristic]?
        var includedServices: [CBService]?
    }

    private let contents: Mutex<Contents>
    private let primary: Bool

    init(uuid: CBUUID, handle: AttributeHandle, isPrimary: Bool, peripheral: CBPeripheral?) {
        primary = isPrimary
        contents = Mutex(Contents(peripheral: peripheral))
        super.init(uuid: uuid, handle: handle)
    }

    /// The peripheral that has the service. Nil for a local service, and once that object has been released, since the
    /// reference is weak (behaviour 13.7).
    open var peripheral: CBPeripheral? { contents.withLock { $0.peripheral } }

    /// Whether the service describes a main function of the device. A secondary service has a meaning only where
    /// another service includes it (behaviour 0.6).
    open var isPrimary: Bool { primary }

    /// The characteristics discovered so far. Nil until a discovery has succeeded (behaviour 4.3).
    open var characteristics: [CBCharacteristic]? { contents.withLock { $0.characteristics } }

    /// The included services discovered so far. Nil until a discovery has succeeded (behaviour 4.3).
    open var includedServices: [CBService]? { contents.withLock { $0.includedServices } }

    // MARK: Changes

    final func setCharacteristics(_ characteristics: [CBCharacteristic]?) {
        contents.withLock { $0.characteristics = characteristics }
    }

    /// Adds the discovered characteristics that are new.
    final func add(characteristics: [CBCharacteristic]) {
        contents.withLock { $0.characteristics = ($0.characteristics ?? []).adding(characteristics) }
    }

    final func setIncludedServices(_ services: [CBService]?) {
        contents.withLock { $0.includedServices = services }
    }

    /// Adds the discovered services that are new.
    final func add(includedServices services: [CBService]) {
        contents.withLock { $0.includedServices = ($0.includedServices ?? []).adding(services) }
    }

    final func remove(includedServices services: [CBService]) {
        contents.withLock { $0.includedServices?.removeAll { services.contains($0) } }
    }

    override func value(named name: String) -> Any?? {
        switch name {
        case "isPrimary": isPrimary
        case "peripheral": .some(peripheral)
        case "characteristics": .some(characteristics)
        case "includedServices": .some(includedServices)
        default: super.value(named: name)
        }
    }

    /// The class, kind and UUID.
    open override var description: String {
        "<\(nameAndAddress), isPrimary = \(isPrimary ? "YES" : "NO"), UUID = \(uuid)>"
    }
}
