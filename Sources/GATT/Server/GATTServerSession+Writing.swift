import ATT
import BluetoothTypes

extension GATTServerSession {
    /// Takes a command of the client. What cannot be done is ignored (Core Vol 3 Part F 3.4.5.3).
    func serve(command pdu: ATTPDU) {
        switch pdu {
        case .writeCommand(let command) where !isHeldBack:
            apply([GATTWrite(handle: command.handle, value: command.value)], expectsResponse: false) { _, _ in }
        case .signedWriteCommand(let command): write(command)
        default: break
        }
    }

    /// Signed Write Command (Vol 3 Part F 3.4.5.4), never over an encrypted link (Part C 10.2.2; AB-A12). The signature is
    /// looked at first: what is ignored for another reason has used its counter, and is worth nothing later.
    private func write(_ command: ATTSignedWriteCommand) {
        guard !security.isEncrypted, verifySignature?(command.message, command.signature) == true else { return }
        guard !isHeldBack, database?[command.handle]?.takesSignedWrites == true else { return }
        let part = GATTWrite(handle: command.handle, value: command.value)
        apply([part], expectsResponse: false, isSigned: true) { _, _ in }
    }

    /// Write (Vol 3 Part F 3.4.5.1).
    func write(_ request: ATTWriteRequest, _ reply: ATTReply) {
        apply([GATTWrite(handle: request.handle, value: request.value)], expectsResponse: true) { error, handle in
            if let error { reply.fail(error, at: handle) } else { reply.send(.writeResponse(ATTWriteResponse())) }
        }
    }

    /// Prepare Write: offset and length wait for the execution (Vol 3 Part F 3.4.6.1).
    func prepare(_ request: ATTPrepareWriteRequest, _ reply: ATTReply) {
        guard let attribute = database?[request.handle] else { return reply.fail(.invalidHandle, at: request.handle) }
        let refusal =
            attribute.refusalOfWriting(security)
            ?? prepared.add(handle: request.handle, offset: request.offset, value: request.value)
        if let refusal { return reply.fail(refusal, at: request.handle) }
        watchPreparedWrites()
        reply.send(.prepareWriteResponse(ATTPrepareWriteResponse(request)))
    }

    /// Execute Write: all that was prepared in one go (Vol 3 Part F 3.4.6.3).
    func execute(_ request: ATTExecuteWriteRequest, _ reply: ATTReply) {
        guard request.flags == .write || request.flags == .cancel else { return reply.fail(.invalidPDU) }
        let parts = takePreparedWrites()
        // AB-A01: the client shall not believe that what was forgotten is written.
        if prepared.takeExpiry(), request.flags == .write { return reply.fail(.writeRequestRejected) }
        guard request.flags == .write, !parts.isEmpty else {
            return reply.send(.executeWriteResponse(ATTExecuteWriteResponse()))
        }
        // AB-A02: the attribute may be gone since it was prepared, or another one in its place.
        if let gone = parts.first(where: { !$0.isValid }) {
            return reply.fail(.databaseOutOfSync, at: gone.write.handle)
        }
        apply(parts.map(\.write), expectsResponse: true) { error, handle in
            if let error { return reply.fail(error, at: handle) }
            reply.send(.executeWriteResponse(ATTExecuteWriteResponse()))
        }
    }

    /// Checks all parts, asks the delegate about those that are its own, and then sets the client's own values. All
    /// or nothing.
    private func apply(
        _ parts: [GATTWrite],
        expectsResponse: Bool,
        isSigned: Bool = false,
        completion: @escaping (ATTErrorCode?, UInt16) -> Void
    ) {
        var asked: [GATTWrite] = []
        var own: [(source: Attribute.Source, handle: UInt16, value: PacketBuffer)] = []
        for part in parts {
            guard let attribute = database?[part.handle] else { return completion(.invalidHandle, part.handle) }
            if let refusal = refusal(of: part, at: attribute, isSigned: isSigned) {
                return completion(refusal, part.handle)
            }
            if case .asked = attribute.source {
                asked.append(part)
            } else if let index = own.firstIndex(where: { $0.handle == part.handle }) {
                guard part.offset == own[index].value.count else { return completion(.invalidOffset, part.handle) }
                own[index].value.append(contentsOf: part.value)
            } else {
                guard part.offset == 0 else { return completion(.invalidOffset, part.handle) }
                own.append((attribute.source, part.handle, part.value))
            }
        }
        for (source, handle, value) in own {
            if let refusal = refusal(of: value, for: source) { return completion(refusal, handle) }
        }
        let finish = { [weak self] (error: ATTErrorCode?, handle: UInt16) in
            // The answer goes before what the change may send.
            completion(error, handle)
            guard error == nil, let self else { return }
            for (source, _, value) in own { setOwnValue(value, for: source) }
        }
        guard !asked.isEmpty else { return finish(nil, 0) }
        ask(asked, expectsResponse: expectsResponse, completion: finish)
    }

    /// AB-A01, AB-A02: permissions are looked at again when prepared parts are executed, and so is the length.
    private func refusal(of part: GATTWrite, at attribute: Attribute, isSigned: Bool) -> ATTErrorCode? {
        if let refusal = attribute.refusalOfWriting(security, isSigned: isSigned) { return refusal }
        guard part.offset <= ATTBearer.maximumAttributeLength else { return .invalidOffset }
        return part.offset + part.value.count > ATTBearer.maximumAttributeLength ? .invalidAttributeValueLength : nil
    }

    private func ask(
        _ parts: [GATTWrite],
        expectsResponse: Bool,
        completion: @escaping (ATTErrorCode?, UInt16) -> Void
    ) {
        guard let server, let delegate = server.delegate else {
            return completion(.unlikelyError, parts.first?.handle ?? 0)
        }
        var isAnswered = false
        let request = GATTWriteRequest(session: self, writes: parts, expectsResponse: expectsResponse) {
            error,
            handle in
            guard !isAnswered else { return }
            isAnswered = true
            completion(error, handle)
        }
        delegate.server(server, didReceiveWrite: request)
    }
}
