import ATT
import BluetoothTypes
import L2CAP

extension GATTServerSession {
    private func readable(_ handle: UInt16, _ reply: ATTReply) -> Result<Attribute, ATTErrorCode> {
        guard let attribute = database?[handle] else { return .failure(.invalidHandle) }
        if let refusal = refusalOfReading(attribute, reply) { return .failure(refusal) }
        return .success(attribute)
    }

    /// The reason why a request cannot read an attribute, given the weakest security since the request began to arrive;
    /// nil if it can.
    func refusalOfReading(_ attribute: Attribute, _ reply: ATTReply) -> ATTErrorCode? {
        attribute.refusalOfReading(history.linkSecurity(since: reply.moment))
    }

    /// The first handle that a request cannot read, with the error. Check again when the values are available, since
    /// the app may take its time to answer: a value read over an encrypted link must not be sent in the clear (AB-A02).
    func refusalOfReading(_ handles: some Sequence<UInt16>, _ reply: ATTReply) -> (code: ATTErrorCode, handle: UInt16)?
    {
        for handle in handles {
            if case .failure(let code) = readable(handle, reply) { return (code, handle) }
        }
        return nil
    }

    /// Gets the octets of a value from `offset` on, from the delegate if the database does not store it.
    func value(
        of attribute: Attribute,
        offset: Int,
        completion: @escaping (Result<PacketBuffer, ATTErrorCode>) -> Void
    ) {
        if case .databaseHash = attribute.source { hashIsRead() }
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

    /// Serves Read and Read Blob with as much as fits into one response (Vol 3 Part F 3.4.4.3 and 3.4.4.5).
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

    /// Serves Read Multiple with the concatenated values, truncated at the MTU (Vol 3 Part F 3.4.4.7; AB-A03).
    func readMultiple(_ handles: [UInt16], _ reply: ATTReply) {
        let longest = reply.mtu - 1
        collect(handles, reply) { values in
            var joined = PacketBuffer(capacity: longest)
            for value in values { joined.append(contentsOf: value.prefix(upTo: longest - joined.count)) }
            reply.send(.readMultipleResponse(ATTReadMultipleResponse(values: joined)))
        }
    }

    /// Serves Read Multiple Variable with each value and its length, truncated at the MTU. If a length field does not
    /// fit, it and everything after it is omitted (Vol 3 Part F 3.4.4.12; AB-A03).
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

    /// Collects all values in order, or fails with the first error and its handle. All handles are checked before the
    /// delegate is asked for a value.
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
