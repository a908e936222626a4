import BluetoothTypes
import Foundation

// MARK: - Restoration

extension PeripheralSession {
    /// See ``ManagerSession/preserve()``. Centrals that wait for an answer wait for the next process (behaviour 10.4).
    func preserve() -> Event {
        forgetProcess()
        let published = publishedServices
        let subscriptions = published.flatMap(\.characteristics).flatMap { characteristic in
            subscribers(of: characteristic.id).map {
                RestoredSubscription(central: $0, characteristic: characteristic.id)
            }
        }
        return .peripheral(
            .willRestore(
                RestoredPeripheral(services: published, subscriptions: subscriptions, advertising: advertisedRequest)
            )
        )
    }
}
