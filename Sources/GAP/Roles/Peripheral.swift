import BluetoothTypes

/// Lets others find this device and connect to it: the discoverability and connectability modes (Core Vol 3 Part C 9.2.2 to
/// 9.2.4, 9.3.2 to 9.3.4).
package final class Peripheral {
    /// Whether others find the device when they look for devices.
    package enum Discoverability: Hashable, Sendable {
        /// They do not.
        case none
        /// They do for a limited time, ``GAPTimer/limitedDiscoverable`` at most; then advertising ends.
        case limited(Duration)
        /// They do.
        case general
    }

    /// Whether others can connect.
    package enum Connectability: Hashable, Sendable {
        /// They cannot.
        case none
        /// One of them can.
        case directed(BluetoothAddress, isHighDutyCycle: Bool)
        /// They can.
        case undirected
    }

    /// A mode of each kind, and what is advertised in them.
    package struct Mode: Hashable, Sendable {
        /// Whether others find the device.
        package var discoverability: Discoverability
        /// Whether others can connect.
        package var connectability: Connectability
        /// The data without flags, which follow from ``discoverability``.
        package var data: AdvertisingData
        /// What those who ask are told besides.
        package var scanResponse: AdvertisingData
        /// What is sent.
        package var packets = Advertisement.Packets.legacy
        /// How often.
        package var tempo = AdvertisingTempo.specification

        /// Modes with legacy packets.
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
    package var onStarted: (() -> Void)?
    /// Called when it cannot be.
    package var onFailed: ((GAPError) -> Void)?
    /// Called when it has ended by itself: somebody connected, or its time is over.
    package var onEnded: ((AdvertisingEnd) -> Void)?

    private let advertising: AdvertisingSet

    /// A peripheral that is silent, with an advertising set of its own.
    package init(_ access: GenericAccess) {
        advertising = access.advertiser.addSet()
        advertising.onStarted = { [weak self] in self?.onStarted?() }
        advertising.onFailed = { [weak self] in self?.onFailed?($0) }
        advertising.onEnded = { [weak self] in self?.onEnded?($0) }
    }

    /// Enters modes, in the place of those before.
    package func enter(_ mode: Mode) {
        do throws(GAPError) {
            advertising.want(try mode.advertisement())
        } catch {
            advertising.want(nil)
            onFailed?(error)
        }
    }

    /// Is neither found nor connected to any more.
    package func leave() {
        advertising.want(nil)
    }
}

extension Peripheral.Mode {
    /// What is put on the air.
    func advertisement() throws(GAPError) -> Advertisement {
        guard data.flags == nil else { throw .impossible("the flags follow from the mode; leave them out of the data") }
        if case .directed(let peer, let isHighDutyCycle) = connectability {
            guard discoverability == .none else {
                throw .impossible("advertising for one device is not for others to discover")
            }
            return prepared(.directed(peer, isHighDutyCycle: isHighDutyCycle), data: data)
        }
        // The flags stand first, where others look for them.
        let flagged = AdvertisingData([.flags(flags)]).merged(with: data)
        guard connectability == .none else { return prepared(.connectable, data: flagged) }
        return prepared(scanResponse.isEmpty ? .nonConnectable : .scannable, data: flagged)
    }

    private func prepared(_ kind: Advertisement.Kind, data: AdvertisingData) -> Advertisement {
        var result = Advertisement(kind, data: data, scanResponse: scanResponse)
        result.packets = packets
        result.tempo = tempo
        if case .limited(let time) = discoverability { result.limit = min(time, GAPTimer.limitedDiscoverable) }
        return result
    }

    /// What a device without Bluetooth Classic says of its mode (Core Vol 3 Part C 9.2.2.2, 9.2.3.2, 9.2.4.2).
    private var flags: AdvertisingFlags {
        switch discoverability {
        case .none: .classicNotSupported
        case .limited: [.limitedDiscoverable, .classicNotSupported]
        case .general: [.generalDiscoverable, .classicNotSupported]
        }
    }
}
