import BluetoothService
import BluetoothTypes
import Foundation
import Synchronization

/// What the service says to a central manager: first the objects are brought up to date, then the delegate is called.
extension CBCentralManager {
    /// Takes an event, on the queue.
    func handle(_ event: Event) {
        switch event {
        case .stateChanged(let state): receiveState(state)
        case .discovered(let info, let advertisement, let rssi):
            guard isScanning, let link else { return }
            let peripheral = registry.peripheral(for: info, link: link)
            delegate?.centralManager(
                self,
                didDiscover: peripheral,
                advertisementData: advertisement.dictionary,
                rssi: NSNumber(value: rssi)
            )
        case .connected(let info, let maximumWriteLength):
            guard let peripheral = registry.peripheral(info.identifier) else { return }
            if let name = info.name { peripheral.setName(name) }
            guard peripheral.didConnect(maximumWriteLength: maximumWriteLength) else { return }
            delegate?.centralManager(self, didConnect: peripheral)
        case .connectionFailed(let identifier, let error):
            guard let peripheral = registry.peripheral(identifier), peripheral.didDisconnect() else {
                return
            }
            delegate?.centralManager(self, didFailToConnect: peripheral, error: error.apiError)
        case .disconnected(let identifier, let error, let isReconnecting, let timestamp):
            guard let peripheral = registry.peripheral(identifier),
                peripheral.didDisconnect(isReconnecting: isReconnecting)
            else { return }
            delegate?.centralManager(
                self,
                didDisconnectPeripheral: peripheral,
                timestamp: timestamp ?? CFAbsoluteTimeGetCurrent(),
                isReconnecting: isReconnecting,
                error: error?.apiError
            )
        default:
            event.peer.flatMap { registry.peripheral($0) }?.receive(event)
        }
    }

    private func receiveState(_ state: ManagerState) {
        let state = setState(state)
        if state.rawValue < CBManagerState.poweredOn.rawValue {
            contents.withLock { $0.isScanning = false }
            for peripheral in registry.all { peripheral.reset() }
        }
        if state.rawValue < CBManagerState.poweredOff.rawValue { registry.removeAll() }
        delegate?.centralManagerDidUpdateState(self)
    }
}

extension Event {
    /// The peripheral that an event on a connection is about.
    fileprivate var peer: UUID? {
        switch self {
        case .servicesDiscovered(let peer, _), .includedServicesDiscovered(let peer, _, _),
            .characteristicsDiscovered(let peer, _, _), .descriptorsDiscovered(let peer, _, _),
            .valueUpdated(let peer, _, _), .descriptorUpdated(let peer, _, _), .valueWritten(let peer, _, _),
            .descriptorWritten(let peer, _, _), .notifyStateChanged(let peer, _, _, _), .rssiRead(let peer, _),
            .nameChanged(let peer, _), .servicesModified(let peer, _), .maximumWriteLengthChanged(let peer, _),
            .writeCreditsReturned(let peer, _):
            peer
        default:
            nil
        }
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
