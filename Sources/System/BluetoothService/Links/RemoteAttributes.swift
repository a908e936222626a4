import BluetoothTypes
import Foundation
import GAP
import GATT
import Security
import ServiceMessages

/// The attributes of the peer of one link: those discovered on the link, and the cache that outlasts it.
///
/// Discovery sends requests only for what is unknown. The procedures are queued by ``LinkOperations``. Used on the loop
/// only.
final class RemoteAttributes {
    /// The peer's primary services as far as they have been discovered. During a rediscovery, those discovered before.
    private(set) var services: Set<BluetoothUUID> = []
    /// The flaws of the attribute table, as far as it was discovered on this link.
    private(set) var flaws: [String] = []
    /// Whether the peer is bonded and has no Service Changed characteristic, as far as that is known.
    private(set) var lacksServiceChanged = false
    /// Called when the services have been discovered for the first time on this link.
    var onExplored: (() -> Void)?
    /// Called once with each flaw of the attribute table.
    var onFlaw: ((TableFlaw) -> Void)?

    private let client: GATTClient
    private let secureLink: SecureLink
    private let peer: UUID
    private let peers: Peers
    private var database = RemoteDatabase()
    /// Whether the attribute table is cached with the peer's bond rather than in memory.
    private var isCachedWithBond = false

    init(of peer: UUID, _ client: GATTClient, _ secureLink: SecureLink, _ peers: Peers) {
        self.client = client
        self.secureLink = secureLink
        self.peer = peer
        self.peers = peers
        client.outOfSyncPolicy = .repeatIfUnchanged
        // A bonded peer indicates a change as soon as the link is encrypted (Core Vol 3 Part G 7.1).
        client.serviceChanged = secureLink.bond?.cache?.serviceChanged
        client.onFlaw = { [weak self] in self?.note($0) }
    }

    func characteristic(at handle: AttributeHandle) -> DiscoveredCharacteristic? {
        database.characteristic(at: handle)
    }

    func value(of handle: AttributeHandle) -> PacketBuffer? { database.values[handle] }

    /// Returns the error of a procedure (``ServiceError/init(_:_:)``).
    func serviceError(_ error: GATTError) -> ServiceError { ServiceError(error, peers) }

    private func note(_ flaw: TableFlaw) {
        guard flaws.count < LinkFacts.maximumFlaws, !flaws.contains(flaw.description) else { return }
        flaws.append(flaw.description)
        onFlaw?(flaw)
    }

    /// Looks for Service Changed in the peer's table. Called when the services have been discovered, and when the peer
    /// has been bonded.
    ///
    /// - Returns: Whether the bonded peer turns out to have no Service Changed characteristic. Returned once.
    func foundServiceChangedMissing() -> Bool {
        guard !lacksServiceChanged, secureLink.bond != nil, client.cache?.isForGood == true else { return false }
        lacksServiceChanged = true
        return true
    }
}

// MARK: - Discovery

extension RemoteAttributes {
    /// Discovers the primary services, anew if they change meanwhile.
    ///
    /// - Parameter attempts: How often to discover them if they change each time.
    func loadServices(
        attempts: Int = 3,
        _ completion: @escaping (Result<[RemoteService], ServiceError>) -> Void
    ) {
        if let services = database.services { return completion(.success(services)) }
        client.discoverServices { [weak self, before = client.databaseChanges] result in
            let found = result.map { $0.map { RemoteService($0, isPrimary: true) } }.mapError(ServiceError.init)
            if let self, case .success(let services) = found {
                if client.databaseChanges == before {
                    explored(services)
                } else if attempts > 1 {
                    return loadServices(attempts: attempts - 1, completion)
                }
            }
            completion(found)
        }
    }

    private func explored(_ found: [RemoteService]) {
        let isFirst = services.isEmpty
        database.services = found
        services = Set(found.map(\.uuid))
        if isFirst { onExplored?() }
    }

    /// Stores what a discovery found, unless the services have changed since: part of it may be older (AB-A11).
    private func remember(since before: UInt64, _ store: (inout RemoteDatabase) -> Void) {
        if client.databaseChanges == before { store(&database) }
    }

