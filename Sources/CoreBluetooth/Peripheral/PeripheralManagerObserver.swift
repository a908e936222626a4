import BluetoothTypes
import Foundation
import ServiceMessages
import Synchronization

/// An observer of a peripheral manager, in addition to its delegate. All methods are called on the manager's queue.
package protocol PeripheralManagerObserver: AnyObject, Sendable {
    /// Receives a read or the writes of one request. If the result is true, the observer answers, and the delegate is
    /// not called.
    func take(_ requests: [CBATTRequest], isRead: Bool, of manager: CBPeripheralManager) -> Bool
    /// Called when there may be room for updates. The delegate is told before or after, in turns.
    func hasUpdateRoom(_ manager: CBPeripheralManager)
    /// Called for every other event, after the delegate.
    func hear(_ news: PeripheralManagerNews, of manager: CBPeripheralManager)
}

/// An event of a peripheral manager. The numbers are those of the requests.
package enum PeripheralManagerNews {
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

extension CBPeripheralManager {
    /// The observer, if there is one.
    package var observer: (any PeripheralManagerObserver)? { contents.withLock { $0.observer } }

    /// Returns the observer, after creating it if there is none.
    package func observer(
        orElse make: () -> any PeripheralManagerObserver
    ) -> any PeripheralManagerObserver {
        contents.withLock {
            let observer = $0.observer ?? make()
            $0.observer = observer
            return observer
        }
    }

    func tell(_ news: PeripheralManagerNews) { observer?.hear(news, of: self) }

    /// Sends a request to the service. Returns false if the manager is not powered on, which is not reported as misuse.
    package func ask(_ request: PeripheralRequest) -> Bool {
        guard state == .poweredOn, let link else { return false }
        if case .startAdvertising = request { contents.withLock { $0.wantsAdvertising = true } }
        link.send(request)
        return true
    }

    /// Publishes a service. `register` is called with its number before the service can report anything about it.
    /// Returns false if the manager is not powered on.
    package func publish(_ service: CBMutableService, register: (LocalAttributeID) -> Void) -> Bool {
        guard state == .poweredOn, let link else { return false }
        let published = contents.withLock { $0.published.add(service) }
        register(published.id)
        // If the power went before the registration, the caller learns it here; if after, from the event.
        guard state == .poweredOn else {
            contents.withLock {
                _ = $0.published.takeAwaited(published.id)
                $0.published.remove(published.id)
            }
            return false
        }
        link.send(PeripheralRequest.addService(published))
        return true
    }

    /// Whether the service is published, or about to be.
    package func publishes(_ service: CBService) -> Bool { contents.withLock { $0.published.id(of: service) != nil } }

    /// Sends an update if there is room. `claim` is called once that is certain, and confirms that the update is still
    /// wanted.
    package func send(
        _ value: Data,
        for characteristic: CBMutableCharacteristic,
        to centrals: [CBCentral]?,
        claim: () -> Bool
    ) -> UpdateOutcome {
        guard state == .poweredOn, let link else { return .off }
        return send(value, characteristic, centrals, over: link, isRemembered: false, claim: claim)
    }

    /// Sends an update if there is room, and `claim` confirms that it is still wanted.
    ///
    /// - Parameter isRemembered: Whether to tell the delegate when there is room, if there is none now.
    func send(
        _ value: Data,
        _ characteristic: CBMutableCharacteristic,
        _ centrals: [CBCentral]?,
        over link: ManagerLink,
        isRemembered: Bool,
        claim: () -> Bool = { true }
    ) -> UpdateOutcome {
        let identifiers = centrals?.map(\.identifier)
        let (outcome, id): (UpdateOutcome, LocalAttributeID) = contents.withLock {
            guard let id = $0.published.id(of: characteristic) else { return (.unknown, LocalAttributeID(0)) }
            guard $0.updateCredits > 0 else {
                if isRemembered { $0.hasRefusedUpdate = true }
                return (.full, id)
            }
            guard claim() else { return (.withdrawn, id) }
            $0.updateCredits -= 1
            $0.pendingUpdates.append((id, identifiers))
            return (.sent, id)
        }
        if outcome == .sent {
            link.send(PeripheralRequest.updateValue(id, value: PacketBuffer(copying: value), centrals: identifiers))
        }
        return outcome
    }

    /// Returns the number of updates that the service has accepted and not passed on: all of them, or those for one
    /// central.
    package func updatesUnderWay(for central: CBCentral?) -> Int {
        contents.withLock { contents in
            guard let central else { return contents.pendingUpdates.count }
            return contents.pendingUpdates.count { update in
                let subscribers = contents.published.characteristic(update.characteristic)?.subscribedCentrals ?? []
                return subscribers.contains { $0.identifier == central.identifier }
                    && update.centrals?.contains(central.identifier) ?? true
            }
        }
    }

    /// Answers the requests of one callback, of which `request` is the first. Without power the answer is dropped.
    ///
    /// - Returns: False if the requests were answered already.
    package func answer(_ request: CBATTRequest, _ code: CBATTError.Code, value: Data?) -> Bool {
        guard request.transaction.answer() else { return false }
        guard request.transaction.needsResponse, state == .poweredOn else { return true }
        let status = ATTStatus(clamping: code)
        let sent = request.transaction.isRead && status == .success ? PacketBuffer(copying: value ?? Data()) : nil
        link?.send(PeripheralRequest.respond(transaction: request.transaction.id, status, value: sent))
        return true
    }
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
