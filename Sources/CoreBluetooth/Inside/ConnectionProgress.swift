/// How far the connection of one app to one peripheral has come.
///
/// What the app asks for takes effect here at once, while events arrive later and may still tell of the time before. So
/// the machine counts the cancellations whose end has not been heard of, and drops an event that a later request has
/// overtaken.
struct ConnectionProgress {
    private(set) var state = CBPeripheralState.disconnected
    /// Cancellations that no disconnection has answered yet.
    private var cancelsInFlight = 0
    /// Connect was the last request, or the system reconnects by itself.
    private var isWanted = false
    /// Connect was called on a live connection.
    private var isAskedAgain = false

    /// The app calls connect.
    mutating func connect() {
        if state == .connected {
            isAskedAgain = true
        } else {
            isWanted = true
            state = .connecting
        }
    }

    /// The app gives the connection up. Says whether there was something to give up.
    mutating func cancel() -> Bool {
        guard state == .connecting || state == .connected else { return false }
        isWanted = false
        isAskedAgain = false
        cancelsInFlight += 1
        state = .disconnecting
        return true
    }

    /// The service reports a connection. Says whether the app is to hear of it.
    mutating func didConnect() -> Bool {
        let isExpected = state == .connecting || (state == .connected && isAskedAgain)
        guard isExpected, cancelsInFlight == 0 else { return false }
        state = .connected
        isWanted = true
        isAskedAgain = false
        return true
    }

    /// The service reports that there is no connection. Says whether the app is to hear of it.
    ///
    /// - Parameters:
    ///   - byRequest: A cancellation of the app ended it. Otherwise all cancellations came too late to have an answer.
    ///   - isReconnecting: The system goes on by itself (behaviour 3.17).
    mutating func didDisconnect(byRequest: Bool, isReconnecting: Bool) -> Bool {
        guard state != .disconnected else { return false }
        let connectsAgain = isReconnecting || isAskedAgain || (cancelsInFlight > 0 && isWanted)
        cancelsInFlight = byRequest ? max(cancelsInFlight - 1, 0) : 0
        isAskedAgain = false
        isWanted = connectsAgain
        state = connectsAgain ? .connecting : cancelsInFlight > 0 ? .disconnecting : .disconnected
        return true
    }

    /// Bluetooth went off, or the manager is gone.
    mutating func reset() {
        self = ConnectionProgress()
    }
}