    func loadIncludedServices(
        of handle: AttributeHandle,
        _ completion: @escaping (Result<[RemoteService], ServiceError>) -> Void
    ) {
        guard let service = database.service(at: handle) else { return completion(.failure(.unknown(handle))) }
        if let known = database.included[handle] { return completion(.success(known)) }
        let others = database.allServices.map { DiscoveredService($0) }
        client.discoverIncludedServices(of: DiscoveredService(service), among: others) {
            [weak self, before = client.databaseChanges] result in
            let found = result.map { services in
                services.map { service in
                    let isPrimary = self?.database.services?.contains { $0.handle == service.handles.lowerBound }
                    return RemoteService(service, isPrimary: isPrimary ?? false)
                }
            }.mapError(ServiceError.init)
            guard let self, case .success(let services) = found, client.databaseChanges == before else {
                return completion(found)
            }
            let kept = database.setIncludedServices(services, of: handle)
            if kept.count < services.count { note(TableFlaw(.tooManyIncluded, at: handle)) }
            completion(.success(kept))
        }
    }

    func loadCharacteristics(
        of handle: AttributeHandle,
        _ completion: @escaping (Result<[DiscoveredCharacteristic], ServiceError>) -> Void
    ) {
        guard let service = database.service(at: handle) else { return completion(.failure(.unknown(handle))) }
        if let known = database.characteristics[handle] { return completion(.success(known)) }
        let others = database.allServices.map { DiscoveredService($0) }
        client.discoverCharacteristics(of: DiscoveredService(service), among: others) {
            [weak self, before = client.databaseChanges] result in
            if case .success(let found) = result {
                self?.remember(since: before) { $0.characteristics[handle] = found }
            }
            completion(result.mapError(ServiceError.init))
        }
    }

    func loadDescriptors(
        of handle: AttributeHandle,
        _ completion: @escaping (Result<[RemoteDescriptor], ServiceError>) -> Void
    ) {
        guard let characteristic = database.characteristic(at: handle) else {
            return completion(.failure(.unknown(handle)))
        }
        if let known = database.descriptors[handle] { return completion(.success(known)) }
        client.discoverDescriptors(of: characteristic) { [weak self, before = client.databaseChanges] result in
            let found = result.map { $0.map { RemoteDescriptor(handle: $0.handle, uuid: $0.uuid) } }
                .mapError(ServiceError.init)
            if case .success(let descriptors) = found {
                self?.remember(since: before) { $0.descriptors[handle] = descriptors }
            }
            completion(found)
        }
    }
}

// MARK: - Reading and writing

extension RemoteAttributes {
    func read(_ handle: AttributeHandle, _ completion: @escaping (Result<PacketBuffer, ServiceError>) -> Void) {
        guard database.characteristic(at: handle) != nil else { return completion(.failure(.unknown(handle))) }
        client.read(handle) { [self] in
            if case .success(let value) = $0 { database.remember(value, of: handle) }
            completion($0.mapError(serviceError))
        }
    }

    func readDescriptor(
        _ handle: AttributeHandle,
        _ completion: @escaping (Result<PacketBuffer, ServiceError>) -> Void
    ) {
        guard database.descriptor(at: handle) != nil else { return completion(.failure(.unknown(handle))) }
        client.read(handle) { [self] in completion($0.mapError(serviceError)) }
    }

    func write(
        _ value: PacketBuffer,
        to handle: AttributeHandle,
        _ completion: @escaping (Result<Void, ServiceError>) -> Void
    ) {
        guard database.characteristic(at: handle) != nil else { return completion(.failure(.unknown(handle))) }
        client.write(value, to: handle) { [self] in completion($0.mapError(serviceError)) }
    }

    /// Writes the descriptor at `handle`. The client configuration can only be written by the system (behaviour 4.7).
    func writeDescriptor(
        _ value: PacketBuffer,
        to handle: AttributeHandle,
        _ completion: @escaping (Result<Void, ServiceError>) -> Void
    ) {
        guard let descriptor = database.descriptor(at: handle) else { return completion(.failure(.unknown(handle))) }
        guard descriptor.uuid != GATTUUID.clientConfiguration else {
            let error = ServiceError(.invalidParameters, reason: "only the system writes this descriptor")
            return completion(.failure(error))
        }
        client.write(value, to: handle) { [self] in completion($0.mapError(serviceError)) }
    }
}

// MARK: - The cache that outlasts the link

