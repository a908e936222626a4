import BluetoothTypes
import Foundation
import ServiceMessages
import Synchronization

/// Handling of the service's events: each updates the objects first and then calls the delegate.
extension CBCentralManager {
    /// Handles an event of the service. Called on the manager's queue. Events for the other role are ignored.
    func handle(_ event: Event) {
        switch event {
        case .stateChanged(let state): receiveState(state)
        case .central(.discovered(let info, let advertisement, let rssi)): discovered(info, advertisement, rssi)
        case .central(.peer(let identifier, let event)):
            guard let peripheral = registry.peripheral(identifier) else { return letGo(event) }
            handle(event, of: peripheral)
        case .central(.answered(let identifier, let number, let event)): answered(identifier, number, event)
        case .central(.connectionChanged(let info, let isConnected)):
            guard let link else { return }
            let peripheral = registry.peripheral(for: info, link: link)
            let event: CBConnectionEvent = isConnected ? .peerConnected : .peerDisconnected
            delegate?.centralManager(self, connectionEventDidOccur: event, for: peripheral)
            happenings.tell(.connectionChanged(peripheral, isConnected: isConnected))
        case .central(.lost(let info)):
            guard isScanning, let link else { return }
            happenings.tell(.lost(registry.peripheral(for: info, link: link)))
        case .central(.willRestore(let state)): restore(state)
        case .peripheral, .channel: break
        }
    }

    private func discovered(_ info: PeerInfo, _ advertisement: Advertisement, _ rssi: Int) {
        guard isScanning, let link else { return }
        let peripheral = registry.peripheral(for: info, link: link)
        delegate?.centralManager(
            self,
            didDiscover: peripheral,
            advertisementData: advertisement.dictionary,
            rssi: NSNumber(value: rssi)
        )
        happenings.tell(.discovered(peripheral, advertisement, rssi: rssi))
    }

    /// Handles the response to a numbered request: calls the delegate as for any other event, then the request's
    /// completion. An opened channel goes to the completion alone.
    private func answered(_ identifier: UUID, _ number: UInt32, _ event: PeerEvent) {
        guard let peripheral = registry.peripheral(identifier) else { return letGo(event) }
        guard case .channelOpened = event else {
            handle(event, of: peripheral)
            return _ = peripheral.settle(number, event)
        }
        if !peripheral.settle(number, event) { letGo(event) }
    }

    /// Closes a channel that was opened to a peripheral that the app no longer holds.
    private func letGo(_ event: PeerEvent) {
        if case .channelOpened(_, .success(let channel)) = event { link?.send(.close, on: channel) }
    }

    private func handle(_ event: PeerEvent, of peripheral: CBPeripheral) {
        switch event {
        case .connected(let name, let maximumWriteLength):
            if let name { peripheral.setName(name) }
            guard peripheral.didConnect(maximumWriteLength: maximumWriteLength) else { return }
            delegate?.centralManager(self, didConnect: peripheral)
            peripheral.happenings.tell(.connected)
        case .connectionFailed(let error):
            guard peripheral.didDisconnect() else { return }
            let error = error.apiError
            delegate?.centralManager(self, didFailToConnect: peripheral, error: error)
            peripheral.settleAll(error)
            peripheral.happenings.tell(.connectionFailed(error))
        case .disconnected(let error, let isReconnecting, let timestamp):
            guard peripheral.didDisconnect(isReconnecting: isReconnecting) else { return }
            peripheral.failOpenings(error)
            let time = timestamp ?? CFAbsoluteTimeGetCurrent()
            tellOfDisconnection(of: peripheral, at: time, isReconnecting: isReconnecting, error?.apiError)
            let ended = ServiceError(.notConnected, reason: "the connection has ended")
            peripheral.settleAll((error ?? ended).apiError)
            let end = ConnectionEnd(error: error?.apiError, isReconnecting: isReconnecting, time: time)
            peripheral.happenings.tell(.disconnected(end))
        case .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered,
            .valueRead, .valueNotified, .descriptorUpdated, .valueWritten, .descriptorWritten, .notifyStateChanged,
            .rssiRead,
            .nameChanged, .servicesModified, .maximumWriteLengthChanged, .writeCreditsReturned, .channelSoundingEnded,
            .channelOpened:
            peripheral.receive(event)
            peripheral.happenings.tell(.told(event))
        // No delegate method reports this.
        case .linkInformation: peripheral.happenings.tell(.told(event))
        case .notificationsAuthorized(let isAuthorized):
            guard peripheral.state == .connected else { return }
            peripheral.contents.withLock { $0.isAuthorizedForNotifications = isAuthorized }
            delegate?.centralManager(self, didUpdateANCSAuthorizationFor: peripheral)
            peripheral.happenings.tell(.told(event))
        }
    }

