import BluetoothService
import CoreBluetooth

/// What a peripheral tells of itself. These streams outlast a disconnection.
extension CBPeripheral {
    /// The services that are no longer what they were, each time that there are such; discover them again.
    public var serviceChanges: EventStream<[CBService]> {
        happenings.stream(keeping: self) {
            if case .servicesModified(let services) = $0 { $1.send(services) }
        }
    }

    /// The name of the device, each time that it gives itself another one.
    public var nameChanges: EventStream<String?> {
        happenings.stream(keeping: self) {
            if case .told(.nameChanged(let name)) = $0 { $1.send(name) }
        }
    }

    /// The most octets of a write without response, each time that there are more: what is asked for right after connecting is not the
    /// last word (behaviour 15.25).
    public var maximumWriteLengthChanges: EventStream<Int> {
        happenings.stream(keeping: self) {
            if case .told(.maximumWriteLengthChanged(let length)) = $0 { $1.send(length) }
        }
    }

    /// Whether the device may have this system's notifications, each time that it is decided.
    public var notificationAuthorizations: EventStream<Bool> {
        happenings.stream(keeping: self) {
            if case .told(.notificationsAuthorized(let isAuthorized)) = $0 { $1.send(isAuthorized) }
        }
    }
}