extension RemoteAttributes {
    /// Adopts what was discovered on earlier connections with a bonded peer if its database is unchanged; nothing is
    /// then sent for it (behaviour 4.10). A peer without a database hash either indicates changes or never changes.
    func adoptCache(_ done: @escaping () -> Void) {
        let known = peers.knownTable(of: peer)
        guard let bond = secureLink.bond else {
            client.cache = known?.found ?? AttributeCache()
            if known?.found != nil { database.values = known?.values ?? [:] }
            return done()
        }
        isCachedWithBond = true
        guard let cache = bond.cache else {
            client.cache = AttributeCache()
            return client.announce(.robustCaching) { [weak self] _ in
                self?.client.readDatabaseHash { _ in done() }
            }
        }
        guard cache.hash != nil else {
            client.cache = cache
            database.values = known?.values ?? [:]
            return done()
        }
        client.adopt(cache) { [weak self] in
            if case .success(true) = $0 { self?.database.values = known?.values ?? [:] }
            done()
        }
    }

    /// Stores the cached services: with the peer's bond, or in memory if the peer is not bonded and its services never
    /// change. After a pairing on this link nothing is stored; on the next connection the hash is read and the services
    /// are discovered again.
    func keepCache() {
        guard let cache = client.cache, cache.services != nil else { return }
        if isCachedWithBond, let bond = secureLink.bond {
            peers.remember(KnownTable(values: database.values), of: peer)
            if bond.cache != cache { peers.note(bond.identifier) { $0.cache = cache } }
        } else {
            let isKept = secureLink.bond == nil && cache.isForGood && cache.count <= KnownTable.maximumAttributes
            peers.remember(isKept ? KnownTable(found: cache, values: database.values) : nil, of: peer)
        }
    }

    /// Forgets what was discovered in `range`, because the peer has changed it.
    func invalidate(_ range: ClosedRange<AttributeHandle>) {
        database.invalidate(range)
        // The peer does not indicate a confirmed change again. The table is stored anew once it has been discovered.
        if let bond = secureLink.bond { peers.note(bond.identifier) { $0.cache = nil } }
    }

    /// Forgets all attributes, on this link and beyond it, and reads the database hash again (behaviour 15.6).
    ///
    /// - Parameter invalidate: Invalidates everything that was discovered, before the hash is read.
    func forget(invalidating invalidate: () -> Void, _ done: @escaping () -> Void) {
        client.cache = AttributeCache()
        peers.remember(nil, of: peer)
        invalidate()
        guard isCachedWithBond, secureLink.bond != nil else { return done() }
        client.readDatabaseHash { _ in done() }
    }
}

// MARK: - Restoration

extension RemoteAttributes {
    /// Returns the services that a manager has discovered (behaviour 10.9).
    ///
    /// - Parameter isNotifying: Whether the manager is subscribed to the characteristic whose value is at a handle.
    func restored(for user: Attachment, isNotifying: (AttributeHandle) -> Bool) -> [RestoredService] {
        (database.services ?? []).visible.filter { user.knows($0.handle) }.map { service in
            let characteristics = (database.characteristics[service.handle] ?? []).filter { user.knows($0.value) }
            return RestoredService(
                service: service,
                includedServices: (database.included[service.handle] ?? []).visible.filter {
                    user.knows($0.handle)
                },
                characteristics: characteristics.map {
                    RestoredCharacteristic(
                        characteristic: RemoteCharacteristic($0, value: value(of: $0.value)),
                        isNotifying: isNotifying($0.value),
                        descriptors: database.descriptors[$0.value] ?? []
                    )
                }
            )
        }
    }
}

extension RemoteService {
    fileprivate init(_ service: DiscoveredService, isPrimary: Bool) {
        self.init(
            handle: service.handles.lowerBound,
            endHandle: service.handles.upperBound,
            uuid: service.uuid,
            isPrimary: isPrimary
        )
    }
}

extension DiscoveredService {
    fileprivate init(_ service: RemoteService) {
        self.init(handles: service.handle...max(service.handle, service.endHandle), uuid: service.uuid)
    }
}

extension RemoteCharacteristic {
    init(_ characteristic: DiscoveredCharacteristic, value: PacketBuffer?) {
        self.init(
            handle: characteristic.value,
            uuid: characteristic.uuid,
            properties: characteristic.properties.rawValue,
            value: value
        )
    }
}

extension [RemoteService] {
    var visible: [RemoteService] { filter { !HiddenServices.contains($0.uuid) } }
}

extension Result {
    /// The error of a failure; nil on success.
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
