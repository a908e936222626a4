import BluetoothTypes
import Foundation
import ServiceMessages

/// An observer of a peripheral manager, in addition to its delegate. All methods are called on the manager's queue.
package protocol PeripheralManagerObserver: AnyObject, Sendable {
    /// Receives a read or the writes of one request. If the result is true, the observer answers, and the delegate is
    /// not called.
    func accept(_ requests: [CBATTRequest], isRead: Bool, of manager: CBPeripheralManager) -> Bool
    /// Called when there may be room for updates. The delegate is told before or after, in turns.
    func hasUpdateRoom(_ manager: CBPeripheralManager)
    /// Called for every other event, after the delegate.
    func receive(_ news: PeripheralManagerReport, of manager: CBPeripheralManager)
}

/// An event of a peripheral manager. The numbers are those of the requests.
package enum PeripheralManagerReport {
    case stateChanged(CBManagerState)
    case serviceAdded(LocalAttributeID, (any Error)?)
    case advertisingStarted(number: UInt32, (any Error)?)
    case channelPublished(number: UInt32, CBL2CAPPSM, (any Error)?)
    case channelOpened(CBL2CAPChannel)
    /// Also reported for each subscriber when Bluetooth is switched off.
    case subscriptionChanged(CBCentral, CBMutableCharacteristic, isSubscribed: Bool)
    case centralConnected(CBCentral)
    case centralDisconnected(UUID, (any Error)?)
    case centralReleased(UUID, (any Error)?)
}

/// The outcome of sending an update.
package enum UpdateOutcome {
    case sent
    /// There is no room for the update.
    case full
    /// The characteristic is not published.
    case unknown
    /// The manager is not powered on.
    case off
    /// The caller no longer wants the update.
    case withdrawn
}

extension CBATTRequest {
    /// Whether the central waits for a response.
    package var needsResponse: Bool { transaction.needsResponse }

    /// Marks the request as answered, since the manager was released and nothing can be sent.
    package func abandon() { _ = transaction.answer() }
}

extension ATTStatus {
    /// The code as it is sent to a central; Unlikely Error for a code above 0xFF.
    init(clamping code: CBATTError.Code) {
        self.init(rawValue: UInt8(exactly: code.rawValue) ?? UInt8(CBATTErrorCode.unlikelyError.rawValue))
    }
}
