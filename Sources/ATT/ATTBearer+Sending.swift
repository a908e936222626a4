import BluetoothTypes
import L2CAP

// MARK: - Client

extension ATTBearer {
    /// Sends a request when those before it are answered. `completion` is called exactly once, with the response that
    /// belongs to the request, and the moment at which that began to arrive.
    package func request(
        _ request: consuming ATTPDU,
        completion: @escaping (Result<ATTPDU, ATTBearerError>, _ moment: LinkMoment) -> Void
    ) {
        if let closure { return completion(.failure(.closed(closure)), moment) }
        let pdu = request.encoded()
        guard pdu.count <= mtu else { return completion(.failure(.requestTooLong(length: pdu.count)), moment) }
        let opcode = ATTOpcode(rawValue: pdu[0])
        switch requests.add(pdu, (opcode, completion), start: start) {
        case .send(let pdu):
            channel.send(pdu)
            armTimer()
        case .waits: break
        case .full: completion(.failure(.queueFull), moment)
        }
    }

    /// Agrees with the peer on an MTU (Core Vol 3 Part F 3.4.2), unless either side has done so before: a bearer
    /// exchanges once. A peer that does not know the request leaves it at 23.
    package func exchangeMTU(completion: @escaping (Result<Int, ATTBearerError>) -> Void) {
        if let closure { return completion(.failure(.closed(closure))) }
        if hasExchangedMTU { return completion(.success(mtu)) }
        exchangeWaiters.append(completion)
        guard exchangeWaiters.count == 1 else { return }
        request(.exchangeMTURequest(ATTExchangeMTURequest(mtu: UInt16(preferredMTU)))) { [weak self] result, _ in
            self?.finishExchange(result)
        }
    }

    private func finishExchange(_ result: Result<ATTPDU, ATTBearerError>) {
        let waiters = exchangeWaiters
        exchangeWaiters = []
        switch result {
        case .failure(.response(let error)) where error.code == .requestNotSupported: hasExchangedMTU = true
        case .failure(let error):
            waiters.forEach { $0(.failure(error)) }
            return offerRoom()
        case .success: break
        }
        for waiter in waiters { waiter(.success(mtu)) }
        offerRoom()
    }

    /// Sends a value without an answer. One longer than ``maximumValueLength`` is cut (behaviour 5.11).
    ///
    /// - Returns: false when there is no room; then nothing is sent, and ``onCommandRoom`` follows.
    package func write(_ value: consuming PacketBuffer, withoutResponseTo handle: UInt16) -> Bool {
        guard askForCommandRoom() else { return false }
        if value.count > maximumValueLength { value = value.prefix(upTo: maximumValueLength) }
        channel.send(ATTPDU.frame(.writeCommand, handle, value))
        return true
    }
}

extension ATTBearer {
    /// Sends a value with a signature and without an answer (Core Vol 3 Part F 3.4.5.4).
    ///
    /// - Returns: false when there is no room, or the PDU is longer than the MTU. Never taken on an enhanced bearer.
    package func write(_ command: ATTSignedWriteCommand) -> Bool {
        guard !isEnhanced, askForCommandRoom() else { return false }
        let pdu = command.framed()
        guard pdu.count <= mtu else { return false }
        channel.send(pdu)
        return true
    }
}

// MARK: - Server

extension ATTBearer {
    /// Notifies the peer of a value. One longer than ``maximumValueLength`` is cut (behaviour 7.44).
    ///
    /// - Parameter mayJoin: whether the peer takes several values in one PDU. Then a value that would have to wait for the
    ///   controller may wait together with others.
    /// - Returns: false when there is no room; then nothing is sent, and ``onNotificationRoom`` follows.
    package func notify(_ value: consuming PacketBuffer, of handle: UInt16, mayJoin: Bool = false) -> Bool {
        guard askForNotificationRoom() else { return false }
        if value.count > maximumValueLength { value = value.prefix(upTo: maximumValueLength) }
        if mayJoin, channel.queuedPDUs > 0, JoinedNotifications().fits(value, mtu: mtu) {
            join(value, of: handle)
            return true
        }
        sendJoined()
        channel.send(ATTPDU.frame(.handleValueNotification, handle, value))
        return true
    }

    /// Notifies the peer of several values in as few PDUs as they need (Core Vol 3 Part F 3.4.7.4). For a peer that takes
    /// such PDUs, and when ``askForNotificationRoom()`` has been answered yes.
    package func notify(_ values: [(handle: UInt16, value: PacketBuffer)]) {
        guard closure == nil else { return }
        for (handle, value) in values {
            if JoinedNotifications().fits(value, mtu: mtu) {
                join(value, of: handle)
            } else {
                sendJoined()
                channel.send(ATTPDU.frame(.handleValueNotification, handle, value.prefix(upTo: maximumValueLength)))
            }
        }
        sendJoined()
    }

    private func join(_ value: PacketBuffer, of handle: UInt16) {
        if !joined.fits(value, mtu: mtu) { sendJoined() }
        joined.add(value, of: handle, behind: channel.queuedPDUs)
    }

    /// Sends the values that wait together.
    func sendJoined() {
        guard !joined.isEmpty, let pdu = joined.take() else { return }
        channel.send(pdu)
    }

    /// Indicates a value to the peer when those before it are confirmed. `completion` is called exactly once, when
    /// the peer has confirmed or the bearer is closed.
    ///
    /// - Returns: false when there is no room; then `completion` is not called, and ``onNotificationRoom`` follows.
    package func indicate(
        _ value: consuming PacketBuffer,
        of handle: UInt16,
        completion: @escaping (Result<Void, ATTBearerError>) -> Void
    ) -> Bool {
        guard askForNotificationRoom() else { return false }
        if value.count > maximumValueLength { value = value.prefix(upTo: maximumValueLength) }
        sendJoined()
        let pdu = ATTPDU.frame(.handleValueIndication, handle, value)
        switch indications.add(pdu, completion, start: start) {
        case .send(let pdu):
            channel.send(pdu)
            armTimer()
        case .waits: break
        case .full: return false
        }
        return true
    }

    /// The answer to the request whose turn it is; later ones for the same turn are dropped.
    func answer(turn: UInt64, _ pdu: consuming PacketBuffer) {
        guard case .open = state, peerRequests.finish(turn: turn) else { return }
        channel.send(pdu)
        while case .serve(let request, let turn) = peerRequests.next() {
            serve(request, turn: turn)
        }
    }
}
