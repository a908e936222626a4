import ATT
import BluetoothTypes
import L2CAP

extension GATTServerSession {
    /// An attribute that a request may read, or the reason why not.
    private func readable(_ handle: UInt16, _ reply: ATTReply) -> Result<Attribute, ATTErrorCode> {
        guard let attribute = database?[handle] else { return .failure(.invalidHandle) }
        if let refusal = refusalOfReading(attribute, reply) { return .failure(refusal) }
        return .success(attribute)
    }

    /// Why a request cannot read an attribute over the link as it is, and as it was when the request arrived.
    func refusalOfReading(_ attribute: Attribute, _ reply: ATTReply) -> ATTErrorCode? {
        attribute.refusalOfReading(securities.weakest(since: reply.moment))
    }

    /// The first handle that a request cannot read. Looked at again when the values are there, for which the app may have
    /// taken its time: what was read over an encrypted link is not sent in the clear (AB-A02).
    func refusalOfReading(_ handles: some Sequence<UInt16>, _ reply: ATTReply) -> (code: ATTErrorCode, handle: UInt16)?
    {
        for handle in handles {
            if case .failure(let code) = readable(handle, reply) { return (code, handle) }
        }
        return nil
    }

    /// The octets of a value from `offset` on; asks the delegate when the database does not have it.
    func value(
        of attribute: Attribute,
        offset: Int,
        completion: @escaping (Result<PacketBuffer, ATTErrorCode>) -> Void
    ) {
        if case .databaseHash = attribute.source { awareness.readHash() }
        if let value = ownValue(attribute.source) {
            return completion(offset > value.count ? .failure(.invalidOffset) : .success(value.suffix(after: offset)))
        }
        guard let server, let delegate = server.delegate else { return completion(.failure(.unlikelyError)) }
        var isAnswered = false
        let request = GATTReadRequest(session: self, handle: attribute.handle, offset: offset) { result in
            guard !isAnswered else { return }
            isAnswered = true
            completion(result)
        }
        delegate.server(server, didReceiveRead: request)
    }

    /// Read and Read Blob: what fits one response (Vol 3 Part F 3.4.4.3 and 3.4.4.5).
    func read(
        _ handle: UInt16,
        offset: Int,
        _ reply: ATTReply,
        response: @escaping (PacketBuffer) -> ATTPDU
    ) {
        switch readable(handle, reply) {
        case .failure(let code): reply.fail(code, at: handle)
        case .success(let attribute):
            let longest = reply.mtu - 1
            value(of: attribute, offset: offset) { [weak self] result in
                if let refusal = self?.refusalOfReading(attribute, reply) { return reply.fail(refusal, at: handle) }
                switch result {
                case .success(let value):
                    reply.send(response(value.count > longest ? value.prefix(upTo: longest) : value))
                case .failure(let code): reply.fail(code, at: handle)
                }
            }
        }
    }

    /// Read Multiple: the values one behind the other, cut at the MTU (Vol 3 Part F 3.4.4.7; AB-A03).
    func readMultiple(_ handles: [UInt16], _ reply: ATTReply) {
        let longest = reply.mtu - 1
        collect(handles, reply) { values in
            var joined = PacketBuffer(capacity: longest)
            for value in values { joined.append(contentsOf: value.prefix(upTo: longest - joined.count)) }
            reply.send(.readMultipleResponse(ATTReadMultipleResponse(values: joined)))
        }
    }

    /// Read Multiple Variable: each value with its length, cut at the MTU; a length that does not fit whole is left
    /// out with all behind it (Vol 3 Part F 3.4.4.12; AB-A03).
    func readMultipleVariable(_ handles: [UInt16], _ reply: ATTReply) {
        let longest = reply.mtu - 1
        collect(handles, reply) { values in
            var entries: [ATTReadMultipleVariableResponse.Entry] = []
            var room = longest
            for value in values where room >= 2 {
                let part = value.prefix(upTo: room - 2)
                entries.append(.init(length: UInt16(clamping: value.count), value: part))
                room -= 2 + part.count
            }
            reply.send(.readMultipleVariableResponse(ATTReadMultipleVariableResponse(entries)))
        }
    }

    /// All values in order, or the first error with its handle. Nobody is asked before every handle has been checked.
    private func collect(_ handles: [UInt16], _ reply: ATTReply, completion: @escaping ([PacketBuffer]) -> Void) {
        if let refusal = refusalOfReading(handles, reply) { return reply.fail(refusal.code, at: refusal.handle) }
        collect(handles.compactMap { database?[$0] }[...], [], reply) { [weak self] values in
            if let refusal = self?.refusalOfReading(handles, reply) {
                return reply.fail(refusal.code, at: refusal.handle)
            }
            completion(values)
        }
    }

    private func collect(
        _ attributes: ArraySlice<Attribute>,
        _ values: [PacketBuffer],
        _ reply: ATTReply,
        completion: @escaping ([PacketBuffer]) -> Void
    ) {
        guard let attribute = attributes.first else { return completion(values) }
        value(of: attribute, offset: 0) { [weak self] result in
            switch result {
            case .success(let value):
                self?.collect(attributes.dropFirst(), values + [value], reply, completion: completion)
            case .failure(let code): reply.fail(code, at: attribute.handle)
            }
        }
    }
}
