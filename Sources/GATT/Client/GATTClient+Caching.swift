import ATT
import BluetoothTypes

// MARK: - Knowing whether the database is still the same

extension GATTClient {
    /// Reads the Database Hash (Core Vol 3 Part G 7.3), when no other request waits for its answer on any bearer (2.5.2.1).
    /// Nil when the server has none. A hash other than that of ``cache`` empties the cache.
    package func readDatabaseHash(completion: @escaping (Result<DatabaseHash?, GATTError>) -> Void) {
        run(DatabaseHashProcedure()) { [weak self] result in
            if case .success(let hash) = result { self?.compare(hash) }
            completion(result)
        }
    }

    private func compare(_ hash: DatabaseHash?) {
        guard let known = cache, known.hash != hash else { return }
        // What was found before the hash was known may be of the same database, or of another one.
        cache = AttributeCache(hash: hash)
    }

    /// Takes up what was found on an earlier connection, if the server's database is still the same; else begins with an
    /// empty cache. From then on discovery goes on the air only for what the cache does not have.
    ///
    /// - Parameter completion: whether the cache was good.
    package func adopt(_ old: AttributeCache, completion: @escaping (Result<Bool, GATTError>) -> Void) {
        cache = AttributeCache()
        readDatabaseHash { [weak self] result in
            let isSame = result.map { $0 != nil && $0 == old.hash }
            if case .success(true) = isSame { self?.cache = old }
            completion(isSame)
        }
    }

    /// Tells the server what this client can do (Vol 3 Part G 7.2), as far as the server can do it too: robust caching
    /// takes a hash, enhanced bearers take the server's own word. What was announced before stays.
    ///
    /// - Parameter completion: what the server knows now; nothing when it does not ask.
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

    /// Tells the server that this client can use enhanced bearers, if it turns out to take them. Of a server whose services
    /// are known (``watchServices(completion:)``) and that lacks the characteristic nothing is asked.
    ///
    /// - Parameter completion: whether both ends can.
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

/// Reads the Database Hash by its type, in the whole range: so it is never refused (Core Vol 3 Part G 2.5.2.1).
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

// MARK: - Discovery from the cache

extension GATTClient {
    /// Answers from the cache, or runs a procedure and keeps what it finds, unless the database has changed since it was asked
    /// for: some of it may have been found before that (AB-A11).
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
