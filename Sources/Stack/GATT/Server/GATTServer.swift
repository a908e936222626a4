import ATT
import BluetoothTypes

/// A GATT server that serves one database to any number of clients.
///
/// Permissions and link security are checked before the delegate is called (behaviour 7.38).
package final class GATTServer {
    package let database: GATTDatabase
    /// Provides the values that the database does not store.
    package weak var delegate: (any GATTServerDelegate)?
    private weak var store: (any GATTClientStore)?
    package private(set) var sessions: [GATTServerSession] = []

    private(set) var serviceChanged: UInt16?

    package init(database: GATTDatabase) {
        self.database = database
        findServiceChanged()
        database.onChange = { [weak self] handles in self?.databaseChanged(handles) }
    }

    /// Keeps the records of bonded clients in a store, which is held weakly; nil to keep none.
    package func keepRecords(in store: (any GATTClientStore)?) {
        self.store = store
    }

    /// Starts a session with the client behind `bearer` and replaces the bearer's server callbacks. Call ``detach(_:)``
    /// when the link is gone. Add further bearers of the same client to the session.
    package func attach(_ bearer: ATTBearer) -> GATTServerSession {
        let session = GATTServerSession(server: self, bearer: bearer)
        sessions.append(session)
        return session
    }

    /// Ends a client's session: its subscriptions end, and its prepared writes are discarded.
    package func detach(_ session: GATTServerSession) {
        guard let index = sessions.firstIndex(where: { $0 === session }) else { return }
        sessions.remove(at: index)
        session.end()
    }

    /// Sends a value to subscribers, by notification or indication as each has configured, truncated to what its link
    /// carries (behaviour 7.44).
    ///
    /// - Parameter targets: The clients to send to; nil for all. Clients that have not subscribed are skipped.
    /// - Returns: False if a queue is full. Then the value is sent to no client, and the delegate is called when there
    ///   is room.
    package func update(
        _ value: consuming PacketBuffer,
        of handle: UInt16,
        for targets: [GATTServerSession]? = nil
    ) -> Bool {
        let candidates = targets ?? sessions
        for session in candidates { session.askForSecurity(toSend: handle) }
        guard candidates.allSatisfy({ !$0.wants(handle) || $0.valueBearer.askForNotificationRoom() }) else {
            return false
        }
        guard let last = candidates.lastIndex(where: { $0.wants(handle) }) else { return true }
        for session in candidates[..<last] where session.wants(handle) {
            session.push(copy value, of: handle)
        }
        // Passes the only reference to the last session, so that headers go into the buffer's headroom.
        candidates[last].push(value, of: handle)
        return true
    }

    /// Sends several values to subscribers, combined for those that support it (Core Vol 3 Part G 4.10.2). Returns
    /// false if a queue is full; see ``update(_:of:for:)``.
    package func update(
        _ values: [(handle: UInt16, value: PacketBuffer)],
        for targets: [GATTServerSession]? = nil
    ) -> Bool {
        for session in targets ?? sessions {
            for (handle, _) in values { session.askForSecurity(toSend: handle) }
        }
        let interested = (targets ?? sessions).filter { session in values.contains { session.wants($0.handle) } }
        guard interested.allSatisfy({ $0.valueBearer.askForNotificationRoom() }) else { return false }
        for session in interested { session.push(values) }
        return true
    }

    private func databaseChanged(_ handles: ClosedRange<UInt16>) {
        findServiceChanged()
        for session in sessions { session.databaseChanged(handles) }
        if let store {
            let hash = database.hash
            store.updateRecords { $0.databaseChanged(handles, hash: hash) }
        }
    }

    /// Updates a record to the current database. A record of another database keeps only the subscription to Service
    /// Changed, whose handle does not change (Core Vol 3 Part G 7.1).
    func upToDate(_ record: ClientRecord) -> ClientRecord {
        let hash = database.hash
        guard let known = record.databaseHash, known != hash else { return record }
        var record = record
        let kept = record.configurations.filter { $0.key == serviceChanged }
        record.databaseChanged(1...UInt16.max, hash: hash)
        record.configurations = kept
        return record
    }

    private func findServiceChanged() {
        serviceChanged = database.attributes.first { $0.type == GATTUUID.serviceChanged }?.handle
    }
}
