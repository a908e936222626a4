import ATT
import BluetoothTypes

// MARK: - Discovery

extension GATTClient {
    /// Discovers all primary services, or those with the given UUID (Core Vol 3 Part G 4.4).
    package func discoverServices(
        _ uuid: BluetoothUUID? = nil,
        completion: @escaping (Result<[DiscoveredService], GATTError>) -> Void
    ) {
        guard let uuid else { return discover(ServiceDiscovery(uuid: nil), at: \.services, completion: completion) }
        if let known = cache?.services { return completion(.success(known.filter { $0.uuid == uuid })) }
        run(ServiceDiscovery(uuid: uuid), completion: completion)
    }

    /// Discovers a service of which a server has at most one instance, such as Generic Access and Generic Attribute
    /// (Core Vol 3 Part C 12, Part G 7).
    package func discoverService(
        _ uuid: BluetoothUUID,
        completion: @escaping (Result<DiscoveredService?, GATTError>) -> Void
    ) {
        if let known = cache?.services { return completion(.success(known.first { $0.uuid == uuid })) }
        run(ServiceDiscovery(uuid: uuid, isOne: true)) { completion($0.map(\.first)) }
    }

    /// Discovers the services that a service includes (Vol 3 Part G 4.5.1).
    ///
    /// - Parameter others: Other services of the server. Includes of those that begin inside of `service` are left out.
    package func discoverIncludedServices(
        of service: DiscoveredService,
        among others: [DiscoveredService] = [],
        completion: @escaping (Result<[DiscoveredService], GATTError>) -> Void
    ) {
        let discovery = IncludeDiscovery(of: service, holes: service.holes(among: others))
        discover(discovery, at: \.includes[service.handles.lowerBound], completion: completion)
    }

    /// Discovers all characteristics of a service, or those with the given UUID (Vol 3 Part G 4.6).
    ///
    /// - Parameter others: Other services of the server. Characteristics of those that begin inside of `service` are
    ///   left out.
    package func discoverCharacteristics(
        _ uuid: BluetoothUUID? = nil,
        of service: DiscoveredService,
        among others: [DiscoveredService] = [],
        completion: @escaping (Result<[DiscoveredCharacteristic], GATTError>) -> Void
    ) {
        let path = \AttributeCache.characteristics[service.handles.lowerBound]
        let holes = service.holes(among: others)
        let discovery = CharacteristicDiscovery(in: service.handles, uuid: uuid, holes: holes)
        guard let uuid else { return discover(discovery, at: path, completion: completion) }
        if let known = cache?[keyPath: path] { return completion(.success(known.filter { $0.uuid == uuid })) }
        run(discovery, completion: completion)
    }

    /// Discovers all descriptors of a characteristic (Vol 3 Part G 4.7.1).
    package func discoverDescriptors(
        of characteristic: DiscoveredCharacteristic,
        completion: @escaping (Result<[DiscoveredDescriptor], GATTError>) -> Void
    ) {
        discover(
            DescriptorDiscovery(in: characteristic.descriptors),
            at: \.descriptors[characteristic.value],
            completion: completion
        )
    }
}

// MARK: - Reading and writing

extension GATTClient {
    /// Negotiates the MTU; see ``ATTBearer/exchangeMTU(completion:)``.
    package func exchangeMTU(completion: @escaping (Result<Int, GATTError>) -> Void) {
        bearer.exchangeMTU { completion($0.mapError(GATTError.init)) }
    }

    /// Reads the complete value of a characteristic or descriptor, in parts if it is long.
    package func read(_ handle: UInt16, completion: @escaping (Result<PacketBuffer, GATTError>) -> Void) {
        run(ReadProcedure(handle), completion: completion)
    }

    /// Reads a value from `offset` to its end. An offset past the end is an error (Vol 3 Part G 4.8.3).
    package func read(
        _ handle: UInt16,
        from offset: UInt16,
        completion: @escaping (Result<PacketBuffer, GATTError>) -> Void
    ) {
        run(ReadProcedure(handle, offset: offset), completion: completion)
    }

    /// Reads the values with the given type in a handle range. Long values are truncated to their first part.
    package func readValues(
        of uuid: BluetoothUUID,
        in handles: ClosedRange<UInt16> = 1...0xFFFF,
        completion: @escaping (Result<[RemoteValue], GATTError>) -> Void
    ) {
        run(ReadByTypeProcedure(uuid, in: handles), completion: completion)
    }

    /// Reads the complete value with a type of which a server has at most one instance; nil if it has none.
    package func readValue(
        of uuid: BluetoothUUID,
        completion: @escaping (Result<RemoteValue?, GATTError>) -> Void
    ) {
        run(ReadOneProcedure(uuid), completion: completion)
    }

