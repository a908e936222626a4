import CoreBluetooth
import ServiceMessages

/// Streams of a peripheral's own changes. They retain the peripheral and outlast a disconnection.
extension CBPeripheral {
    /// A new stream of services that were removed or changed. Discover them again (behaviour 4.13).
    public var serviceChanges: EventStream<[CBService]> {
        updates.stream(keeping: self) {
            if case .servicesModified(let services) = $0 { $1.send(services) }
        }
    }

    /// A new stream of the device's GAP names, one for each change (behaviour 2.24).
    public var nameChanges: EventStream<String?> {
        updates.stream(keeping: self) {
            if case .told(.nameChanged(let name)) = $0 { $1.send(name) }
        }
    }

    /// A new stream of the longest value of a write without response, in octets, each time that it grows. The length
    /// read right after connecting is not final (behaviour 15.25).
    public var maximumWriteLengthChanges: EventStream<Int> {
        updates.stream(keeping: self) {
            if case .told(.maximumWriteLengthChanged(let length)) = $0 { $1.send(length) }
        }
    }

    /// A new stream of decisions on whether the device may read this system's notifications (behaviour 3.19).
    public var notificationAuthorizations: EventStream<Bool> {
        updates.stream(keeping: self) {
            if case .told(.notificationsAuthorized(let isAuthorized)) = $0 { $1.send(isAuthorized) }
        }
    }
}