    /// Calls one of the two delegate methods for a disconnection: the one without a time or, if the delegate leaves
    /// that out, the one with it (behaviour 3.18).
    func tellOfDisconnection(
        of peripheral: CBPeripheral,
        at time: CFAbsoluteTime,
        isReconnecting: Bool,
        _ error: (any Error)?
    ) {
        guard let delegate else { return }
        let isLeftOut = LeftOutMethod.noted {
            delegate.centralManager(self, didDisconnectPeripheral: peripheral, error: error)
        }
        guard isLeftOut else { return }
        delegate.centralManager(
            self,
            didDisconnectPeripheral: peripheral,
            timestamp: time,
            isReconnecting: isReconnecting,
            error: error
        )
    }

    private func receiveState(_ state: ManagerState) {
        let state = setState(state)
        registry.isRestoring.store(false, ordering: .releasing)
        var lost: [CBPeripheral] = []
        if state.rawValue < CBManagerState.poweredOn.rawValue {
            for peripheral in registry.all {
                if peripheral.reset() { lost.append(peripheral) }
                peripheral.failOpenings(nil)
            }
            scanEnded(.lostPower(state))
        }
        if state.rawValue < CBManagerState.poweredOff.rawValue { registry.removeAll() }
        delegate?.centralManagerDidUpdateState(self)
        happenings.tell(.state(state))
        let error = ServiceError(.notConnected, reason: "the manager is no longer powered on").apiError
        for peripheral in lost { peripheral.lost(error, with: state) }
    }
}

extension Advertisement {
    /// The contents by the keys of the API, numbers as `NSNumber`. What the packet lacks has no key (behaviour 2.9).
    fileprivate var dictionary: [String: Any] {
        var data: [String: Any] = [CBAdvertisementDataIsConnectable: NSNumber(value: isConnectable)]
        data[CBAdvertisementDataLocalNameKey] = localName
        data[CBAdvertisementDataManufacturerDataKey] = manufacturerData.map { Data($0) }
        data[CBAdvertisementDataTxPowerLevelKey] = txPowerLevel.map { NSNumber(value: $0) }
        if !serviceData.isEmpty {
            let pairs = serviceData.map { (CBUUID($0), Data($1)) }
            data[CBAdvertisementDataServiceDataKey] = Dictionary(uniqueKeysWithValues: pairs)
        }
        func set(_ key: String, _ uuids: [BluetoothUUID]) {
            if !uuids.isEmpty { data[key] = uuids.map { CBUUID($0) } }
        }
        set(CBAdvertisementDataServiceUUIDsKey, serviceUUIDs)
        set(CBAdvertisementDataOverflowServiceUUIDsKey, overflowServiceUUIDs)
        set(CBAdvertisementDataSolicitedServiceUUIDsKey, solicitedServiceUUIDs)
        // Undocumented keys that apps use (behaviour 2.11).
        data["kCBAdvDataRxPrimaryPHY"] = NSNumber(value: primaryPHY)
        data["kCBAdvDataRxSecondaryPHY"] = NSNumber(value: secondaryPHY)
        data["kCBAdvDataTimestamp"] = timestamp.map { NSNumber(value: $0) }
        return data
    }
}
