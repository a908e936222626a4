import BluetoothTypes
import Foundation

// MARK: - Restoration

extension PeripheralSession {
    /// See ``ManagerSession/wishes``.
    var wishes: [Request] {
        publishedServices.map { .peripheral(.addService($0)) }
            + [advertisedRequest].compactMap { $0 }.map { .peripheral(.startAdvertising($0)) }
    }

    /// See ``ManagerSession/resume(_:)``. Services that are still published, and their advertising, continue by
    /// themselves (behaviour 1.13).
    func resume(_ wishes: [Request]) {
        guard publishedServices.isEmpty, !wishes.isEmpty else { return }
        isResuming = true
        for wish in wishes { handle(wish) }
        isResuming = false
    }

    /// See ``ManagerSession/preserve()``. Pending requests of centrals wait for the next process (behaviour 10.4).
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
                RestoredPeripheral(
                    services: published,
                    subscriptions: Array(subscriptions.prefix(ServiceLimits.restoredSubscriptions)),
                    advertising: advertisedRequest
                )
            )
        )
    }
}
