import Foundation
import ServiceMessages
import Synchronization

/// Handling of the service's events: each updates the objects first and then calls the delegate.
extension CBPeripheralManager {
    /// Handles an event of the service. Called on the manager's queue. Events for the other role are ignored.
    func handle(_ event: Event) {
        switch event {
        case .stateChanged(let state): receiveState(state)
        case .peripheral(let event): handle(event)
        case .central, .channel: break
        }
    }

    private func handle(_ event: PeripheralEvent) {
        switch event {
        case .serviceAdded(let id, let error): receiveAdded(id, error)
        case .advertisingStarted(let error, let number):
            // `stopAdvertising()` may have been called meanwhile.
            if error == nil { contents.withLock { $0.isAdvertising = $0.wantsAdvertising } }
            delegate?.peripheralManagerDidStartAdvertising(self, error: error?.apiError)
            tell(.advertisingStarted(number: number, error?.apiError))
        case .subscribed(let info, let id):
            guard let characteristic = characteristic(id) else { return }
            let central = central(info)
            characteristic.setSubscribed(central, true)
            delegate?.peripheralManager(self, central: central, didSubscribeTo: characteristic)
            tell(.subscriptionChanged(central, characteristic, isSubscribed: true))
        case .unsubscribed(let info, let id):
            guard let characteristic = characteristic(id) else { return }
            let central = central(info)
            characteristic.setSubscribed(central, false)
            delegate?.peripheralManager(self, central: central, didUnsubscribeFrom: characteristic)
            tell(.subscriptionChanged(central, characteristic, isSubscribed: false))
        case .readRequested(let transaction, let info, let id, let offset):
            receiveRead(transaction, info, id, offset)
        case .writeRequested(let transaction, let info, let writes, let needsResponse):
            receiveWrites(Transaction(id: transaction, isRead: false, needsResponse: needsResponse), info, writes)
        case .updateCreditsReturned(let count): returnCredits(count)
        case .centralChanged(let info): _ = central(info)
        case .channelPublished, .channelUnpublished, .channelOpened: receiveChannelEvent(event)
        case .centralConnected(let info): tell(.centralConnected(central(info)))
        case .centralDisconnected(let identifier, let error): tell(.centralDisconnected(identifier, error?.apiError))
        case .centralReleased(let identifier, let error): tell(.centralReleased(identifier, error?.apiError))
        case .willRestore(let state): restore(state)
        }
    }

    private func receiveChannelEvent(_ event: PeripheralEvent) {
        switch event {
        case .channelPublished(let psm, let error, let number):
            delegate?.peripheralManager(self, didPublishL2CAPChannel: psm, error: error?.apiError)
            tell(.channelPublished(number: number, psm, error?.apiError))
        case .channelUnpublished(let psm, let error):
            delegate?.peripheralManager(self, didUnpublishL2CAPChannel: psm, error: error?.apiError)
        case .channelOpened(let psm, let info, let id):
            guard let link else { return }
            let channel = CBL2CAPChannel(id, psm: psm, peer: central(info), link: link)
            delegate?.peripheralManager(self, didOpen: channel, error: nil)
            tell(.channelOpened(channel))
        case .serviceAdded, .advertisingStarted, .subscribed, .unsubscribed, .readRequested, .writeRequested,
            .updateCreditsReturned, .centralChanged, .centralConnected, .centralDisconnected, .centralReleased,
            .willRestore:
            break
        }
    }

    private func receiveState(_ state: ManagerState) {
        let state = setState(state)
        let left: [PeripheralManagerNews] = contents.withLock {
            var left: [PeripheralManagerNews] = []
            if state.rawValue < CBManagerState.poweredOn.rawValue {
                // The centrals are disconnected, and the updates on their way to them are lost (behaviour 1.13).
                for characteristic in $0.published.allCharacteristics {
                    left += (characteristic.subscribedCentrals ?? []).map {
                        .subscriptionChanged($0, characteristic, isSubscribed: false)
                    }
                    characteristic.removeSubscribers()
                }
                $0.updateCredits = ServiceLimits.valueUpdates
                $0.pendingUpdates = []
            }
            if state.rawValue < CBManagerState.poweredOff.rawValue {
                $0.published.removeAll()
                $0.wantsAdvertising = false
                $0.isAdvertising = false
            }
            return left
        }
        delegate?.peripheralManagerDidUpdateState(self)
        for news in left { tell(news) }
        tell(.stateChanged(state))
        // Updates that were refused for lack of room or power can be sent now (behaviour 7.43).
        if state == .poweredOn { returnCredits(0) }
    }

