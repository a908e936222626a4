import BluetoothTypes

/// The Peripheral role: the discoverability and connectability modes (Core Vol 3 Part C 9.2.2 to 9.2.4, 9.3.2 to
/// 9.3.4).
package final class Peripheral {
    /// The discoverability mode, which determines the flags in the advertising data (9.2).
    package enum Discoverability: Hashable, Sendable {
        /// Non-discoverable mode (9.2.2).
        case none
        /// Limited discoverable, for at most ``GAPTimer/limitedDiscoverable``. Then advertising ends.
        case limited(Duration)
        /// General discoverable mode (9.2.4).
        case general
    }

    /// The connectability mode (9.3.2 to 9.3.4).
    package enum Connectability: Hashable, Sendable {
        /// Non-connectable mode (9.3.2).
        case none
        /// Connectable by one device.
        case directed(BluetoothAddress, isHighDutyCycle: Bool)
        /// Connectable by any device.
        case undirected
    }

    /// A discoverability and a connectability mode with the advertising data.
    package struct Mode: Hashable, Sendable {
        package var discoverability: Discoverability
        package var connectability: Connectability
        /// The advertising data without flags, which follow from ``discoverability``.
        package var data: AdvertisingData
        /// The scan response data.
        package var scanResponse: AdvertisingData
        /// The packet format, legacy by default.
        package var packets = AdvertisingConfiguration.Packets.legacy
        /// The advertising intervals; by default those that the specification recommends.
        package var tempo = AdvertisingTempo.specification

        /// Creates a mode with legacy packets.
        package init(
            _ discoverability: Discoverability,
            _ connectability: Connectability,
            data: AdvertisingData = AdvertisingData(),
            scanResponse: AdvertisingData = AdvertisingData()
        ) {
            self.discoverability = discoverability
            self.connectability = connectability
            self.data = data
            self.scanResponse = scanResponse
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
    /// Called when the mode has ended by itself: a device connected, or the time limit was reached.
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
        do throws(GAPError) {
            advertising.want(try mode.advertisement())
        } catch {
            advertising.want(nil)
            onFailed?(error)
        }
    }

    /// Leaves the mode: the device is neither discoverable nor connectable.
    package func leave() {
        advertising.want(nil)
    }
}

extension Peripheral.Mode {
    /// The advertisement for the mode.
    func advertisement() throws(GAPError) -> AdvertisingConfiguration {
        guard data.flags == nil else { throw .impossible("the mode determines the flags; omit them from the data") }
        if case .directed(let peer, let isHighDutyCycle) = connectability {
            guard discoverability == .none else {
                throw .impossible("directed advertising cannot be discoverable; use another mode")
            }
            return prepared(.directed(peer, isHighDutyCycle: isHighDutyCycle), data: data)
        }
        // Flags come first, where other devices look for them.
        let flagged = AdvertisingData([.flags(flags)]).merged(with: data)
        guard connectability == .none else { return prepared(.connectable, data: flagged) }
        return prepared(scanResponse.isEmpty ? .nonConnectable : .scannable, data: flagged)
    }

    private func prepared(_ kind: AdvertisingConfiguration.Kind, data: AdvertisingData) -> AdvertisingConfiguration {
        var result = AdvertisingConfiguration(kind, data: data, scanResponse: scanResponse)
        result.packets = packets
        result.tempo = tempo
        if case .limited(let time) = discoverability { result.limit = min(time, GAPTimer.limitedDiscoverable) }
        return result
    }

    /// The flags of an LE-only device in this mode (Core Vol 3 Part C 9.2.2.2, 9.2.3.2, 9.2.4.2).
    private var flags: AdvertisingFlags {
        switch discoverability {
        case .none: .classicNotSupported
        case .limited: [.limitedDiscoverable, .classicNotSupported]
        case .general: [.generalDiscoverable, .classicNotSupported]
        }
    }
}
