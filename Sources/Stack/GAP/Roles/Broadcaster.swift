import BluetoothTypes

/// The Broadcaster role: sends data by non-connectable advertising (Core Vol 3 Part C 9.1.1).
package final class Broadcaster {
    /// Called when the broadcast has started.
    package var onStarted: (() -> Void)? {
        get { advertising.onStarted }
        set { advertising.onStarted = newValue }
    }
    /// Called when the broadcast could not be started.
    package var onFailed: ((GAPError) -> Void)? {
        get { advertising.onFailed }
        set { advertising.onFailed = newValue }
    }
    /// Called when the broadcast has reached its time limit.
    package var onEnded: (() -> Void)?

    private let advertising: HostAdvertisingSet

    /// Creates a broadcaster, which is off, with its own advertising set.
    package init(_ access: GenericAccess) {
        advertising = access.advertiser.addSet()
        advertising.onEnded = { [weak self] _ in self?.onEnded?() }
    }

    /// The current broadcast; nil if there is none.
    package var broadcast: AdvertisingConfiguration? { advertising.wanted }

    /// Starts a broadcast in place of the current one.
    ///
    /// - Parameter advertisement: Non-connectable or scannable. Its flags, if any, must not declare the device
    ///   discoverable (9.1.1.2).
    package func send(_ advertisement: AdvertisingConfiguration) {
        guard !advertisement.kind.isConnectable else {
            onFailed?(.impossible("a broadcast cannot be connectable; use the Peripheral role instead"))
            return
        }
        guard advertisement.data.flags?.isDisjoint(with: .discoverable) ?? true else {
            onFailed?(.impossible("a broadcast cannot be discoverable; omit those flags, or use the Peripheral role"))
            return
        }
        advertising.want(advertisement)
    }

    /// Stops the broadcast, without a call of ``onEnded``.
    package func stop() {
        advertising.want(nil)
    }
}

extension AdvertisingFlags {
    static let discoverable: AdvertisingFlags = [.limitedDiscoverable, .generalDiscoverable]
}
