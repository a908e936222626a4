import ATT
import BluetoothTypes
import Foundation
import GATT
import ServiceMessages

/// The attribute table of this system: the services of all apps in one database (behaviour 7.11), and the app that owns
/// each attribute.
final class LocalAttributes: AttributeServer {
    private struct Owner {
        let session: PeripheralSession
        let id: LocalAttributeID
    }

    let server: GATTServer
    private var owners: [UInt16: Owner] = [:]
    private var centrals: [ObjectIdentifier: UUID] = [:]
    private var sessions: [UUID: GATTServerSession] = [:]
    /// Called when queues that were full have room again.
    var onRoom: (() -> Void)?
    /// Called when the record of a central has changed. It is stored if the central is bonded.
    var onRecord: ((UUID, ClientRecord) -> Void)?

    /// Creates the table with the system's own services (behaviour 7.14).
    init(name: String, appearance: UInt16, features: ServerFeatures) {
        let database = GATTDatabase()
        server = GATTServer(database: database)
        // An empty database has room for two small services.
        _ = try? database.add(.genericAccess(deviceName: name, appearance: appearance))
        _ = try? database.add(.genericAttribute(features: features))
        server.delegate = self
    }

    // MARK: Publishing

    /// Publishes a service of `session`.
    func add(
        _ definition: ServiceDefinition,
        _ characteristics: [LocalAttributeID],
        of session: PeripheralSession
    ) throws(ServiceError) -> PublishedService {
        let published: PublishedService
        do {
            published = try server.database.add(definition)
        } catch {
            throw ServiceError(error)
        }
        for (id, characteristic) in zip(characteristics, published.characteristics) {
            owners[characteristic.value] = Owner(session: session, id: id)
        }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
        return published
    }

    /// Removes a service that was published.
    func remove(_ service: PublishedService) throws(ServiceError) {
        do {
            try server.database.remove(service.handles.lowerBound)
        } catch {
            throw ServiceError(error)
        }
        for characteristic in service.characteristics { owners[characteristic.value] = nil }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    // MARK: Clients

    /// Registers the session that serves `central`.
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

    /// The first broken invariant; nil if all hold. Checked in debug builds after each change.
    private var brokenInvariant: String? {
        guard sessions.allSatisfy({ centrals[ObjectIdentifier($1)] == $0 }) else {
            return "a session serves another central than it is registered for"
        }
        guard owners.keys.allSatisfy({ server.database.contains($0) }) else { return "an app owns a removed attribute" }
        return nil
    }

    /// Returns the sessions of the given centrals, without duplicates. Centrals that are not connected are left out
    /// (behaviours 7.42, 7.52).
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

    /// The central that a session serves.
    func central(_ session: GATTServerSession) -> CentralInfo? {
        centrals[ObjectIdentifier(session)].map {
            CentralInfo(identifier: $0, maximumUpdateLength: session.bearer.mtu - 3)
        }
    }
}

extension LocalAttributes: GATTServerDelegate {
    /// Passes the request to the app that owns the value.
    func server(_ server: GATTServer, didReceiveRead request: GATTReadRequest) {
        guard let owner = owners[request.handle], let central = central(request.session) else {
            return request.respond(.failure(.unlikelyError))
        }
        owner.session.didReceiveRead(request, of: owner.id, from: central)
    }

    /// Passes the request to the app that owns all the values. Writes to values of several apps are refused: an app
    /// could accept its part when another one rejects its own, and an accepted write cannot be undone (behaviour 7.35).
    func server(_ server: GATTServer, didReceiveWrite request: GATTWriteRequest) {
        let owners = request.writes.compactMap { self.owners[$0.handle] }
        guard let first = owners.first, owners.count == request.writes.count,
            owners.allSatisfy({ $0.session === first.session }), let central = central(request.session)
        else { return request.respond(.unlikelyError) }
        let writes = zip(owners, request.writes).map { owner, write in
            WriteRequest(characteristic: owner.id, offset: write.offset, value: write.value)
        }
        first.session.didReceiveWrite(request, writes, from: central)
    }

    /// Reports a subscription or unsubscription to the app. A change between notifications and indications is neither.
    func server(
        _ server: GATTServer,
        session: GATTServerSession,
        didConfigure handle: UInt16,
        from old: ClientConfiguration,
        to new: ClientConfiguration
    ) {
        guard old.isEmpty != new.isEmpty, let owner = owners[handle], let central = central(session) else { return }
        owner.session.subscriptionChanged(of: central, to: owner.id, isSubscribed: !new.isEmpty)
    }

    /// Passes the changed record of the central on to be stored.
    func server(_ server: GATTServer, didChangeRecordOf session: GATTServerSession) {
        guard let central = centrals[ObjectIdentifier(session)] else { return }
        onRecord?(central, session.record)
    }

    /// Lets the apps continue to send updates.
    func server(_ server: GATTServer, isReadyToUpdate session: GATTServerSession) {
        onRoom?()
    }
}
