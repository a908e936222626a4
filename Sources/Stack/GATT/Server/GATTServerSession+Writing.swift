import ATT
import BluetoothTypes
import L2CAP

extension GATTServerSession {
    private typealias Part = PreparedWrites.Part

    /// Serves a command of the client. Commands that cannot be executed are ignored (Core Vol 3 Part F 3.4.5.3).
    func serve(command pdu: ATTPDU, at moment: LinkMoment) {
        switch pdu {
        case .writeCommand(let command) where !isHeldBack:
            let part = Part(write: GATTWrite(handle: command.handle, value: command.value), moment: moment)
            apply([part], completion: nil)
        case .signedWriteCommand(let command): write(command, at: moment)
        default: break
        }
    }

    /// Serves a Signed Write Command (Vol 3 Part F 3.4.5.4), but never over an encrypted link (Part C 10.2.2; AB-A12).
    ///
    /// The signature is verified first, so that a command ignored for another reason has used its counter and cannot be
    /// replayed. A command during which the security changed is ignored as well.
    private func write(_ command: ATTSignedWriteCommand, at moment: LinkMoment) {
        guard !linkSecurity.isEncrypted, history.isUnchanged(since: moment) else { return }
        guard verifySignature?(command.message, command.signature) == true else { return }
        guard !isHeldBack, database?[command.handle]?.takesSignedWrites == true else { return }
        let part = Part(write: GATTWrite(handle: command.handle, value: command.value), moment: moment)
        apply([part], isSigned: true, completion: nil)
    }

    /// Serves Write (Vol 3 Part F 3.4.5.1).
    func write(_ request: ATTWriteRequest, _ reply: ATTReply) {
        let part = Part(write: GATTWrite(handle: request.handle, value: request.value), moment: reply.moment)
        apply([part]) { refusal in
            if let refusal { return reply.fail(refusal.code, at: refusal.handle) }
            reply.send(.writeResponse(ATTWriteResponse()))
        }
    }

    /// Serves Prepare Write. Offset and length are checked at execution (Vol 3 Part F 3.4.6.1).
    func prepare(_ request: ATTPrepareWriteRequest, _ reply: ATTReply) {
        guard let attribute = database?[request.handle] else { return reply.fail(.invalidHandle, at: request.handle) }
        let refusal =
            attribute.refusalOfWriting(history.linkSecurity(since: reply.moment))
            ?? prepare(request, at: reply.moment)
        if let refusal { return reply.fail(refusal, at: request.handle) }
        watchPreparedWrites()
        reply.send(.prepareWriteResponse(ATTPrepareWriteResponse(request)))
    }

    /// Serves Execute Write: executes or discards everything prepared (Vol 3 Part F 3.4.6.3).
    func execute(_ request: ATTExecuteWriteRequest, _ reply: ATTReply) {
        guard request.flags == .write || request.flags == .cancel else { return reply.fail(.invalidPDU) }
        let parts = takePreparedWrites()
        // AB-A01: reports expired parts, so that the client does not consider them written.
        if takeExpiry(), request.flags == .write { return reply.fail(.writeRequestRejected) }
        guard request.flags == .write else {
            return reply.send(.executeWriteResponse(ATTExecuteWriteResponse()))
        }
        // AB-A02: the attribute may have been removed or replaced since it was prepared.
        if let gone = parts.first(where: { !$0.isValid }) {
            return reply.fail(.databaseOutOfSync, at: gone.write.handle)
        }
        apply(parts, isQueue: true) { refusal in
            if let refusal { return reply.fail(refusal.code, at: refusal.handle) }
            reply.send(.executeWriteResponse(ATTExecuteWriteResponse()))
        }
    }

