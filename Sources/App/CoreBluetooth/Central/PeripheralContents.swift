import ServiceMessages

/// The state of a ``CBPeripheral``, kept in its mutex.
struct PeripheralContents: @unchecked Sendable {
    // Safe: the delegate belongs to the app and is called on the manager's queue alone, as the app expects.
    weak var delegate: (any CBPeripheralDelegate)?
    var name: String?
    var rssi: Int?
    var tree = AttributeTree()
    var pending = PendingRequests()
    var ledger = RequestLedger()
    private var connection = ConnectionProgress()
    /// The longest value of a write without response, in octets.
    private(set) var maximumWriteLength = 0
    /// The number of writes without response that the service accepts before it returns credits (behaviour 5.14).
    private(set) var writeCredits = 0
    private(set) var isAuthorizedForNotifications = false
    /// The PSMs of pending channel openings, in the order of asking.
    private var openings: [CBL2CAPPSM] = []

    // MARK: Connection

    var state: CBPeripheralState { connection.state }

    /// Records that the app connects. Returns whether to send the request to the service.
    mutating func connect() -> Bool { connection.connect() }

    mutating func cancel() -> Bool { connection.cancel() }

    /// Records the connection. Returns whether to call the delegate.
    mutating func didConnect(maximumWriteLength: Int) -> Bool {
        guard connection.didConnect() else { return false }
        allowWrites(upTo: maximumWriteLength)
        return true
    }

    /// Records the disconnection. Returns whether to call the delegate.
    mutating func didDisconnect(isReconnecting: Bool) -> Bool {
        guard connection.didDisconnect(isReconnecting: isReconnecting) else { return false }
        forgetConnection()
        return true
    }

    /// Resets to disconnected. Returns whether there was a connection or an attempt.
    mutating func reset() -> Bool {
        defer {
            connection.reset()
            forgetConnection()
        }
        return state != .disconnected
    }

    /// Restores the connection or the attempt that the app had when it ended. Nil stands for an attempt.
    mutating func restoreConnection(maximumWriteLength: Int?) {
        connection = ConnectionProgress(isConnected: maximumWriteLength != nil)
        if let maximumWriteLength { allowWrites(upTo: maximumWriteLength) }
    }

    /// Drops all state that belongs to a connection (behaviour 3.14).
    private mutating func forgetConnection() {
        tree.removeAll()
        pending = PendingRequests()
        isAuthorizedForNotifications = false
        maximumWriteLength = 0
        writeCredits = 0
    }

    mutating func setAuthorizedForNotifications(_ isAuthorized: Bool) {
        isAuthorizedForNotifications = isAuthorized
    }

    // MARK: Writes without response

    /// Allows writes with all credits, which are possible from the start (behaviour 5.15).
    private mutating func allowWrites(upTo length: Int) {
        maximumWriteLength = length
        writeCredits = ServiceLimits.writesWithoutResponse
    }

    mutating func limitWrites(to length: Int) {
        maximumWriteLength = length
    }

    /// Uses a credit for a write. Returns false if there is none.
    mutating func useWriteCredit() -> Bool {
        guard writeCredits > 0 else { return false }
        writeCredits -= 1
        return true
    }

    /// Adds the credits that the service returns. Returns whether there were none before.
    mutating func returnWriteCredits(_ count: Int) -> Bool {
        let before = writeCredits
        writeCredits += min(max(count, 0), ServiceLimits.writesWithoutResponse - before)
        return before == 0 && writeCredits > 0
    }

    // MARK: Channels

    mutating func addOpening(of psm: CBL2CAPPSM) {
        openings.append(psm)
    }

    /// Removes a pending opening. Returns whether there was one of this PSM.
    mutating func removeOpening(of psm: CBL2CAPPSM) -> Bool {
        guard let index = openings.firstIndex(of: psm) else { return false }
        openings.remove(at: index)
        return true
    }

    /// Removes the pending openings. Returns their number.
    mutating func removeOpenings() -> Int {
        defer { openings = [] }
        return openings.count
    }
}
