import BluetoothService
import BluetoothTypes
import Foundation
import Synchronization

/// Who stands beside the delegate of a peripheral manager. All is called on the manager's queue.
package protocol PeripheralManagerObserver: AnyObject, Sendable {
    /// Takes a read or the writes of one request over; then the delegate is not asked.
    func take(_ requests: [CBATTRequest], isRead: Bool, of manager: CBPeripheralManager) -> Bool
    /// Updates may have room; the delegate is told afterwards, if there is any left.
    func hasUpdateRoom(_ manager: CBPeripheralManager)
    /// Something has happened, and the delegate knows it already.
    func hear(_ news: PeripheralManagerNews, of manager: CBPeripheralManager)
}

/// What has happened to a peripheral manager. Numbers are those of the requests.
package enum PeripheralManagerNews {
    case stateChanged(CBManagerState)
    case serviceAdded(LocalAttributeID, (any Error)?)
    case advertisingStarted(number: UInt32, (any Error)?)
    case channelPublished(number: UInt32, CBL2CAPPSM, (any Error)?)
    case channelOpened(CBL2CAPChannel)
    /// Also when all are gone with the power.
    case subscriptionChanged(CBCentral, CBMutableCharacteristic, isSubscribed: Bool)
    case centralConnected(CBCentral)
    case centralDisconnected(UUID, (any Error)?)
    case centralReleased(UUID, (any Error)?)
}

/// What becomes of an update.
package enum UpdateOutcome {
    case sent
    /// There is no room.
    case full
    /// The characteristic is not published.
    case unknown
    /// The manager is not powered on.
    case off
    /// Whoever wanted it does not want it any more.
    case withdrawn
}

extension CBPeripheralManager {
    /// Who stands beside the delegate.
    package var observer: (any PeripheralManagerObserver)? { contents.withLock { $0.observer } }

    /// Who stands beside the delegate, from now on if there is none.
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

    /// Asks the service; false without power. Nothing is told of misuse.
    package func ask(_ request: PeripheralRequest) -> Bool {
        guard state == .poweredOn, let link else { return false }
        if case .startAdvertising = request { contents.withLock { $0.wantsAdvertising = true } }
        link.send(request)
        return true
    }

    /// Publishes a service whose number `register` gets before anything can come of it; false without power.
    package func publish(_ service: CBMutableService, register: (LocalAttributeID) -> Void) -> Bool {
        guard state == .poweredOn, let link else { return false }
        let published = contents.withLock { $0.published.add(service) }
        register(published.id)
        // Whoever has registered after the news that the power is gone hears of it here; later he hears the news.
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

    /// Sends an update if there is room and `claim` says, once that is certain, that it is still wanted.
    package func send(
        _ value: Data,
        for characteristic: CBMutableCharacteristic,
        to centrals: [CBCentral]?,
        claim: () -> Bool
    ) -> UpdateOutcome {
        guard state == .poweredOn, let link else { return .off }
        return send(value, characteristic, centrals, over: link, isRemembered: false, claim: claim)
    }

    /// - Parameter isRemembered: Whether the delegate is to hear of room if there is none now.
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

    /// How many updates the service has taken and not sent on: all, or those for one central.
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

    /// Answers the requests of one callback, whose first one this is. Without power nobody waits for it.
    ///
    /// - Returns: False when they have been answered already.
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
    /// Whether the central waits for an answer.
    package var needsResponse: Bool { transaction.needsResponse }

    /// Takes note that nobody can answer: the manager is gone, and with it whoever waited.
    package func abandon() { _ = transaction.answer() }
}

extension ATTStatus {
    /// The code as it goes to a central.
    init(clamping code: CBATTError.Code) {
        self.init(rawValue: UInt8(exactly: code.rawValue) ?? UInt8(CBATTErrorCode.unlikelyError.rawValue))
    }
}
