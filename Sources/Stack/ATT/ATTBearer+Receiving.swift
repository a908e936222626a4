import BluetoothTypes
import L2CAP

extension ATTBearer {
    func receive(_ payload: PacketBuffer, at moment: LinkMoment) {
        guard case .open = state, let first = payload.first else { return }
        let opcode = ATTOpcode(rawValue: first)
        switch opcode.kind {
        case .notification: receiveNotification(opcode, payload, moment)
        case .indication: receiveIndication(payload, moment)
        case .response: receiveResponse(opcode, payload, moment)
        case .confirmation: receiveConfirmation(payload, moment)
        case .command: receiveCommand(payload, moment)
        case .request: receiveRequest(payload, moment)
        }
    }

    /// Handles the first octets of a PDU that exceeds the MTU announced to the peer. The channel drops the rest.
    ///
    /// The value is discarded. An oversized response still ends its request, so that the caller does not wait for the
    /// 30 s time-out.
    func receive(oversized opcode: ATTOpcode, length: Int, at moment: LinkMoment) {
        guard case .open = state else { return }
        switch opcode.kind {
        case .response:
            guard let request = requests.current, moment > request.start.moment,
                opcode.rawValue == request.waiter.opcode.rawValue &+ 1
            else { return }
            finishRequest(.failure(.oversizedResponse(opcode, length: length)), moment)
        case .indication: confirm()
        // A lone opcode is a malformed request, which gets its error response in turn.
        case .request: receiveRequest([opcode.rawValue], moment)
        case .notification, .command, .confirmation: break
        }
    }

    /// Whether the PDU respects the MTU (Core Vol 3 Part F 3.2.8).
    private func fits(_ payload: PacketBuffer) -> Bool { payload.count <= receivableLength }
}

// MARK: - PDUs from the peer's server

extension ATTBearer {
    /// The hot path of a stream of values: no copy and no allocation.
    private func receiveNotification(_ opcode: ATTOpcode, _ payload: PacketBuffer, _ moment: LinkMoment) {
        guard fits(payload) else { return }
        if opcode == .handleValueNotification {
            guard payload.count >= 3 else { return }
            onNotification?(UInt16(payload[1]) | UInt16(payload[2]) << 8, payload.suffix(after: 3), moment)
        } else if case .multipleHandleValueNotification(let packet)? = try? ATTPDU(reading: payload) {
            for entry in packet.entries { onNotification?(entry.handle, entry.value, moment) }
        }
    }

    /// Confirms at once, whatever the handler does with the value (AB-A09). A PDU without a complete handle is ignored.
    private func receiveIndication(_ payload: PacketBuffer, _ moment: LinkMoment) {
        guard payload.count >= 3 else { return }
        confirm()
        guard case .open = state, fits(payload) else { return }
        onIndication?(UInt16(payload[1]) | UInt16(payload[2]) << 8, payload.suffix(after: 3), moment)
    }

    /// Completes the current request if this PDU answers it. Any other response is ignored (AB-A05), and so is a
    /// response that began to arrive before the request was sent, since it cannot answer that request (AB-A10).
    private func receiveResponse(_ opcode: ATTOpcode, _ payload: PacketBuffer, _ moment: LinkMoment) {
        guard let request = requests.current, moment > request.start.moment,
            let result = Self.result(of: request.waiter.opcode, opcode, payload, mtu: mtu)
        else { return }
        if case .success(.exchangeMTUResponse(let response)) = result, agree(onMTU: Int(response.mtu)) {
            onMTUChange?(mtu)
        }
        finishRequest(result, moment)
    }

    private static func result(
        of request: ATTOpcode,
        _ opcode: ATTOpcode,
        _ payload: PacketBuffer,
        mtu: Int
    ) -> Result<ATTPDU, ATTBearerError>? {
        guard opcode == .errorResponse || opcode.rawValue == request.rawValue &+ 1 else { return nil }
        do throws(ATTDecodingError) {
            let pdu = try ATTPDU(reading: payload)
            if case .error(let error) = pdu {
                return error.request == request ? .failure(.response(error)) : nil
            }
            guard payload.count <= mtu else { return .failure(.oversizedResponse(opcode, length: payload.count)) }
            return .success(pdu)
        } catch {
            guard case .malformed(let opcode, let cause) = error, opcode != .errorResponse else { return nil }
            return .failure(.malformedResponse(opcode, cause))
        }
    }
}

// MARK: - PDUs from the peer's client

extension ATTBearer {
    /// Delivers a command. Unknown, malformed and oversized commands are ignored (Core Vol 3 Part F 3.3;
    /// GATT/SR/UNS/BI-02), and so are signed ones on an enhanced bearer (3.4.5.4).
    private func receiveCommand(_ payload: PacketBuffer, _ moment: LinkMoment) {
        guard fits(payload), let onCommand, let pdu = try? ATTPDU(reading: payload) else { return }
        if isEnhanced, case .signedWriteCommand = pdu { return }
        onCommand(pdu, moment)
    }

    func serve(_ request: ATTServerQueue.Request, turn: UInt64) {
        let payload = request.pdu
        let opcode = ATTOpcode(rawValue: payload[0])
        let reply = ATTReply(bearer: self, turn: turn, opcode: opcode, moment: request.moment)
        do throws(ATTDecodingError) {
            let pdu = try ATTPDU(reading: payload)
            guard fits(payload) else { return reply.fail(.invalidPDU) }
            if case .exchangeMTURequest(let request) = pdu {
                // AB-A04: an enhanced bearer uses the MTU of its channel (Vol 3 Part F 3.4.2.1).
                if isEnhanced { return reply.fail(.requestNotSupported) }
                serveExchange(request, reply)
            } else if let onRequest {
                onRequest(pdu, reply)
            } else {
                reply.fail(.requestNotSupported)
            }
        } catch {
            if case .malformed = error { reply.fail(.invalidPDU) } else { reply.fail(.requestNotSupported) }
        }
    }
}
