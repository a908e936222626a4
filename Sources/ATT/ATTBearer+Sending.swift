import BluetoothTypes
import L2CAP

// MARK: - Client

extension ATTBearer {
    /// Sends a request once the requests before it have completed.
    ///
    /// - Parameter completion: Called exactly once, with the matching response and the moment at which it began to
    ///   arrive.
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

    /// Negotiates the MTU with the peer (Core Vol 3 Part F 3.4.2).
    ///
    /// A bearer exchanges once. If either side has already done so, this method completes with the MTU in force. A peer
    /// that does not support the request leaves the MTU at 23.
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

    /// Sends a Write Command. A value longer than ``maximumValueLength`` is truncated (behaviour 5.11).
    ///
    /// - Returns: False if there is no room. Nothing is sent then, and ``onCommandRoom`` is called later.
    package func write(_ value: consuming PacketBuffer, withoutResponseTo handle: UInt16) -> Bool {
        guard askForCommandRoom() else { return false }
        if value.count > maximumValueLength { value = value.prefix(upTo: maximumValueLength) }
        channel.send(ATTPDU.frame(.writeCommand, handle, value))
        return true
    }
}

extension ATTBearer {
    /// Sends a Signed Write Command (Core Vol 3 Part F 3.4.5.4).
    ///
    /// - Returns: False if there is no room, if the PDU exceeds the MTU, or if this is an enhanced bearer.
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
    /// Sends a notification. A value longer than ``maximumValueLength`` is truncated (behaviour 7.44).
    ///
    /// - Parameter mayJoin: Whether the peer supports Multiple Handle Value Notifications. A value that would have to
    ///   wait for the controller is then batched with others.
    /// - Returns: False if there is no room. Nothing is sent then, and ``onNotificationRoom`` is called later.
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

    /// Notifies the peer of several values in as few PDUs as possible (Core Vol 3 Part F 3.4.7.4).
    ///
    /// Call this only if the peer supports Multiple Handle Value Notifications and ``askForNotificationRoom()`` has
    /// returned true.
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

    /// Flushes the batched notifications.
    func sendJoined() {
        guard !joined.isEmpty, let pdu = joined.take() else { return }
        channel.send(pdu)
    }

    /// Sends an indication once the indications before it are confirmed.
    ///
    /// - Parameter completion: Called exactly once, when the peer has confirmed or the bearer is closed. Not called if
    ///   this method returns false.
    /// - Returns: False if there is no room; ``onNotificationRoom`` is called later.
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

    /// Sends the response for `turn` and serves the queued requests. A second response for the same turn is dropped.
    func answer(turn: UInt64, _ pdu: consuming PacketBuffer) {
        guard case .open = state, peerRequests.finish(turn: turn) else { return }
        channel.send(pdu)
        while case .serve(let request, let turn) = peerRequests.next() {
            serve(request, turn: turn)
        }
    }
}
