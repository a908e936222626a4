import ATT
import BluetoothTypes

// MARK: - Database Hash and features

extension GATTClient {
    /// Reads the Database Hash (Core Vol 3 Part G 7.3) while no other request is outstanding on any bearer (2.5.2.1).
    ///
    /// A hash that differs from that of ``cache`` empties the cache.
    ///
    /// - Parameter completion: The hash; nil if the server has none.
    package func readDatabaseHash(completion: @escaping (Result<DatabaseHash?, GATTError>) -> Void) {
        run(DatabaseHashProcedure()) { [weak self] result in
            if case .success(let hash) = result { self?.compare(hash) }
            completion(result)
        }
    }

    private func compare(_ hash: DatabaseHash?) {
        guard let known = cache, known.hash != hash else { return }
        // Entries from before the first hash may belong to the same database or to an older one.
        cache = AttributeCache(hash: hash)
    }

    /// Adopts the cache of an earlier connection if the server's Database Hash still matches; otherwise starts with an
    /// empty cache. From then on, discovery sends requests only for what the cache lacks.
    ///
    /// - Parameter completion: Whether the cache was valid.
    package func adopt(_ old: AttributeCache, completion: @escaping (Result<Bool, GATTError>) -> Void) {
        cache = AttributeCache()
        readDatabaseHash { [weak self] result in
            let isSame = result.map { $0 != nil && $0 == old.hash }
            if case .success(true) = isSame { self?.cache = old }
            completion(isSame)
        }
    }

    /// Announces client features to the server (Vol 3 Part G 7.2) as far as the server supports them.
    ///
    /// Robust caching requires a Database Hash, enhanced bearers require the server's Server Supported Features.
    /// Features announced earlier remain announced.
    ///
    /// - Parameter completion: The features announced so far; empty if the server has no Client Supported Features.
    package func announce(
        _ wanted: ClientFeatures,
        completion: @escaping (Result<ClientFeatures, GATTError>) -> Void
    ) {
        readValue(of: GATTUUID.clientSupportedFeatures) { [weak self] result in
            guard let self, case .success(let known?) = result else { return completion(result.map { _ in [] }) }
            removeUnsupported(wanted) { [weak self] wanted in
                let old = ClientFeatures(announced: known.value)
                let new = old.union(wanted)
                guard let self, new != old else { return completion(.success(old)) }
                write([new.rawValue], to: known.handle) { completion($0.map { new }) }
            }
        }
    }

    /// Announces enhanced bearers if the server supports them.
    ///
    /// If the services are in the cache (``watchServices(completion:)``) and the characteristic is not among them, no
    /// request is sent.
    ///
    /// - Parameter completion: Whether both sides support enhanced bearers.
    package func announceEnhancedBearers(completion: @escaping (Bool) -> Void) {
        discoverService(GATTUUID.genericAttribute) { [weak self] result in
            guard let self, case .success(let service?) = result else {
                return completion(false)
            }
            discoverCharacteristics(of: service) { [weak self] result in
                guard let self, case .success(let found) = result,
                    found.contains(where: { $0.uuid == GATTUUID.serverSupportedFeatures })
                else { return completion(false) }
                announce(.enhancedBearers) { completion((try? $0.get())?.contains(.enhancedBearers) ?? false) }
            }
        }
    }

    private func removeUnsupported(_ wanted: ClientFeatures, completion: @escaping (ClientFeatures) -> Void) {
        guard wanted.contains(.enhancedBearers) else { return removeWithoutHash(wanted, completion: completion) }
        readValue(of: GATTUUID.serverSupportedFeatures) { [weak self] result in
            var wanted = wanted
            let features = ServerFeatures(rawValue: (try? result.get())?.value.first ?? 0)
            if !features.contains(.enhancedBearers) { wanted.remove(.enhancedBearers) }
            self?.removeWithoutHash(wanted, completion: completion)
        }
    }

    private func removeWithoutHash(_ wanted: ClientFeatures, completion: @escaping (ClientFeatures) -> Void) {
        guard wanted.contains(.robustCaching) else { return completion(wanted.intersection(.known)) }
        readDatabaseHash { result in
            var wanted = wanted
            if case .success(.some) = result {} else { wanted.remove(.robustCaching) }
            completion(wanted.intersection(.known))
        }
    }
}

/// Reads the Database Hash by type over the whole handle range, which a server never refuses as out of sync (Core Vol 3
/// Part G 2.5.2.1).
struct DatabaseHashProcedure: GATTProcedure {
    static let onlyReads = true

    func isolation(mtu: Int) -> GATTIsolation { .alone }

    mutating func begin(mtu: Int) -> GATTStep<DatabaseHash?> {
        .request(.readByTypeRequest(.init(ATTHandleRange(1, .max), type: GATTUUID.databaseHash)))
    }

    mutating func handle(_ response: ATTPDU, mtu: Int) -> GATTStep<DatabaseHash?> {
        guard case .readByTypeResponse(let response) = response, let entry = response.entries.first else {
            return .fault(.unexpectedResponse)
        }
        guard let hash = DatabaseHash(entry.value) else { return .fault(.malformedDeclaration(at: entry.handle)) }
        return .finished(hash)
    }

    mutating func handle(_ error: ATTErrorResponse, mtu: Int) -> GATTStep<DatabaseHash?> {
        error.code == .attributeNotFound ? .finished(nil) : .failed(.att(error))
    }
}

// MARK: - Cached discovery

extension GATTClient {
    /// Answers from the cache, or runs the procedure and caches its result.
    ///
    /// The result is not cached if the database has changed since the call, as part of it may predate the change
    /// (AB-A11).
    func discover<P: GATTProcedure>(
        _ procedure: P,
        at path: WritableKeyPath<AttributeCache, P.Output?>,
        completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        if let known = cache?[keyPath: path] { return completion(.success(known)) }
        let before = changes
        run(procedure) { [weak self] result in
            if let self, changes == before, case .success(let found) = result { cache?[keyPath: path] = found }
            completion(result)
        }
    }
}