    private func receiveAdded(_ id: LocalAttributeID, _ error: ServiceError?) {
        let service = contents.withLock {
            let service = $0.published.takeAwaited(id)
            if error != nil { $0.published.remove(id) }
            return service
        }
        if let service { delegate?.peripheralManager(self, didAdd: service, error: error?.apiError) }
        tell(.serviceAdded(id, error?.apiError))
    }

    private func receiveRead(_ id: UInt64, _ info: CentralInfo, _ attribute: LocalAttributeID, _ offset: Int) {
        let transaction = Transaction(id: id, isRead: true, needsResponse: true)
        guard let characteristic = characteristic(attribute) else { return refuse(transaction) }
        let request = CBATTRequest(
            transaction,
            central: central(info),
            characteristic: characteristic,
            offset: offset,
            value: nil
        )
        if let observer, observer.take([request], isRead: true, of: self) { return }
        guard let delegate else { return refuse(transaction) }
        delegate.peripheralManager(self, didReceiveRead: request)
    }

    private func receiveWrites(_ transaction: Transaction, _ info: CentralInfo, _ writes: [WriteRequest]) {
        let central = central(info)
        let requests = writes.compactMap { write in
            characteristic(write.characteristic).map {
                CBATTRequest(
                    transaction,
                    central: central,
                    characteristic: $0,
                    offset: write.offset,
                    value: Data(write.value)
                )
            }
        }
        // All or nothing: a request that cannot be delivered fails the whole batch (behaviour 7.35).
        guard !requests.isEmpty, requests.count == writes.count else { return refuse(transaction) }
        if let observer, observer.take(requests, isRead: false, of: self) { return }
        guard let delegate else { return refuse(transaction) }
        delegate.peripheralManager(self, didReceiveWrite: requests)
    }

    /// Refuses a request that cannot be delivered: there is no delegate, or the characteristic was just removed.
    private func refuse(_ transaction: Transaction) {
        guard transaction.answer(), transaction.needsResponse else { return }
        let status = ATTStatus(rawValue: UInt8(CBATTErrorCode.unlikelyError.rawValue))
        link?.send(PeripheralRequest.respond(transaction: transaction.id, status, value: nil))
    }

    private func returnCredits(_ count: Int) {
        let (observer, isDelegatesTurn) = contents.withLock {
            let returned = min(max(count, 0), ServiceLimits.valueUpdates - $0.updateCredits)
            $0.updateCredits += returned
            $0.pendingUpdates.removeFirst(min(returned, $0.pendingUpdates.count))
            // Alternate between the delegate and the observer, so that neither takes all the credits.
            $0.isDelegatesTurn.toggle()
            return ($0.observer, $0.isDelegatesTurn)
        }
        if isDelegatesTurn { tellOfRoom() }
        observer?.hasUpdateRoom(self)
        if !isDelegatesTurn { tellOfRoom() }
    }

    private func tellOfRoom() {
        let isAwaited = contents.withLock {
            guard $0.hasRefusedUpdate, $0.updateCredits > 0 else { return false }
            $0.hasRefusedUpdate = false
            return true
        }
        // Once after each refusal (behaviour 7.43).
        if isAwaited { delegate?.peripheralManagerIsReady(toUpdateSubscribers: self) }
    }

    private func characteristic(_ id: LocalAttributeID) -> CBMutableCharacteristic? {
        contents.withLock { $0.published.characteristic(id) }
    }

    /// Returns the object for a central, up to date. It is the same object as long as there is a reference to it.
    func central(_ info: CentralInfo) -> CBCentral {
        let central = contents.withLock {
            if let central = $0.centrals[info.identifier]?.central { return central }
            $0.centrals = $0.centrals.filter { $0.value.central != nil }
            let central = CBCentral(info)
            $0.centrals[info.identifier] = WeakCentral(central: central)
            return central
        }
        central.setMaximumUpdateValueLength(info.maximumUpdateLength)
        return central
    }
}
