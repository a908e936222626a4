import BluetoothTypes

/// Sends data to whoever listens; nobody can connect (Core Vol 3 Part C 9.1.1).
package final class Broadcaster {
    /// Called when the data are on the air.
    package var onStarted: (() -> Void)?
    /// Called when they are not and will not be.
    package var onFailed: ((GAPError) -> Void)?
    /// Called when the time for them is over.
    package var onEnded: (() -> Void)?

    private let advertising: AdvertisingSet

    /// A broadcaster that is silent, with an advertising set of its own.
    package init(_ access: GenericAccess) {
        advertising = access.advertiser.addSet()
        advertising.onStarted = { [weak self] in self?.onStarted?() }
        advertising.onFailed = { [weak self] in self?.onFailed?($0) }
        advertising.onEnded = { [weak self] _ in self?.onEnded?() }
    }

    /// What is broadcast; nil for nothing.
    package var broadcast: Advertisement? { advertising.wanted }

    /// Broadcasts, in the place of what was broadcast before.
    ///
    /// - Parameter advertisement: Non-connectable or scannable. Its flags, if it has any, must not call the device
    ///   discoverable (9.1.1.2).
    package func send(_ advertisement: Advertisement) {
        guard !advertisement.kind.isConnectable else {
            onFailed?(.impossible("nobody can connect to a broadcaster; be a peripheral for that"))
            return
        }
        guard advertisement.data.flags?.isDisjoint(with: .discoverable) ?? true else {
            onFailed?(.impossible("a broadcaster is not discoverable; leave those flags out, or be a peripheral"))
            return
        }
        advertising.want(advertisement)
    }

    /// Ends the broadcast.
    package func stop() {
        advertising.want(nil)
    }
}

extension AdvertisingFlags {
    /// The flags of the two discoverable modes.
    static let discoverable: AdvertisingFlags = [.limitedDiscoverable, .generalDiscoverable]
}
