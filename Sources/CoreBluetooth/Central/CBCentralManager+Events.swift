import BluetoothService
import BluetoothTypes
import Foundation
import Synchronization

/// What the service says to a central manager: first the objects are brought up to date, then the delegate is called.
extension CBCentralManager {
    /// Takes an event, on the queue. One of the other role is for nobody.
    func handle(_ event: Event) {
        switch event {
        case .stateChanged(let state): receiveState(state)
        case .central(.discovered(let info, let advertisement, let rssi)): discovered(info, advertisement, rssi)
        case .central(.peer(let identifier, let event)):
            guard let peripheral = registry.peripheral(identifier) else { return letGo(event) }
            handle(event, of: peripheral)
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
    }

    /// Nobody has the peripheral any more that a channel was opened to.
    private func letGo(_ event: PeerEvent) {
        if case .channelOpened(_, .success(let channel)) = event { link?.send(.close, on: channel) }
    }

    private func handle(_ event: PeerEvent, of peripheral: CBPeripheral) {
        switch event {
        case .connected(let name, let maximumWriteLength):
            if let name { peripheral.setName(name) }
            guard peripheral.didConnect(maximumWriteLength: maximumWriteLength) else { return }
            delegate?.centralManager(self, didConnect: peripheral)
        case .connectionFailed(let error):
            guard peripheral.didDisconnect() else { return }
            delegate?.centralManager(self, didFailToConnect: peripheral, error: error.apiError)
        case .disconnected(let error, let isReconnecting, let timestamp):
            guard peripheral.didDisconnect(isReconnecting: isReconnecting) else { return }
            peripheral.failOpenings(error)
            delegate?.centralManager(
                self,
                didDisconnectPeripheral: peripheral,
                timestamp: timestamp ?? CFAbsoluteTimeGetCurrent(),
                isReconnecting: isReconnecting,
                error: error?.apiError
            )
        case .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered,
            .valueUpdated, .descriptorUpdated, .valueWritten, .descriptorWritten, .notifyStateChanged, .rssiRead,
            .nameChanged, .servicesModified, .maximumWriteLengthChanged, .writeCreditsReturned, .channelOpened:
            peripheral.receive(event)
        }
    }

    private func receiveState(_ state: ManagerState) {
        let state = setState(state)
        if state.rawValue < CBManagerState.poweredOn.rawValue {
            contents.withLock { $0.isScanning = false }
            for peripheral in registry.all {
                peripheral.reset()
                peripheral.failOpenings(nil)
            }
        }
        if state.rawValue < CBManagerState.poweredOff.rawValue { registry.removeAll() }
        delegate?.centralManagerDidUpdateState(self)
    }
}

extension Advertisement {
    /// The values by the keys of the API, a number always as `NSNumber`; what is not there has no key (behaviour 2.9).
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
        return data
    }
}
