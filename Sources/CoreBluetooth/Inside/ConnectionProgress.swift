/// How far the connection of one app to one peripheral has come.
///
/// What the app asks for shows here at once, while events arrive later and may still tell of the time before. Only requests
/// that change something are sent, so those that are on their way are by turns a cancellation and a connect. The end of a
/// connection, by whatever cause, is all that a cancellation can bring about, and so settles the first of them; the connect
/// behind it then takes effect.
struct ConnectionProgress {
    private enum Known {
        case disconnected
        case connecting
        case connected
    }

    /// The service's side, as far as events have told.
    private var known = Known.disconnected
    /// Requests that no event has settled yet: a cancellation, a connect, and so on.
    private var underWay = 0

    /// No connection, and none asked for.
    init() {}

    /// A connection, or one that was asked for.
    init(isConnected: Bool) {
        known = isConnected ? .connected : .connecting
    }

    /// The state that the app sees.
    var state: CBPeripheralState {
        guard underWay == 0 else { return underWay.isMultiple(of: 2) ? .connecting : .disconnecting }
        return switch known {
        case .disconnected: .disconnected
        case .connecting: .connecting
        case .connected: .connected
        }
    }

    /// The app calls connect. Says whether that is to be sent; repeating it is of no use (behaviour 3.3).
    mutating func connect() -> Bool {
        switch state {
        case .disconnected: known = .connecting
        case .disconnecting: underWay += 1
        default: return false
        }
        return true
    }

    /// The app gives the connection up. Says whether there is something to give up.
    mutating func cancel() -> Bool {
        guard state == .connecting || state == .connected else { return false }
        underWay += 1
        return true
    }

    /// The service reports a connection. Says whether the app is to hear of it: not if it has given it up by now.
    mutating func didConnect() -> Bool {
        guard known == .connecting else { return false }
        known = .connected
        return underWay == 0
    }

    /// The service reports that there is no connection, or none any more. Says whether the app is to hear of it.
    ///
    /// - Parameter isReconnecting: The system goes on by itself (behaviour 3.17), and will still find a cancellation that is
    ///   on its way.
    mutating func didDisconnect(isReconnecting: Bool) -> Bool {
        guard known != .disconnected else { return false }
        guard !isReconnecting else {
            known = .connecting
            return true
        }
        // The first cancellation is settled, and the connect behind it counts from now on.
        known = underWay > 1 ? .connecting : .disconnected
        underWay = max(underWay - 2, 0)
        return true
    }

    /// Bluetooth went off, or the manager is gone.
    mutating func reset() {
        self = ConnectionProgress()
    }
}