    /// Reads two or more values whose lengths the caller knows, and completes with their concatenation.
    package func readMultiple(
        _ handles: [UInt16],
        completion: @escaping (Result<PacketBuffer, GATTError>) -> Void
    ) {
        run(ReadMultipleProcedure(handles: handles), completion: completion)
    }

    /// Reads two or more values of any length. The last one returned may be truncated, and further ones may be missing.
    package func readMultipleVariable(
        _ handles: [UInt16],
        completion: @escaping (Result<[PacketBuffer], GATTError>) -> Void
    ) {
        run(ReadMultipleVariableProcedure(handles: handles), completion: completion)
    }

    /// Writes a value of up to 512 octets, in parts if it is long (behaviour 5.9).
    package func write(
        _ value: PacketBuffer,
        to handle: UInt16,
        completion: @escaping (Result<Void, GATTError>) -> Void
    ) {
        guard value.count <= ATTBearer.maximumAttributeLength else {
            return completion(.failure(.valueTooLong(value.count)))
        }
        run(WriteProcedure(handle, value), completion: completion)
    }

    /// Writes several values, all or none, and verifies the server's echo of each part (Vol 3 Part G 4.9.5).
    package func writeReliably(
        _ writes: [(handle: UInt16, value: PacketBuffer)],
        completion: @escaping (Result<Void, GATTError>) -> Void
    ) {
        if let long = writes.first(where: { $0.value.count > ATTBearer.maximumAttributeLength }) {
            return completion(.failure(.valueTooLong(long.value.count)))
        }
        run(LongWriteProcedure(writes, checksEcho: true), completion: completion)
    }

    /// Writes a value without response, truncated to what the MTU allows.
    ///
    /// - Returns: False if there is no room (see ``ATTBearer/write(_:withoutResponseTo:)``) or the link is not secure
    ///   enough. In both cases the bearer's ``ATTBearer/onCommandRoom`` is called later, unless the link never becomes
    ///   secure enough.
    package func write(_ value: consuming PacketBuffer, withoutResponseTo handle: UInt16) -> Bool {
        guard mayCommand() else { return false }
        return bearer.write(value, withoutResponseTo: handle)
    }

    /// Writes a value without response, signed while the link is not encrypted (Core Vol 3 Part G 4.9.2).
    ///
    /// The characteristic's properties must allow signed writes. A signed value is at most the MTU less 15 octets long.
    ///
    /// - Returns: False if there is no room. Nothing is sent then, and ``ATTBearer/onCommandRoom`` is called later.
    /// - Throws: `valueTooLong` or `noSigningKey`.
    package func writeSigned(_ value: consuming PacketBuffer, to handle: UInt16) throws(GATTError) -> Bool {
        if linkSecurity.isEncrypted { return write(value, withoutResponseTo: handle) }
        guard value.count <= bearer.mtu - 3 - ATTSignedWriteCommand.signatureLength else {
            throw .valueTooLong(value.count)
        }
        guard bearer.askForCommandRoom() else { return false }
        var command = ATTSignedWriteCommand(handle: handle, value: value, signature: PacketBuffer(headroom: 0))
        guard let signature = sign?(command.message) else { throw .noSigningKey }
        command.signature = signature
        return bearer.write(command)
    }
}

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

    /// Adopts the cache of an earlier connection if the server's Database Hash still matches, and completes with
    /// whether it does. Otherwise starts with an empty cache. From then on, discovery sends requests only for what the
    /// cache lacks.
    package func adopt(_ old: AttributeCache, completion: @escaping (Result<Bool, GATTError>) -> Void) {
        cache = AttributeCache()
        let before = databaseChanges
        readDatabaseHash { [weak self] result in
            // Service Changed may overtake the hash, which is then that of the database before (AB-A11).
            let isUnchanged = self?.databaseChanges == before
            let isSame = result.map { $0 != nil && $0 == old.hash && isUnchanged }
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

// MARK: - Cached discovery

extension GATTClient {
    /// Answers from the cache, or runs the procedure and caches its result.
    ///
    /// The result is not cached if the database has changed since the call, as part of it may predate the change
    /// (AB-A11).
    private func discover<P: GATTProcedure>(
        _ procedure: P,
        at path: WritableKeyPath<AttributeCache, P.Output?>,
        completion: @escaping (Result<P.Output, GATTError>) -> Void
    ) {
        if let known = cache?[keyPath: path] { return completion(.success(known)) }
        let before = databaseChanges
        run(procedure) { [weak self] result in
            if let self, databaseChanges == before, case .success(let found) = result { cache?[keyPath: path] = found }
            completion(result)
        }
    }
}
