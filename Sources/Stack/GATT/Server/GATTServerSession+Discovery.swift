import ATT
import BluetoothTypes

extension GATTServerSession {
    /// Serves a request of the client (Core Vol 3 Part F 3.4).
    func serve(_ pdu: ATTPDU, _ reply: ATTReply) {
        guard let database else { return reply.fail(.unlikelyError) }
        if let handle = handleOutOfSync(pdu, reply) { return reply.fail(.databaseOutOfSync, at: handle) }
        switch pdu {
        case .findInformationRequest(let request): find(request, in: database, reply)
        case .findByTypeValueRequest(let request): find(request, in: database, reply)
        case .readByGroupTypeRequest(let request): read(request, in: database, reply)
        case .readByTypeRequest(let request): read(request, in: database, reply)
        default: serve(withHandles: pdu, reply)
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

    /// Serves Find Information with as many attributes as fit, all with UUIDs as wide as the first (Vol 3 Part F
    /// 3.4.3.2).
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

    /// Serves Find By Type Value. Considers only values that are stored in the database and readable without security
    /// (Vol 3 Part F 3.4.3.3).
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

    /// Whether an attribute has the value. A service's UUID matches in either width.
    private func matches(_ attribute: Attribute, _ value: PacketBuffer) -> Bool {
        guard let own = ownValue(attribute.source) else { return false }
        if own == value { return true }
        guard attribute.type == GATTUUID.primaryService, let uuid = BluetoothUUID(littleEndian: value) else {
            return false
        }
        return BluetoothUUID(littleEndian: own) == uuid
    }

    /// Serves Read By Group Type. Services are the only groups (Vol 3 Part G 2.5.4).
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

    /// Serves Read By Type with values as long as the first (Vol 3 Part F 3.4.4.1), including those from the delegate.
    private func read(_ request: ATTReadByTypeRequest, in database: GATTDatabase, _ reply: ATTReply) {
        guard let range = request.range.closed else { return reply.fail(.invalidHandle, at: request.range.start) }
        let answer = ReadByTypeAnswer(mtu: reply.mtu)
        // Each entry takes more than one octet, so more attributes than that never fit.
        let found = database[range].lazy.filter { $0.type == request.type }.prefix(reply.mtu)
        guard !found.isEmpty else { return reply.fail(.attributeNotFound, at: range.lowerBound) }
        collect(Array(found)[...], answer, reply)
    }

    private func collect(_ attributes: ArraySlice<Attribute>, _ answer: ReadByTypeAnswer, _ reply: ATTReply) {
        guard let attribute = attributes.first, answer.hasRoom else { return send(answer, reply) }
        if let refusal = refusalOfReading(attribute, reply) {
            return send(answer, reply, orFail: refusal, at: attribute.handle)
        }
        value(of: attribute, offset: 0) { [weak self] result in
            switch result {
            case .failure(let code): self?.send(answer, reply, orFail: code, at: attribute.handle)
            case .success(let value):
                var answer = answer
                guard answer.add(value, of: attribute.handle) else {
                    self?.send(answer, reply)
                    return
                }
                self?.collect(attributes.dropFirst(), answer, reply)
            }
        }
    }

    /// Sends the collected entries, or the error if there are none.
    private func send(
        _ answer: ReadByTypeAnswer,
        _ reply: ATTReply,
        orFail code: ATTErrorCode = .attributeNotFound,
        at handle: UInt16 = 0
    ) {
        guard !answer.entries.isEmpty else { return reply.fail(code, at: handle) }
        if let refusal = refusalOfReading(answer.entries.lazy.map(\.handle), reply) {
            return reply.fail(refusal.code, at: refusal.handle)
        }
        reply.send(.readByTypeResponse(ATTReadByTypeResponse(answer.entries)))
    }
}

/// The entries of a Read By Type response while they are being collected.
private struct ReadByTypeAnswer {
    private(set) var entries: [ATTReadByTypeResponse.Entry] = []
    private var room: Int
    private let longest: Int

    init(mtu: Int) {
        room = mtu - 2
        longest = min(mtu - 4, ATTReadByTypeResponse.maximumValue)
    }

    /// Whether another value as long as the first fits. The first always fits, as it is truncated.
    var hasRoom: Bool {
        guard let first = entries.first else { return true }
        return room >= 2 + first.value.count
    }

    /// Adds a value, truncated to the maximum length of an entry. Returns false if it is not as long as the first.
    /// Check ``hasRoom`` before.
    mutating func add(_ value: PacketBuffer, of handle: UInt16) -> Bool {
        let value = value.prefix(upTo: longest)
        guard value.count == entries.first?.value.count ?? value.count else { return false }
        room -= 2 + value.count
        entries.append(.init(handle: handle, value: value))
        return true
    }
}
