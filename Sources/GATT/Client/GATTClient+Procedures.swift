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
    package func discoverIncludedServices(
        of service: DiscoveredService,
        completion: @escaping (Result<[DiscoveredService], GATTError>) -> Void
    ) {
        discover(IncludeDiscovery(of: service), at: \.includes[service.handles.lowerBound], completion: completion)
    }

    /// Discovers all characteristics of a service, or those with the given UUID (Vol 3 Part G 4.6).
    package func discoverCharacteristics(
        _ uuid: BluetoothUUID? = nil,
        of service: DiscoveredService,
        completion: @escaping (Result<[DiscoveredCharacteristic], GATTError>) -> Void
    ) {
        let path = \AttributeCache.characteristics[service.handles.lowerBound]
        guard let uuid else {
            return discover(CharacteristicDiscovery(in: service.handles, uuid: nil), at: path, completion: completion)
        }
        if let known = cache?[keyPath: path] { return completion(.success(known.filter { $0.uuid == uuid })) }
        run(CharacteristicDiscovery(in: service.handles, uuid: uuid), completion: completion)
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

    /// Reads a value with a type of which a server has at most one instance. A long value is truncated to its first
    /// part.
    ///
    /// - Parameter completion: The value; nil if the server has none.
    package func readValue(
        of uuid: BluetoothUUID,
        completion: @escaping (Result<RemoteValue?, GATTError>) -> Void
    ) {
        run(ReadByTypeProcedure(uuid, in: 1...0xFFFF, isOne: true)) { result in
            if case .failure(.att(let error)) = result, error.code == .attributeNotFound {
                return completion(.success(nil))
            }
            completion(result.map(\.first))
        }
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
        if let refusal, !isClosed {
            wish.commandRefused()
            askForSecurity(refusal)
            return false
        }
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
