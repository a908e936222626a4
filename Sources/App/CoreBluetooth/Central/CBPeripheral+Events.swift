import BluetoothTypes
import Foundation
import ServiceMessages
import Synchronization

/// Handling of the service's events: each updates the object first and then calls the delegate.
extension CBPeripheral {
    // MARK: Connection

    func setName(_ name: String?) {
        change { $0.name = name }
    }

    /// Records the disconnection. Returns whether to call the delegate.
    func didDisconnect(isReconnecting: Bool = false) -> Bool {
        changeTree { $0.didDisconnect(isReconnecting: isReconnecting) }
    }

    /// Resets to disconnected without calling the delegate, when Bluetooth is switched off or the manager is released
    /// (behaviour 1.11). Returns whether there was a connection or an attempt.
    func reset() -> Bool {
        changeTree { $0.reset() }
    }

    func restore(_ peer: RestoredPeer) {
        change { contents in
            contents.restoreConnection(maximumWriteLength: peer.maximumWriteWithoutResponse)
            guard peer.maximumWriteWithoutResponse != nil else { return }
            // The list is nil until a discovery has succeeded (behaviour 4.3).
            if !peer.services.isEmpty { contents.tree.restore(peer.services, of: self) }
        }
    }

    // MARK: Events

    /// Handles an event about the peripheral. After a disconnection events are ignored (behaviour 3.13).
    func receive(_ event: PeerEvent) {
        guard state == .connected || state == .disconnecting else {
            if case .channelOpened(_, .success(let channel)) = event { refuse(channel) }
            return
        }
        switch event {
        case .channelOpened(let psm, let result): receiveOpened(psm, result)
        case .servicesDiscovered(let result):
            update(result) { $0.tree.add(services: $1, of: self) }
            delegate?.peripheral(self, didDiscoverServices: result.apiError)
        case .includedServicesDiscovered(let handle, let result):
            guard let service = service(handle, .includedServices) else { return }
            let result = checked(result, of: service)
            update(result) { $0.tree.add(includedServices: $1, to: service, of: self) }
            delegate?.peripheral(self, didDiscoverIncludedServicesFor: service, error: result.apiError)
        case .characteristicsDiscovered(let handle, let result):
            guard let service = service(handle, .characteristics) else { return }
            let result = checked(result, of: service)
            update(result) { $0.tree.add(characteristics: $1, to: service) }
            delegate?.peripheral(self, didDiscoverCharacteristicsFor: service, error: result.apiError)
        case .descriptorsDiscovered(let handle, let result):
            guard let characteristic = characteristic(handle, .descriptors) else { return }
            let result = checked(result, of: characteristic)
            update(result) { $0.tree.add(descriptors: $1, to: characteristic) }
            delegate?.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: result.apiError)
        case .servicesModified(let handles):
            let dead = changeTree { $0.tree.invalidate(handles) }
            delegate?.peripheral(self, didModifyServices: dead)
            updates.notify(.servicesModified(dead))
        case .nameChanged(let name):
            setName(name)
            delegate?.peripheralDidUpdateName(self)
        case .rssiRead(let result):
            update(result) { $0.rssi = $1 }
            // 127 means that the strength is not known (behaviour 2.13).
            let strength = (try? result.get()) ?? 127
            delegate?.peripheral(self, didReadRSSI: NSNumber(value: strength), error: result.apiError)
        case .valueRead, .valueNotified, .descriptorUpdated, .valueWritten, .descriptorWritten, .notifyStateChanged,
            .maximumWriteLengthChanged, .writeCreditsReturned:
            receiveValueEvent(event)
        case .channelSoundingMeasured(let result):
            let results = (try? result.get()).map { CBChannelSoundingProcedureResults(distance: $0) }
            delegate?.peripheral(self, didReceive: results, error: result.apiError)
        case .channelSoundingEnded(let error):
            delegate?.peripheral(self, didCompleteChannelSoundingSession: error?.apiError)
        // Handled by the manager.
        case .connected, .connectionFailed, .disconnected, .notificationsAuthorized, .linkInformation: break
        }
    }

    private func receiveValueEvent(_ event: PeerEvent) {
        switch event {
        // Reads and notifications share one callback (behaviour 5.1), and a long read has one callback too
        // (behaviour 5.2).
        case .valueRead(let handle, let result):
            guard let characteristic = characteristic(handle, .read) else { return }
            if case .success(let value) = result { characteristic.setValue(Data(value)) }
            delegate?.peripheral(self, didUpdateValueFor: characteristic, error: result.apiError)
        case .valueNotified(let handle, let value):
            guard let characteristic = contents.withLock({ $0.tree.characteristic(handle) }) else { return }
            characteristic.setValue(Data(value))
            delegate?.peripheral(self, didUpdateValueFor: characteristic, error: nil)
        case .valueWritten(let handle, let error):
            guard let characteristic = characteristic(handle, .write) else { return }
            delegate?.peripheral(self, didWriteValueFor: characteristic, error: error?.apiError)
        case .notifyStateChanged(let handle, let isNotifying, let error):
            guard let characteristic = characteristic(handle, .notify) else { return }
            characteristic.setNotifying(isNotifying && contents.withLock { $0.tree.contains(characteristic) })
            characteristic.keyValues.check()
            delegate?.peripheral(self, didUpdateNotificationStateFor: characteristic, error: error?.apiError)
        case .descriptorUpdated(let handle, let result):
            guard let descriptor = descriptor(handle, .readDescriptor) else { return }
            if case .success(let value) = result { descriptor.setOctets(Data(value)) }
            delegate?.peripheral(self, didUpdateValueFor: descriptor, error: result.apiError)
        case .descriptorWritten(let handle, let error):
            guard let descriptor = descriptor(handle, .writeDescriptor) else { return }
            delegate?.peripheral(self, didWriteValueFor: descriptor, error: error?.apiError)
        case .maximumWriteLengthChanged(let length):
            change { $0.limitWrites(to: length) }
        case .writeCreditsReturned(let count):
            let wasFull = change { $0.returnWriteCredits(count) }
            // Once for each time that the credits were used up (behaviours 5.13, 5.15).
            if wasFull { delegate?.peripheralIsReady(toSendWriteWithoutResponse: self) }
        // Handled by `receive(_:)`.
        default: break
        }
    }

    private func receiveOpened(_ psm: CBL2CAPPSM, _ result: Result<ChannelID, ServiceError>) {
        let isAwaited = contents.withLock { $0.removeOpening(of: psm) }
        switch result {
        case .success(let channel) where !isAwaited: refuse(channel)
        case .success(let channel):
            let channel = takeOver(channel, psm: psm)
            delegate?.peripheral(self, didOpen: channel, error: nil)
        case .failure(let error):
            if isAwaited { delegate?.peripheral(self, didOpen: nil, error: error.apiError) }
        }
    }

    /// Ends each pending opening of a channel with an error, since the connection has ended (behaviour 8.12).
    func failOpenings(_ error: ServiceError?) {
        let openings = contents.withLock { $0.removeOpenings() }
        let error = error ?? ServiceError(.notConnected, reason: "the connection has ended")
        for _ in 0..<openings { delegate?.peripheral(self, didOpen: nil, error: error.apiError) }
    }

    /// Applies a successful result to the contents. An error leaves them unchanged.
    private func update<Value>(
        _ result: Result<Value, ServiceError>,
        _ apply: (inout PeripheralContents, Value) -> Void
    ) {
        guard case .success(let value) = result else { return }
        changeTree { apply(&$0, value) }
    }

    /// Changes the contents and reports to the observers of the peripheral's properties.
    func change<Result>(_ body: (inout PeripheralContents) -> Result) -> Result {
        defer { keyValues.check() }
        return contents.withLock { body(&$0) }
    }

    /// Changes the contents and the attributes, and reports to the observers of their properties. The attributes change
    /// with the lock held, so that their observers have to wait.
    private func changeTree<Result>(_ body: (inout PeripheralContents) -> Result) -> Result {
        let attributes = contents.withLock { $0.tree.observable }
        defer {
            for attribute in attributes { attribute.keyValues.check() }
        }
        return change(body)
    }

    /// Returns the result of a discovery, or an error if its attribute was invalidated meanwhile: what was found below
    /// an attribute that is no longer valid is not valid either (behaviour 4.13).
    private func checked<Value>(
        _ result: Result<Value, ServiceError>,
        of attribute: CBAttribute
    ) -> Result<Value, ServiceError> {
        guard case .success = result, !contents.withLock({ $0.tree.contains(attribute) }) else { return result }
        return .failure(.noLongerValid(attribute))
    }

    // MARK: Attributes of events, for which a request may be pending

    private func service(_ handle: AttributeHandle, _ kind: PendingRequests.Kind) -> CBService? {
        contents.withLock { $0.pending.next(kind, at: handle) ?? $0.tree.service(handle) }
    }

    private func characteristic(_ handle: AttributeHandle, _ kind: PendingRequests.Kind) -> CBCharacteristic? {
        contents.withLock { $0.pending.next(kind, at: handle) ?? $0.tree.characteristic(handle) }
    }

    private func descriptor(_ handle: AttributeHandle, _ kind: PendingRequests.Kind) -> CBDescriptor? {
        contents.withLock { $0.pending.next(kind, at: handle) ?? $0.tree.descriptor(handle) }
    }
}
