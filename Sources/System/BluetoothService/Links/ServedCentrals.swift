import ATT
import Foundation
import GATT
import ServiceMessages

/// The attribute server of this system, with its sessions and the central that each of them serves. Used on the loop
/// only.
final class ServedCentrals {
    let server: GATTServer
    private var centrals: [ObjectIdentifier: UUID] = [:]
    private var sessions: [UUID: GATTServerSession] = [:]

    init(_ server: GATTServer) {
        self.server = server
    }

    func attach(_ session: GATTServerSession, of central: UUID) {
        centrals[ObjectIdentifier(session)] = central
        sessions[central] = session
    }

    /// Removes a session that has ended, and with it its subscriptions (behaviour 7.40).
    func forget(_ session: GATTServerSession) {
        if let central = centrals.removeValue(forKey: ObjectIdentifier(session)), sessions[central] === session {
            sessions[central] = nil
        }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds when a session has ended.
    private var brokenInvariant: String? {
        sessions.allSatisfy { centrals[ObjectIdentifier($1)] == $0 }
            ? nil : "a session serves another central than it is registered for"
    }

    /// Returns the sessions of those centrals that are connected, without duplicates (behaviours 7.42, 7.52).
    func sessions(of centrals: [UUID]) -> [GATTServerSession] {
        var seen: Set<UUID> = []
        return centrals.compactMap { seen.insert($0).inserted ? sessions[$0] : nil }
    }

    /// The centrals that have subscribed to the value at `handle`, in a stable order.
    func subscribers(of handle: UInt16) -> [CentralInfo] {
        sessions.values.filter { $0.configurations[handle]?.isEmpty == false }.compactMap(central).sorted {
            $0.identifier.uuidString < $1.identifier.uuidString
        }
    }

    func central(_ session: GATTServerSession) -> CentralInfo? {
        centrals[ObjectIdentifier(session)].map {
            CentralInfo(identifier: $0, maximumUpdateLength: session.bearer.mtu - 3)
        }
    }
}
