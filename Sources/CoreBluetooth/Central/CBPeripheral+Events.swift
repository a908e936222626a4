import BluetoothService
import BluetoothTypes
import Foundation
import Synchronization

/// What the service says about a peripheral: first the object is brought up to date, then the delegate is called.
extension CBPeripheral {
    // MARK: Connection

    func setName(_ name: String?) {
        contents.withLock { $0.name = name }
    }

    /// Says whether the service is to be asked.
    func beginConnecting() -> Bool {
        contents.withLock { $0.connection.connect() }
    }

    /// Says whether there was something to cancel.
    func beginCancelling() -> Bool {
        contents.withLock { $0.connection.cancel() }
    }

    /// Says whether the app is to hear of it.
    func didConnect(maximumWriteLength: Int) -> Bool {
        contents.withLock {
            guard $0.connection.didConnect() else { return false }
            $0.maximumWriteLength = maximumWriteLength
            // Room from the first moment on (behaviour 5.15).
            $0.writeCredits = ServiceLimits.writesWithoutResponse
            return true
        }
    }

    /// Says whether the app is to hear of it.
    func didDisconnect(isReconnecting: Bool = false) -> Bool {
        contents.withLock {
            guard $0.connection.didDisconnect(isReconnecting: isReconnecting) else {
                return false
            }
            $0.forgetConnection()
            return true
        }
    }

    /// Bluetooth went off, or the manager is gone: disconnected, and the delegate is not told (behaviour 1.11). Says whether there
    /// was a connection, or an attempt.
    func reset() -> Bool {
        contents.withLock { contents in
            defer {
                contents.connection.reset()
                contents.forgetConnection()
            }
            return contents.connection.state != .disconnected
        }
    }

    // MARK: Events

