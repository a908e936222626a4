import ATT
import BluetoothTypes

// MARK: - Discovery

extension GATTClient {
    /// Finds all primary services, or those with a UUID (Core Vol 3 Part G 4.4).
    package func discoverServices(
        _ uuid: BluetoothUUID? = nil,
        completion: @escaping (Result<[RemoteService], GATTError>) -> Void
    ) {
        guard let uuid else { return discover(ServiceDiscovery(uuid: nil), at: \.services, completion: completion) }
        if let known = cache?.services { return completion(.success(known.filter { $0.uuid == uuid })) }
        run(ServiceDiscovery(uuid: uuid), completion: completion)
    }

    /// Finds a service that a server has once at most, as Generic Access and Generic Attribute are (Core Vol 3 Part C 12, Part G 7).
    package func discoverService(
        _ uuid: BluetoothUUID,
        completion: @escaping (Result<RemoteService?, GATTError>) -> Void
    ) {
        if let known = cache?.services { return completion(.success(known.first { $0.uuid == uuid })) }
        run(ServiceDiscovery(uuid: uuid, isOne: true)) { completion($0.map(\.first)) }
    }

    /// Finds the services that a service includes (Vol 3 Part G 4.5.1).
    package func discoverIncludedServices(
        of service: RemoteService,
        completion: @escaping (Result<[RemoteService], GATTError>) -> Void
    ) {
        discover(IncludeDiscovery(of: service), at: \.includes[service.handles.lowerBound], completion: completion)
    }

    /// Finds all characteristics of a service, or those with a UUID (Vol 3 Part G 4.6).
    package func discoverCharacteristics(
        _ uuid: BluetoothUUID? = nil,
        of service: RemoteService,
        completion: @escaping (Result<[RemoteCharacteristic], GATTError>) -> Void
    ) {
        let path = \AttributeCache.characteristics[service.handles.lowerBound]
        guard let uuid else {
            return discover(CharacteristicDiscovery(in: service.handles, uuid: nil), at: path, completion: completion)
        }
        if let known = cache?[keyPath: path] { return completion(.success(known.filter { $0.uuid == uuid })) }
        run(CharacteristicDiscovery(in: service.handles, uuid: uuid), completion: completion)
    }

    /// Finds all descriptors of a characteristic (Vol 3 Part G 4.7.1).
    package func discoverDescriptors(
        of characteristic: RemoteCharacteristic,
        completion: @escaping (Result<[RemoteDescriptor], GATTError>) -> Void
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
    /// Agrees with the peer on an MTU; see ``ATTBearer/exchangeMTU(completion:)``.
    package func exchangeMTU(completion: @escaping (Result<Int, GATTError>) -> Void) {
        bearer.exchangeMTU { completion($0.mapError(GATTError.init)) }
    }

    /// Reads the whole value of a characteristic or descriptor, however long it is.
    package func read(_ handle: UInt16, completion: @escaping (Result<PacketBuffer, GATTError>) -> Void) {
        run(ReadProcedure(handle), completion: completion)
    }

    /// Reads a value from an octet on, which is an error when the value ends before it (Vol 3 Part G 4.8.3).
    package func read(
        _ handle: UInt16,
        from offset: UInt16,
        completion: @escaping (Result<PacketBuffer, GATTError>) -> Void
    ) {
        run(ReadProcedure(handle, offset: offset), completion: completion)
    }

    /// Reads the values of a type in a range of handles; long ones only their first part.
    package func readValues(
        of uuid: BluetoothUUID,
        in handles: ClosedRange<UInt16> = 1...0xFFFF,
        completion: @escaping (Result<[RemoteValue], GATTError>) -> Void
    ) {
        run(ReadByTypeProcedure(uuid, in: handles), completion: completion)
    }

    /// Reads a value of a type that a server has once at most, or its first part; nil when there is none.
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

    /// Reads two values or more whose lengths the caller knows; they come one behind the other.
    package func readMultiple(
        _ handles: [UInt16],
        completion: @escaping (Result<PacketBuffer, GATTError>) -> Void
    ) {
        run(ReadMultipleProcedure(handles: handles), completion: completion)
    }

    /// Reads two values or more of any lengths. The last one may be cut, and some may be missing at the end.
    package func readMultipleVariable(
        _ handles: [UInt16],
        completion: @escaping (Result<[PacketBuffer], GATTError>) -> Void
    ) {
        run(ReadMultipleVariableProcedure(handles: handles), completion: completion)
    }

    /// Writes a value of up to 512 octets; a long one in parts (behaviour 5.9).
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

    /// Writes several values, all or none, and checks what the server understood of them (Vol 3 Part G 4.9.5).
    package func writeReliably(
        _ writes: [(handle: UInt16, value: PacketBuffer)],
        completion: @escaping (Result<Void, GATTError>) -> Void
    ) {
        if let long = writes.first(where: { $0.value.count > ATTBearer.maximumAttributeLength }) {
            return completion(.failure(.valueTooLong(long.value.count)))
        }
        run(LongWriteProcedure(writes, checksEcho: true), completion: completion)
    }

    /// Writes a value without an answer, cut to what the MTU allows.
    ///
    /// - Returns: false when there is no room, see ``ATTBearer/write(_:withoutResponseTo:)``, or the link is not secure
    ///   enough. The bearer's ``ATTBearer/onCommandRoom`` follows in both cases, unless the link never gets secure.
    package func write(_ value: consuming PacketBuffer, withoutResponseTo handle: UInt16) -> Bool {
        if let refusal, !isClosed {
            wish.commandRefused()
            askForSecurity(refusal)
            return false
        }
        return bearer.write(value, withoutResponseTo: handle)
    }

    /// Writes a value without an answer, signed as long as the link is not encrypted (Core Vol 3 Part G 4.9.2). For
    /// characteristics whose properties allow signed writes. A signed value has at most the MTU less 15 octets.
    ///
    /// - Returns: false when there is no room; then nothing is sent, and ``ATTBearer/onCommandRoom`` follows.
    package func writeSigned(_ value: consuming PacketBuffer, to handle: UInt16) throws(GATTError) -> Bool {
        if security.isEncrypted { return write(value, withoutResponseTo: handle) }
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
