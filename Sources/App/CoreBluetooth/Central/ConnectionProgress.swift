/// The state machine of one app's connection to one peripheral.
///
/// The app's requests take effect here at once. Events arrive later and may still describe the time before. Only
/// requests that change something are sent, so pending requests alternate: a cancellation, a connect, and so on. A
/// cancellation can only lead to the end of the connection. That event, whatever its cause, settles the first pending
/// cancellation, and the connect behind it then takes effect.
struct ConnectionProgress {
    private enum Known {
        case disconnected
        case connecting
        case connected
    }

    /// The state of the service, as reported by events.
    private var known = Known.disconnected
    /// The number of requests that no event has settled yet: a cancellation, a connect, and so on.
    private var underWay = 0

    init() {}

    init(isConnected: Bool) {
        known = isConnected ? .connected : .connecting
    }

    /// The state as the app sees it.
    var state: CBPeripheralState {
        guard underWay == 0 else { return underWay.isMultiple(of: 2) ? .connecting : .disconnecting }
        return switch known {
        case .disconnected: .disconnected
        case .connecting: .connecting
        case .connected: .connected
        }
    }

    /// Records that the app connects. Returns whether to send the request: repeating it has no effect (behaviour 3.3).
    mutating func connect() -> Bool {
        switch state {
        case .disconnected: known = .connecting
        case .disconnecting: underWay += 1
        default: return false
        }
        return true
    }

    mutating func cancel() -> Bool {
        guard state == .connecting || state == .connected else { return false }
        underWay += 1
        return true
    }

    /// Records that the service reports a connection. Returns whether to tell the app: not if it has cancelled
    /// meanwhile.
    mutating func didConnect() -> Bool {
        guard known == .connecting else { return false }
        known = .connected
        return underWay == 0
    }

    /// Records that the service reports the end of the connection or attempt. Returns whether to tell the app.
    ///
    /// - Parameter isReconnecting: Whether the system connects again by itself (behaviour 3.17). A cancellation that is
    ///   on its way still applies then.
    mutating func didDisconnect(isReconnecting: Bool) -> Bool {
        guard known != .disconnected else { return false }
        guard !isReconnecting else {
            known = .connecting
            return true
        }
        // The first cancellation is settled, and the connect behind it takes effect.
        known = underWay > 1 ? .connecting : .disconnected
        underWay = max(underWay - 2, 0)
        return true
    }

    mutating func reset() {
        self = ConnectionProgress()
    }
}