    /// Takes an event about the peripheral. After a disconnection none is of interest any longer (behaviour 3.13).
    func receive(_ event: PeerEvent) {
        guard state == .connected || state == .disconnecting else {
            if case .channelOpened(_, .success(let channel)) = event { link.send(.close, on: channel) }
            return
        }
        switch event {
        case .channelOpened(let psm, let result): receiveOpened(psm, result)
        case .servicesDiscovered(let result):
            update(result) { $0.tree.add(services: $1, of: self) }
            delegate?.peripheral(self, didDiscoverServices: result.apiError)
        case .includedServicesDiscovered(let handle, let result):
            guard let service = service(handle, .includedServices) else { return }
            update(result) { $0.tree.add(includedServices: $1, to: service, of: self) }
            delegate?.peripheral(self, didDiscoverIncludedServicesFor: service, error: result.apiError)
        case .characteristicsDiscovered(let handle, let result):
            guard let service = service(handle, .characteristics) else { return }
            update(result) { $0.tree.add(characteristics: $1, to: service) }
            delegate?.peripheral(self, didDiscoverCharacteristicsFor: service, error: result.apiError)
        case .descriptorsDiscovered(let handle, let result):
            guard let characteristic = characteristic(handle, .descriptors) else { return }
            update(result) { $0.tree.add(descriptors: $1, to: characteristic) }
            delegate?.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: result.apiError)
        case .servicesModified(let handles):
            let dead = contents.withLock { $0.tree.invalidate(handles) }
            delegate?.peripheral(self, didModifyServices: dead)
            happenings.tell(.servicesModified(dead))
        case .nameChanged(let name):
            setName(name)
            delegate?.peripheralDidUpdateName(self)
        case .rssiRead(let result):
            update(result) { $0.rssi = $1 }
            // 127 stands for a strength that is not known (behaviour 2.13).
            let strength = (try? result.get()) ?? 127
            delegate?.peripheral(self, didReadRSSI: NSNumber(value: strength), error: result.apiError)
        case .valueRead, .valueNotified, .descriptorUpdated, .valueWritten, .descriptorWritten, .notifyStateChanged,
            .maximumWriteLengthChanged, .writeCreditsReturned:
            receiveValueEvent(event)
        case .channelSoundingEnded(let error):
            delegate?.peripheral(self, didCompleteChannelSoundingSession: error?.apiError)
        // For the manager.
        case .connected, .connectionFailed, .disconnected, .notificationsAuthorized, .linkInformation: break
        }
    }

    private func receiveValueEvent(_ event: PeerEvent) {
        switch event {
        // One callback for both (behaviour 5.2).
        case .valueRead(let handle, let result):
            guard let characteristic = characteristic(handle, .read) else { return }
            if case .success(let value) = result { characteristic.contents.withLock { $0.value = Data(value) } }
            delegate?.peripheral(self, didUpdateValueFor: characteristic, error: result.apiError)
        case .valueNotified(let handle, let value):
            guard let characteristic = contents.withLock({ $0.tree.characteristic(handle) }) else { return }
            characteristic.contents.withLock { $0.value = Data(value) }
            delegate?.peripheral(self, didUpdateValueFor: characteristic, error: nil)
        case .valueWritten(let handle, let error):
            guard let characteristic = characteristic(handle, .write) else { return }
            delegate?.peripheral(self, didWriteValueFor: characteristic, error: error?.apiError)
        case .notifyStateChanged(let handle, let isNotifying, let error):
            guard let characteristic = characteristic(handle, .notify) else { return }
            characteristic.contents.withLock { $0.isNotifying = isNotifying }
            delegate?.peripheral(self, didUpdateNotificationStateFor: characteristic, error: error?.apiError)
        case .descriptorUpdated(let handle, let result):
            guard let descriptor = descriptor(handle, .readDescriptor) else { return }
            if case .success(let value) = result {
                descriptor.contents.withLock { $0.octets = Data(value) }
            }
            delegate?.peripheral(self, didUpdateValueFor: descriptor, error: result.apiError)
        case .descriptorWritten(let handle, let error):
            guard let descriptor = descriptor(handle, .writeDescriptor) else { return }
            delegate?.peripheral(self, didWriteValueFor: descriptor, error: error?.apiError)
        case .maximumWriteLengthChanged(let length):
            contents.withLock { $0.maximumWriteLength = length }
        case .writeCreditsReturned(let count):
            returnCredits(count)
        case .connected, .connectionFailed, .disconnected, .servicesDiscovered, .includedServicesDiscovered,
            .characteristicsDiscovered, .descriptorsDiscovered, .servicesModified, .nameChanged, .rssiRead,
            .notificationsAuthorized, .channelSoundingEnded, .channelOpened, .linkInformation:
            break
        }
    }

    private func receiveOpened(_ psm: CBL2CAPPSM, _ result: Result<ChannelID, ServiceError>) {
        let isAwaited = contents.withLock {
            guard let index = $0.openings.firstIndex(of: psm) else { return false }
            $0.openings.remove(at: index)
            return true
        }
        switch result {
        case .success(let channel) where !isAwaited: link.send(.close, on: channel)
        case .success(let channel):
            let channel = CBL2CAPChannel(channel, psm: psm, peer: self, link: link)
            delegate?.peripheral(self, didOpen: channel, error: nil)
        case .failure(let error):
            if isAwaited { delegate?.peripheral(self, didOpen: nil, error: error.apiError) }
        }
    }

    /// The connection has ended, and the channels that were to be opened on it will not be: each open ends (behaviour 8.12).
    func failOpenings(_ error: ServiceError?) {
        let openings = contents.withLock { contents in
            defer { contents.openings = [] }
            return contents.openings
        }
        let error = error ?? ServiceError(.notConnected, reason: "the connection has ended")
        for _ in openings { delegate?.peripheral(self, didOpen: nil, error: error.apiError) }
    }

    private func returnCredits(_ count: Int) {
        let wasFull = contents.withLock {
            let before = $0.writeCredits
            $0.writeCredits += min(max(count, 0), ServiceLimits.writesWithoutResponse - before)
            return before == 0 && $0.writeCredits > 0
        }
        // Once for each time that the room was used up (behaviours 5.13, 5.15).
        if wasFull { delegate?.peripheralIsReady(toSendWriteWithoutResponse: self) }
    }

    /// Takes what was found into the contents; an error leaves them as they are.
    private func update<Value>(_ result: Result<Value, ServiceError>, _ change: (inout Contents, Value) -> Void) {
        guard case .success(let value) = result else { return }
        contents.withLock { change(&$0, value) }
    }

    // MARK: The attribute that an event is about

    private func service(_ handle: AttributeHandle, _ kind: StrayRequests.Kind) -> CBService? {
        contents.withLock { handle == 0 ? $0.strays.next(kind) : $0.tree.service(handle) }
    }

    private func characteristic(_ handle: AttributeHandle, _ kind: StrayRequests.Kind) -> CBCharacteristic? {
        contents.withLock { handle == 0 ? $0.strays.next(kind) : $0.tree.characteristic(handle) }
    }

    private func descriptor(_ handle: AttributeHandle, _ kind: StrayRequests.Kind) -> CBDescriptor? {
        contents.withLock { handle == 0 ? $0.strays.next(kind) : $0.tree.descriptor(handle) }
    }
}

extension CBPeripheral.Contents {
    /// Lets go of all that belongs to a connection (behaviour 3.14).
    fileprivate mutating func forgetConnection() {
        tree.removeAll()
        strays = StrayRequests()
        isAuthorizedForNotifications = false
        maximumWriteLength = 0
        writeCredits = 0
    }
}
