import BluetoothTypes
import CoreBluetooth
import Foundation
import ServiceMessages
import Synchronization

// Calls that wait for their outcome. The delegate is called too, and first; the calls continue after that. Every call
// ends: with `ExtrasError.notPoweredOn` when Bluetooth is switched off, and at once with `CancellationError` when its
// task is cancelled.
extension CBPeripheralManager {
    /// Waits until the manager is powered on, through all other states. Only cancellation ends the wait otherwise.
    ///
    /// - Throws: `CancellationError`.
    public func poweredOn() async throws {
        let call = Wait<Void>()
        let number = extras.add(call, to: \.powerWaits)
        // Checked after the registration, so that a change in between is not missed.
        if state == .poweredOn { call.end(nil) }
        defer { extras.state.withLock { _ = $0.powerWaits.removeValue(forKey: number) } }
        try await call.value()
    }

    /// Publishes a copy of a service, and waits until it is published (behaviour 7.2).
    ///
    /// A service that Core Bluetooth's `add(_:)` would trap for, and one that is already published, is an error; see
    /// ``CoreBluetooth/CBMutableService/validate()``. Cancellation does not remove the service.
    ///
    /// - Parameter service: The service. Publish the services that it includes first (behaviour 7.9).
    /// - Throws: ``ExtrasError/invalid(_:)``, `CBError`, ``ExtrasError/notPoweredOn(_:)`` or `CancellationError`.
    public func publish(_ service: CBMutableService) async throws {
        if let fault = service.fault { throw ExtrasError.invalid(fault) }
        guard !publishes(service) else { throw ExtrasError.invalid(.publishedAlready) }
        let call = Wait<Void>()
        let extras = extras
        var registered: LocalAttributeID?
        let isSent = publish(service) { id in
            registered = id
            extras.state.withLock { $0.additions[id] = call }
        }
        if !isSent {
            if let registered { extras.state.withLock { _ = $0.additions.removeValue(forKey: registered) } }
            throw ExtrasError.notPoweredOn(state)
        }
        try await call.value()
    }

    /// Accepts L2CAP channels from centrals, which arrive in ``channels``.
    ///
    /// If the call is cancelled, nothing stays published.
    ///
    /// - Parameter encryptionRequired: Whether a central has to be paired, and the link encrypted (behaviour 8.4).
    /// - Returns: The PSM, which the app has to pass to centrals (behaviour 8.3).
    /// - Throws: `CBError`, ``ExtrasError/notPoweredOn(_:)`` or `CancellationError`.
    public func publishChannel(withEncryption encryptionRequired: Bool) async throws -> CBL2CAPPSM {
        let call = Wait<CBL2CAPPSM>()
        let extras = extras
        let number = extras.add(call, to: \.publications)
        if !ask(.publishChannel(needsEncryption: encryptionRequired, number: number)) {
            extras.state.withLock { _ = $0.publications.removeValue(forKey: number) }
            throw ExtrasError.notPoweredOn(state)
        }
        return try await call.value()
    }

    /// Sends a new value of a characteristic to its subscribers as soon as there is room.
    ///
    /// Waiting updates are sent in order, and none is lost or cut. When the call returns, the value was passed on,
    /// which does not mean that it has been received. If it throws `CancellationError`, nothing was sent.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - characteristic: A published characteristic.
    ///   - centrals: The centrals to send to, or nil for all subscribers. Centrals that are not subscribed are skipped
    ///     (behaviour 7.42).
    /// - Throws: ``ExtrasError/tooLong(maximum:)``, ``ExtrasError/notPublished``, ``ExtrasError/notPoweredOn(_:)``,
    ///   ``ExtrasError/overflow`` if too many updates wait, or `CancellationError`.
    public func update(
        _ value: Data,
        for characteristic: CBMutableCharacteristic,
        onSubscribed centrals: [CBCentral]? = nil
    ) async throws {
        try Task.checkCancellation()
        let updates = extras.updates
        let entry = UpdateQueue.Entry(value: value, characteristic: characteristic, centrals: centrals)
        guard updates.add(entry) else { throw ExtrasError.overflow }
        updates.send(by: self)
        try await entry.call.value()
    }

    /// The number of updates, by this method or by Core Bluetooth's, that have not been passed to the controller
    /// (behaviour 15.26).
    public var pendingUpdates: Int { updatesUnderWay(for: nil) + extras.updates.count }

    /// Returns the number of updates for one central that the system has accepted and not passed to the controller. At
    /// 0, all of them are on their way to it (behaviour 15.26).
    ///
    /// - Parameter central: A central of this manager.
    public func pendingUpdates(for central: CBCentral) -> Int { updatesUnderWay(for: central) }
}

/// The times of the radio, which all apps share: those of the foreground hold while any app that scans or advertises is
/// in the foreground (behaviour 15.18).
public enum RadioTiming {
    /// The scan interval while any scanning app is in the foreground.
    public static var scanInterval: Duration { RadioTimes.scan.interval }
    /// The scan window: half of ``scanInterval``.
    public static var scanWindow: Duration { RadioTimes.scan.window }
    /// The scan interval while all scanning apps are in the background (behaviour 9.8).
    public static var backgroundScanInterval: Duration { RadioTimes.backgroundScan.interval }
    /// The scan window while all scanning apps are in the background (behaviour 9.8).
    public static var backgroundScanWindow: Duration { RadioTimes.backgroundScan.window }
    /// The advertising interval while all advertising apps are in the background (behaviour 7.24).
    public static var backgroundAdvertisingInterval: Duration { RadioTimes.backgroundAdvertising }
    /// The advertising interval during the first ``fastAdvertisingPeriod``, without the random delay of up to 10 ms
    /// (Core Vol 6 Part B 4.4.2.2).
    public static var advertisingInterval: Duration { RadioTimes.advertising.first }
    /// The time for which advertising stays at ``advertisingInterval``.
    public static var fastAdvertisingPeriod: Duration { RadioTimes.fastAdvertising }
    /// The advertising interval after ``fastAdvertisingPeriod``.
    public static var laterAdvertisingInterval: Duration { RadioTimes.advertising.later }
    /// The connection interval of links that this system creates, until the peripheral asks for another.
    public static var connectionInterval: Duration { RadioTimes.connectionInterval }
    /// The time after which a scan without duplicates reports a peripheral again: nil, which means never, apart from
    /// its scan response (behaviours 2.3, 2.15). A new scan reports all peripherals again.
    public static var reportInterval: Duration? { nil }
}
