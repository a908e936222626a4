import BluetoothTypes
import Foundation
import ServiceMessages

/// Payloads of the events that tests expect.
extension Event {
    var disconnection: (error: ServiceError?, isReconnecting: Bool)? {
        if case .central(.peer(_, .disconnected(let error, let isReconnecting, _))) = self {
            (error, isReconnecting)
        } else {
            nil
        }
    }

    var connection: PeerInfo? {
        if case .central(.peer(let peer, .connected(let name, _))) = self {
            PeerInfo(identifier: peer, name: name)
        } else {
            nil
        }
    }

    var discovery: (peer: PeerInfo, advertisement: Advertisement, rssi: Int)? {
        if case .central(.discovered(let peer, let advertisement, let rssi)) = self {
            (peer, advertisement, rssi)
        } else {
            nil
        }
    }

    var value: Result<PacketBuffer, ServiceError>? {
        switch self {
        case .central(.peer(_, .valueRead(_, let value))): value
        case .central(.peer(_, .valueNotified(_, let value))): .success(value)
        default: nil
        }
    }

    var writeResult: ServiceError?? {
        switch self {
        case .central(.peer(_, .valueWritten(_, let error))), .central(.peer(_, .descriptorWritten(_, let error))):
            .some(error)
        default: nil
        }
    }

    var notifyState: (isNotifying: Bool, error: ServiceError?)? {
        if case .central(.peer(_, .notifyStateChanged(_, let isNotifying, let error))) = self {
            (isNotifying, error)
        } else {
            nil
        }
    }

    var readRequest: (transaction: UInt64, central: CentralInfo, offset: Int)? {
        if case .peripheral(.readRequested(let id, let central, _, let offset)) = self {
            (id, central, offset)
        } else {
            nil
        }
    }

    var writeRequest: (transaction: UInt64, writes: [WriteRequest], needsResponse: Bool)? {
        if case .peripheral(.writeRequested(let id, _, let writes, let needsResponse)) = self {
            (id, writes, needsResponse)
        } else {
            nil
        }
    }

    var subscriber: (central: CentralInfo, isSubscribed: Bool)? {
        switch self {
        case .peripheral(.subscribed(let central, _)): (central, true)
        case .peripheral(.unsubscribed(let central, _)): (central, false)
        default: nil
        }
    }

    var updateCredits: Int? {
        if case .peripheral(.updateCreditsReturned(let count)) = self { count } else { nil }
    }

    var writeCredits: Int? {
        if case .central(.peer(_, .writeCreditsReturned(let count))) = self { count } else { nil }
    }

    var state: ManagerState? {
        if case .stateChanged(let state) = self { state } else { nil }
    }

    var services: Result<[RemoteService], ServiceError>? {
        switch self {
        case .central(.peer(_, .servicesDiscovered(let result))),
            .central(.peer(_, .includedServicesDiscovered(_, let result))):
            result
        default: nil
        }
    }

    var descriptors: Result<[RemoteDescriptor], ServiceError>? {
        if case .central(.peer(_, .descriptorsDiscovered(_, let result))) = self { result } else { nil }
    }

    var characteristics: Result<[RemoteCharacteristic], ServiceError>? {
        if case .central(.peer(_, .characteristicsDiscovered(_, let result))) = self { result } else { nil }
    }

    var serviceAdded: ServiceError?? {
        if case .peripheral(.serviceAdded(_, let error)) = self { .some(error) } else { nil }
    }

    var advertisingStarted: ServiceError?? {
        if case .peripheral(.advertisingStarted(let error, _)) = self { .some(error) } else { nil }
    }
}
