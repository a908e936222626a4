import ATT
import BluetoothTypes
import Foundation
import GATT
import ServiceMessages

/// The attribute table of this system: the services of all apps in one database (behaviour 7.11), and the app that owns
/// each attribute.
final class LocalAttributes {
    let server: GATTServer
    let centrals: ServedCentrals
    private var owners: [UInt16: (session: PeripheralSession, id: LocalAttributeID)] = [:]
    /// Called when queues that were full have room again.
    var onRoom: (() -> Void)?
    /// Called when the record of a central has changed. It is stored if the central is bonded.
    var onRecord: ((UUID, ClientRecord) -> Void)?

    /// Creates the table with the system's own services (behaviour 7.14).
    init(name: String, appearance: UInt16, features: ServerFeatures) {
        let database = GATTDatabase()
        server = GATTServer(database: database)
        centrals = ServedCentrals(server)
        // An empty database has room for two small services.
        _ = try? database.add(.genericAccess(deviceName: name, appearance: appearance))
        _ = try? database.add(.genericAttribute(features: features))
        server.delegate = self
    }

    // MARK: Publishing

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
            owners[characteristic.value] = (session, id)
        }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
        return published
    }

    func remove(_ service: PublishedService) throws(ServiceError) {
        do {
            try server.database.remove(service.handles.lowerBound)
        } catch {
            throw ServiceError(error)
        }
        for characteristic in service.characteristics { owners[characteristic.value] = nil }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each change.
    private var brokenInvariant: String? {
        owners.keys.allSatisfy { server.database.contains($0) } ? nil : "an app owns a removed attribute"
    }
}

extension LocalAttributes: GATTServerDelegate {
    /// Passes the request to the app that owns the value.
    func server(_ server: GATTServer, didReceiveRead request: GATTReadRequest) {
        guard let owner = owners[request.handle], let central = centrals.central(request.session) else {
            return request.respond(.failure(.unlikelyError))
        }
        owner.session.didReceiveRead(request, of: owner.id, from: central)
    }

    /// Passes the request to the app that owns all the values. Writes to values of several apps are refused: an app
    /// could accept its part when another one rejects its own, and an accepted write cannot be undone (behaviour 7.35).
    func server(_ server: GATTServer, didReceiveWrite request: GATTWriteRequest) {
        guard let central = centrals.central(request.session), let first = request.writes.first,
            let session = owners[first.handle]?.session
        else { return request.respond(.unlikelyError) }
        var writes: [WriteRequest] = []
        for write in request.writes {
            guard let owner = owners[write.handle], owner.session === session else {
                return request.respond(.unlikelyError)
            }
            writes.append(WriteRequest(characteristic: owner.id, offset: write.offset, value: write.value))
        }
        session.didReceiveWrite(request, writes, from: central)
    }

    /// Reports a subscription or unsubscription to the app. A change between notifications and indications is neither.
    func server(
        _ server: GATTServer,
        session: GATTServerSession,
        didConfigure handle: UInt16,
        from old: ClientConfiguration,
        to new: ClientConfiguration
    ) {
        guard old.isEmpty != new.isEmpty, let owner = owners[handle], let central = centrals.central(session) else {
            return
        }
        owner.session.subscriptionChanged(of: central, to: owner.id, isSubscribed: !new.isEmpty)
    }

    /// Passes the changed record of the central on to be stored.
    func server(_ server: GATTServer, didChangeRecordOf session: GATTServerSession) {
        guard let central = centrals.central(session) else { return }
        onRecord?(central.identifier, session.record)
    }

    /// Lets the apps continue to send updates.
    func server(_ server: GATTServer, isReadyToUpdate session: GATTServerSession) {
        onRoom?()
    }
}
