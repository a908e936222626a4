import BluetoothTypes
import Foundation
import ServiceMessages
import Synchronization

extension CBPeripheralManager {
    /// Restores the published services and their subscribers of a manager whose app has ended, and calls the delegate
    /// (behaviour 10.12).
    func restore(_ state: RestoredPeripheral) {
        let services = contents.withLock { contents in state.services.map { contents.published.adopt($0) } }
        for subscription in state.subscriptions {
            let characteristic = contents.withLock { $0.published.characteristic(subscription.characteristic) }
            characteristic?.setSubscribed(central(subscription.central), true)
        }
        var restored: [String: Any] = [:]
        if !services.isEmpty { restored[CBPeripheralManagerRestoredStateServicesKey] = services }
        if let advertising = state.advertising {
            contents.withLock {
                $0.wantsAdvertising = true
                $0.isAdvertising = true
            }
            restored[CBPeripheralManagerRestoredStateAdvertisementDataKey] = advertising.data
        }
        delegate?.peripheralManager(self, willRestoreState: restored)
    }
}

extension AdvertisingRequest {
    /// The advertised data, by the keys of the API.
    fileprivate var data: [String: Any] {
        var data: [String: Any] = [:]
        data[CBAdvertisementDataLocalNameKey] = localName
        if !services.isEmpty { data[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0) } }
        return data
    }
}
