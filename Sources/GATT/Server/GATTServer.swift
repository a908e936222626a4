import ATT
import BluetoothTypes

/// Serves one database to any number of clients.
///
/// Permissions and the link's security are checked before the delegate is asked (behaviour 7.38).
public final class GATTServer {
    /// What is served.
    public let database: GATTDatabase
    /// Has the values that the database does not have.
    public weak var delegate: (any GATTServerDelegate)?
    /// The clients.
    public private(set) var sessions: [GATTServerSession] = []

    /// Where Service Changed is, when the database has it.
    private(set) var serviceChanged: UInt16?

    /// A server of `database`.
    public init(database: GATTDatabase) {
        self.database = database
        findServiceChanged()
        database.onChange = { [weak self] handles in self?.databaseChanged(handles) }
    }

    /// Begins to serve the client behind `bearer`, whose server callbacks the session takes over. Call
    /// ``detach(_:)`` when the link is gone. Further bearers of the same client are added to the session.
    ///
    /// - Parameter configurations: what a bonded client chose on an earlier connection, by the handles of the values.
    public func attach(
        _ bearer: ATTBearer,
        security: LinkSecurity = LinkSecurity(),
        configurations: [UInt16: ClientConfiguration] = [:]
    ) -> GATTServerSession {
        let session = GATTServerSession(
            server: self,
            bearer: bearer,
            security: security,
            configurations: configurations
        )
        sessions.append(session)
        return session
    }

    /// Ends a client's session: it is subscribed to nothing any more, and what it prepared is forgotten.
    public func detach(_ session: GATTServerSession) {
        guard let index = sessions.firstIndex(where: { $0 === session }) else { return }
        sessions.remove(at: index)
        session.end()
    }

    /// Sends a value to subscribers, each in the way that it chose, cut to what its link carries (behaviour 7.44).
    ///
    /// - Parameter targets: the clients meant, nil for all; those that have not subscribed are left out.
    /// - Returns: false when a queue is full. Then nothing is sent to anybody, and the delegate is told when there is
    ///   room again.
    public func update(
        _ value: consuming PacketBuffer,
        of handle: UInt16,
        for targets: [GATTServerSession]? = nil
    ) -> Bool {
        let candidates = targets ?? sessions
        guard candidates.allSatisfy({ !$0.wants(handle) || $0.valueBearer.askForNotificationRoom() }) else { return false }
        guard let last = candidates.lastIndex(where: { $0.wants(handle) }) else { return true }
        for session in candidates[..<last] where session.wants(handle) {
            session.push(copy value, of: handle)
        }
        // The last one gets the only reference, so that headers go into the headroom.
        candidates[last].push(value, of: handle)
        return true
    }

    private func databaseChanged(_ handles: ClosedRange<UInt16>) {
        findServiceChanged()
        for session in sessions { session.databaseChanged(handles) }
    }

    private func findServiceChanged() {
        serviceChanged = database.attributes.first { $0.type == GATTUUID.serviceChanged }?.handle
    }
}