    /// Checks all parts, passes those for the delegate to it, and then sets the client's own values. All or nothing.
    ///
    /// - Parameter completion: Responds to the client; nil for a command.
    private func apply(
        _ parts: [Part],
        isQueue: Bool = false,
        isSigned: Bool = false,
        completion: ((WriteRefusal?) -> Void)?
    ) {
        let (asked, own): ([GATTWrite], OwnWrites)
        do throws(WriteRefusal) {
            (asked, own) = try check(parts, isQueue: isQueue, isSigned: isSigned)
        } catch {
            completion?(error)
            return
        }
        guard let first = asked.first else { return finish(own, nil, completion) }
        // A command writes one value, here the delegate's, so that nothing is left to do afterwards.
        guard let completion else { return ask(asked, first: first.handle, completion: nil) }
        ask(asked, first: first.handle) { [weak self] refusal in
            if let self { finish(own, refusal, completion) } else { completion(refusal) }
        }
    }

    private func finish(_ own: OwnWrites, _ refusal: WriteRefusal?, _ completion: ((WriteRefusal?) -> Void)?) {
        // The response precedes anything that the change may send.
        completion?(refusal)
        guard refusal == nil else { return }
        for entry in own.entries { setOwnValue(entry.value, for: entry.source, since: entry.moment) }
    }

    private func check(
        _ parts: [Part],
        isQueue: Bool,
        isSigned: Bool
    ) throws(WriteRefusal) -> (asked: [GATTWrite], own: OwnWrites) {
        var asked: [GATTWrite] = []
        var own = OwnWrites()
        for part in parts {
            let handle = part.write.handle
            guard let attribute = database?[handle] else { throw WriteRefusal(code: .invalidHandle, handle: handle) }
            var code = refusal(of: part, at: attribute, isSigned: isSigned)
            if case .asked = attribute.source {
                asked.append(part.write)
            } else if code == nil {
                // Unlike a queued write, a plain write replaces the value.
                let current = isQueue ? ownValue(attribute.source) ?? [] : []
                code = own.add(part, to: attribute.source, current: current)
            }
            if let code { throw WriteRefusal(code: code, handle: handle) }
        }
        for entry in own.entries {
            let linkSecurity = history.linkSecurity(since: entry.moment)
            guard let code = refusal(of: entry.value, for: entry.source, over: linkSecurity) else { continue }
            throw WriteRefusal(code: code, handle: entry.handle)
        }
        return (asked, own)
    }

    /// The reason why a part cannot be written; nil if it can.
    ///
    /// AB-A01, AB-A02: permissions and length are checked again when prepared parts are executed. A part has the rights
    /// of the weakest security since it began to arrive.
    private func refusal(of part: Part, at attribute: Attribute, isSigned: Bool) -> ATTErrorCode? {
        let linkSecurity = history.linkSecurity(since: part.moment)
        if let refusal = attribute.refusalOfWriting(linkSecurity, isSigned: isSigned) { return refusal }
        let (offset, count) = (part.write.offset, part.write.value.count)
        guard offset <= ATTBearer.maximumAttributeLength else { return .invalidOffset }
        return offset + count > ATTBearer.maximumAttributeLength ? .invalidAttributeValueLength : nil
    }

    private func ask(_ parts: [GATTWrite], first: UInt16, completion: ((WriteRefusal?) -> Void)?) {
        guard let server, let delegate = server.delegate else {
            completion?(WriteRefusal(code: .unlikelyError, handle: first))
            return
        }
        var answer: (ATTErrorCode?, UInt16?) -> Void = { _, _ in }
        if let completion {
            var isAnswered = false
            answer = { error, handle in
                guard !isAnswered else { return }
                isAnswered = true
                completion(error.map { WriteRefusal(code: $0, handle: handle ?? first) })
            }
        }
        let request = GATTWriteRequest(
            session: self,
            writes: parts,
            expectsResponse: completion != nil,
            completion: answer
        )
        delegate.server(server, didReceiveWrite: request)
    }
}

/// The reason why nothing was written, and the attribute that caused it.
private struct WriteRefusal: Error {
    let code: ATTErrorCode
    let handle: UInt16
}
