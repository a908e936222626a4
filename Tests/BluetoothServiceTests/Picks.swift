import BluetoothTypes
import Foundation

@testable import BluetoothService

/// What tests look for in events.
extension Event {
    var disconnection: (error: ServiceError?, isReconnecting: Bool)? {
        if case .disconnected(_, let error, let isReconnecting, _) = self { (error, isReconnecting) } else { nil }
    }

    var connection: PeerInfo? {
        if case .connected(let info, _) = self { info } else { nil }
    }

    var discovery: (peer: PeerInfo, advertisement: Advertisement, rssi: Int)? {
        if case .discovered(let peer, let advertisement, let rssi) = self { (peer, advertisement, rssi) } else { nil }
    }

    var value: Result<PacketBuffer, ServiceError>? {
        if case .valueUpdated(_, _, let value) = self { value } else { nil }
    }

    var writeResult: ServiceError?? {
        switch self {
        case .valueWritten(_, _, let error), .descriptorWritten(_, _, let error): .some(error)
        default: nil
        }
    }

    var notifyState: (isNotifying: Bool, error: ServiceError?)? {
        if case .notifyStateChanged(_, _, let isNotifying, let error) = self { (isNotifying, error) } else { nil }
    }

    var readRequest: (transaction: UInt64, central: CentralInfo, offset: Int)? {
        if case .readRequested(let id, let central, _, let offset) = self { (id, central, offset) } else { nil }
    }

    var writeRequest: (transaction: UInt64, writes: [WriteRequest], needsResponse: Bool)? {
        if case .writeRequested(let id, _, let writes, let needsResponse) = self {
            (id, writes, needsResponse)
        } else {
            nil
        }
    }

    var subscriber: (central: CentralInfo, isSubscribed: Bool)? {
        switch self {
        case .subscribed(let central, _): (central, true)
        case .unsubscribed(let central, _): (central, false)
        default: nil
        }
    }

    var updateCredits: Int? {
        if case .updateCreditsReturned(let count) = self { count } else { nil }
    }

    var writeCredits: Int? {
        if case .writeCreditsReturned(_, let count) = self { count } else { nil }
    }

    var state: ManagerState? {
        if case .stateChanged(let state) = self { state } else { nil }
    }

    var services: Result<[RemoteService], ServiceError>? {
        switch self {
        case .servicesDiscovered(_, let result), .includedServicesDiscovered(_, _, let result): result
        default: nil
        }
    }

    var descriptors: Result<[RemoteDescriptor], ServiceError>? {
        if case .descriptorsDiscovered(_, _, let result) = self { result } else { nil }
    }

    var characteristics: Result<[RemoteCharacteristic], ServiceError>? {
        if case .characteristicsDiscovered(_, _, let result) = self { result } else { nil }
    }

    var serviceAdded: ServiceError?? {
        if case .serviceAdded(_, let error) = self { .some(error) } else { nil }
    }

    var advertisingStarted: ServiceError?? {
        if case .advertisingStarted(let error) = self { .some(error) } else { nil }
    }
}
