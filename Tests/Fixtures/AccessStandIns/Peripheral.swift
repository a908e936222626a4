import BluetoothTypes
import GAP

/// The Peripheral role of a device without apps, for tests of what its peers do (Core Vol 3 Part C 9.2.2, 9.2.4, 9.3.2
/// to 9.3.4).
package final class Peripheral {
    /// The discoverability mode, which determines the flags in the advertising data (9.2).
    package enum Discoverability: Hashable, Sendable {
        case none
        case general
    }

    /// The connectability mode (9.3.2 to 9.3.4).
    package enum Connectability: Hashable, Sendable {
        case none
        /// Connectable by any device.
        case undirected
    }

    /// A discoverability and a connectability mode with the advertising data.
    package struct Mode: Hashable, Sendable {
        package var discoverability: Discoverability
        package var connectability: Connectability
        /// The advertising data without flags, which follow from ``discoverability``.
        package var data: AdvertisingData
        package var packets = AdvertisingConfiguration.Packets.legacy
        package var tempo = AdvertisingTempo.specification

        /// Creates a mode with legacy packets.
        package init(
            _ discoverability: Discoverability,
            _ connectability: Connectability,
            data: AdvertisingData = AdvertisingData()
        ) {
            self.discoverability = discoverability
            self.connectability = connectability
            self.data = data
        }
    }

    /// Called when the mode has been entered.
    package var onStarted: (() -> Void)? {
        get { advertising.onStarted }
        set { advertising.onStarted = newValue }
    }
    /// Called when the mode cannot be entered.
    package var onFailed: ((GAPError) -> Void)? {
        get { advertising.onFailed }
        set { advertising.onFailed = newValue }
    }
    /// Called when the mode has ended by itself.
    package var onEnded: ((AdvertisingEnd) -> Void)? {
        get { advertising.onEnded }
        set { advertising.onEnded = newValue }
    }

    private let advertising: HostAdvertisingSet

    /// Creates a peripheral, which is off, with its own advertising set.
    package init(_ access: GenericAccess) {
        advertising = access.advertiser.addSet()
    }

    /// Enters a mode in place of the current one.
    package func enter(_ mode: Mode) {
        advertising.want(mode.advertisement)
    }

    /// Leaves the mode: the device is neither discoverable nor connectable.
    package func leave() {
        advertising.want(nil)
    }
}

extension Peripheral.Mode {
    /// The advertisement for the mode.
    fileprivate var advertisement: AdvertisingConfiguration {
        var result = AdvertisingConfiguration(connectability == .none ? .nonConnectable : .connectable, data: flagged)
        (result.packets, result.tempo) = (packets, tempo)
        return result
    }

    /// The data after the flags of an LE-only device (9.2.2.2, 9.2.4.2), which come first, where other devices look for
    /// them.
    private var flagged: AdvertisingData {
        let flags: AdvertisingFlags = discoverability == .general ? .generalDiscoverable : []
        return AdvertisingData([.flags(flags.union(.classicNotSupported))]).merged(with: data)
    }
}
