import ATT
import BluetoothTypes

extension GATTServerSession {
    /// Answers a request of the client (Core Vol 3 Part F 3.4).
    func serve(_ pdu: ATTPDU, _ reply: ATTReply) {
        guard let database else { return reply.fail(.unlikelyError) }
        switch pdu {
        case .findInformationRequest(let request): find(request, in: database, reply)
        case .findByTypeValueRequest(let request): find(request, in: database, reply)
        case .readByGroupTypeRequest(let request): read(request, in: database, reply)
        case .readByTypeRequest(let request): read(request, in: database, reply)
        default:
            guard !refusesHandles() else { return reply.fail(.databaseOutOfSync) }
            serve(withHandles: pdu, reply)
        }
    }

    private func serve(withHandles pdu: ATTPDU, _ reply: ATTReply) {
        switch pdu {
        case .readRequest(let request): read(request.handle, offset: 0, reply) { .readResponse(.init(value: $0)) }
        case .readBlobRequest(let request):
            read(request.handle, offset: Int(request.offset), reply) { .readBlobResponse(.init(value: $0)) }
        case .readMultipleRequest(let request): readMultiple(request.set.handles, reply)
        case .readMultipleVariableRequest(let request): readMultipleVariable(request.set.handles, reply)
        case .writeRequest(let request): write(request, reply)
        case .prepareWriteRequest(let request): prepare(request, reply)
        case .executeWriteRequest(let request): execute(request, reply)
        default: reply.fail(.requestNotSupported)
        }
    }

    /// Find Information: as many as fit, all with types as wide as the first (Vol 3 Part F 3.4.3.2).
    private func find(_ request: ATTFindInformationRequest, in database: GATTDatabase, _ reply: ATTReply) {
        guard let range = request.range.closed else { return reply.fail(.invalidHandle, at: request.range.start) }
        var entries: [ATTFindInformationResponse.Entry] = []
        var room = reply.mtu - 2
        var width: BluetoothUUID.Width?
        for attribute in database[range] {
            let type = attribute.type.attributeForm
            room -= 2 + type.width.octets
            guard room >= 0, type.width == width ?? type.width else { break }
            width = type.width
            entries.append(.init(handle: attribute.handle, type: type))
        }
        guard !entries.isEmpty else { return reply.fail(.attributeNotFound, at: range.lowerBound) }
        reply.send(.findInformationResponse(ATTFindInformationResponse(entries)))
    }

    /// Find By Type Value: only values that anybody may read, and that the database has (Vol 3 Part F 3.4.3.3).
    private func find(_ request: ATTFindByTypeValueRequest, in database: GATTDatabase, _ reply: ATTReply) {
        guard let range = request.range.closed else { return reply.fail(.invalidHandle, at: request.range.start) }
        let type = BluetoothUUID(request.type)
        var groups: [ATTHandleRange] = []
        for attribute in database[range] where attribute.type == type {
            guard groups.count < (reply.mtu - 1) / 4 else { break }
            guard attribute.refusalOfReading(LinkSecurity()) == nil, matches(attribute, request.value) else { continue }
            groups.append(ATTHandleRange(attribute.handle, attribute.groupEnd))
        }
        guard !groups.isEmpty else { return reply.fail(.attributeNotFound, at: range.lowerBound) }
        reply.send(.findByTypeValueResponse(ATTFindByTypeValueResponse(groups)))
    }

    /// A service's UUID may be asked for in either width.
    private func matches(_ attribute: Attribute, _ value: PacketBuffer) -> Bool {
        guard let own = ownValue(attribute.source) else { return false }
        if own == value { return true }
        guard attribute.type == GATTUUID.primaryService, let uuid = BluetoothUUID(littleEndian: value) else {
            return false
        }
        return BluetoothUUID(littleEndian: own) == uuid
    }

    /// Read By Group Type: services are the only groups (Vol 3 Part G 2.5.4).
    private func read(_ request: ATTReadByGroupTypeRequest, in database: GATTDatabase, _ reply: ATTReply) {
        guard let range = request.range.closed else { return reply.fail(.invalidHandle, at: request.range.start) }
        guard request.type == GATTUUID.primaryService || request.type == GATTUUID.secondaryService else {
            return reply.fail(.unsupportedGroupType, at: range.lowerBound)
        }
        var entries: [ATTReadByGroupTypeResponse.Entry] = []
        var room = reply.mtu - 2
        for attribute in database[range] where attribute.type == request.type {
            guard case .fixed(let value) = attribute.source else { continue }
            room -= 4 + value.count
            guard room >= 0, value.count == entries.first?.value.count ?? value.count else { break }
            let group = ATTHandleRange(attribute.handle, attribute.groupEnd)
            entries.append(.init(group: group, value: value))
        }
        guard !entries.isEmpty else { return reply.fail(.attributeNotFound, at: range.lowerBound) }
        reply.send(.readByGroupTypeResponse(ATTReadByGroupTypeResponse(entries)))
    }

    /// Read By Type: values as long as the first. One that the delegate has is answered alone; the client goes on
    /// behind it (Vol 3 Part F 3.4.4.1).
    private func read(_ request: ATTReadByTypeRequest, in database: GATTDatabase, _ reply: ATTReply) {
        guard let range = request.range.closed else { return reply.fail(.invalidHandle, at: request.range.start) }
        let longest = min(reply.mtu - 4, 253)
        var entries: [ATTReadByTypeResponse.Entry] = []
        var room = reply.mtu - 2
        for attribute in database[range] where attribute.type == request.type {
            if let refusal = attribute.refusalOfReading(security) {
                guard entries.isEmpty else { break }
                return reply.fail(refusal, at: attribute.handle)
            }
            guard let value = ownValue(attribute.source)?.prefix(upTo: longest) else {
                guard entries.isEmpty else { break }
                return ask(attribute, longest: longest, reply)
            }
            room -= 2 + value.count
            guard room >= 0, value.count == entries.first?.value.count ?? value.count else { break }
            entries.append(.init(handle: attribute.handle, value: value))
        }
        guard !entries.isEmpty else { return reply.fail(.attributeNotFound, at: range.lowerBound) }
        reply.send(.readByTypeResponse(ATTReadByTypeResponse(entries)))
    }

    private func ask(_ attribute: Attribute, longest: Int, _ reply: ATTReply) {
        let handle = attribute.handle
        value(of: attribute, offset: 0) { result in
            switch result {
            case .success(let value):
                let entry = ATTReadByTypeResponse.Entry(handle: handle, value: value.prefix(upTo: longest))
                reply.send(.readByTypeResponse(ATTReadByTypeResponse([entry])))
            case .failure(let code): reply.fail(code, at: handle)
            }
        }
    }
}
