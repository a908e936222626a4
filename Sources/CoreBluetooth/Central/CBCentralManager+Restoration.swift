import BluetoothTypes
import Foundation
import ServiceMessages
import Synchronization

extension CBCentralManager {
    /// Restores the peripherals and the scan of a manager whose app has ended, and calls the delegate (behaviours 10.8
    /// to 10.10).
    func restore(_ state: RestoredCentral) {
        guard let link else { return }
        registry.isRestoring.store(true, ordering: .releasing)
        let peripherals = state.peers.map { peer in
            let peripheral = registry.peripheral(for: peer.info, link: link)
            peripheral.restore(peer)
            return peripheral
        }
        var restored: [String: Any] = [:]
        if !peripherals.isEmpty { restored[CBCentralManagerRestoredStatePeripheralsKey] = peripherals }
        if let scan = state.scan {
            contents.withLock {
                $0.isScanning = true
                $0.scanNumber += 1
            }
            restored[CBCentralManagerRestoredStateScanServicesKey] = scan.services?.map { CBUUID($0) }
            restored[CBCentralManagerRestoredStateScanOptionsKey] = scan.options
        }
        delegate?.centralManager(self, willRestoreState: restored)
    }
}

extension ScanRequest {
    /// The options of the scan, by the keys of the API.
    fileprivate var options: [String: Any] {
        var options: [String: Any] = [CBCentralManagerScanOptionAllowDuplicatesKey: NSNumber(value: allowsDuplicates)]
        if !solicitedServices.isEmpty {
            options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = solicitedServices.map { CBUUID($0) }
        }
        return options
    }
}

extension CBPeripheral {
    /// Restores the peripheral to its state when the app ended.
    fileprivate func restore(_ peer: RestoredPeer) {
        contents.withLock { contents in
            contents.connection = ConnectionProgress(isConnected: peer.maximumWriteWithoutResponse != nil)
            guard let length = peer.maximumWriteWithoutResponse else { return }
            contents.maximumWriteLength = length
            contents.writeCredits = ServiceLimits.writesWithoutResponse
            // The list is nil until a discovery has succeeded (behaviour 4.3).
            if !peer.services.isEmpty { contents.tree.restore(peer.services, of: self) }
        }
    }
}

extension AttributeTree {
    fileprivate mutating func restore(_ found: [RestoredService], of peripheral: CBPeripheral) {
        add(services: found.map(\.service), of: peripheral)
        for found in found {
            guard let service = service(found.service.handle) else { continue }
            if !found.includedServices.isEmpty {
                add(includedServices: found.includedServices, to: service, of: peripheral)
            }
            guard !found.characteristics.isEmpty else { continue }
            add(characteristics: found.characteristics.map(\.characteristic), to: service)
            for found in found.characteristics {
                guard let characteristic = characteristic(found.characteristic.handle) else { continue }
                characteristic.setNotifying(found.isNotifying)
                if !found.descriptors.isEmpty { add(descriptors: found.descriptors, to: characteristic) }
            }
        }
    }
}
