import ATT
import BluetoothTypes

/// Serves one database to any number of clients.
///
/// Permissions and the link's security are checked before the delegate is asked (behaviour 7.38).
package final class GATTServer {
    /// What is served.
    package let database: GATTDatabase
    /// Has the values that the database does not have.
    package weak var delegate: (any GATTServerDelegate)?
    /// Where the records of bonded clients are that are not connected.
    package weak var store: (any GATTClientStore)?
    /// The clients.
    package private(set) var sessions: [GATTServerSession] = []

    /// Where Service Changed is, when the database has it.
    private(set) var serviceChanged: UInt16?

    /// A server of `database`.
    package init(database: GATTDatabase) {
        self.database = database
        findServiceChanged()
        database.onChange = { [weak self] handles in self?.databaseChanged(handles) }
    }

    /// Begins to serve the client behind `bearer`, whose server callbacks the session takes over. Call
    /// ``detach(_:)`` when the link is gone. Further bearers of the same client are added to the session.
    package func attach(_ bearer: ATTBearer, security: LinkSecurity = LinkSecurity()) -> GATTServerSession {
        let session = GATTServerSession(server: self, bearer: bearer, security: security)
        sessions.append(session)
        return session
    }

    /// Ends a client's session: it is subscribed to nothing any more, and what it prepared is forgotten.
    package func detach(_ session: GATTServerSession) {
        guard let index = sessions.firstIndex(where: { $0 === session }) else { return }
        sessions.remove(at: index)
        session.end()
    }

    /// Sends a value to subscribers, each in the way that it chose, cut to what its link carries (behaviour 7.44).
    ///
    /// - Parameter targets: the clients meant, nil for all; those that have not subscribed are left out.
    /// - Returns: false when a queue is full. Then nothing is sent to anybody, and the delegate is told when there is
    ///   room again.
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
        // The last one gets the only reference, so that headers go into the headroom.
        candidates[last].push(value, of: handle)
        return true
    }

    /// Sends several values to subscribers, together to those that know how to take them (Core Vol 3 Part G 4.10.2).
    ///
    /// - Returns: false when a queue is full; see ``update(_:of:for:)``.
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

    /// A record brought up to the database as it is now. One that belongs to another database keeps only what the client
    /// wants to know of changes, whose handle does not change (Core Vol 3 Part G 7.1).
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
