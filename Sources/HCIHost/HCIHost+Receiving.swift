import BluetoothTypes
import HCI

extension HCIHost {
    /// Adds a handler for an event type, called on the event loop after the host itself has handled the event. Events
    /// that the host rejects are not delivered.
    package func onEvent<E: HCIEvent>(_ type: E.Type, _ handler: @escaping (E) -> Void) {
        subscriptions.add(type, handler)
    }

    /// Adds a handler for vendor-specific events, called with their parameters (Core Vol 4 Part E 5.4.4).
    package func onVendorEvent(_ handler: @escaping (_ parameters: PacketBuffer) -> Void) {
        vendorHandlers.append(handler)
    }

    func receive(_ packet: HCIPacket) {
        guard phase != .idle else { return receiveWhileLeaving(packet) }
        do throws(PacketError) {
            switch packet.kind {
            case .event: try receiveEvent(packet.bytes)
            case .acl:
                if phase == .ready { try table.receive(packet.bytes) }
            case .synchronous, .isochronous: break
            case .command: throw PacketError(.value(UInt64(packet.kind.rawValue)), at: "packet type")
            }
        } catch {
            table.counters.malformed += 1
            happenings.tell(HostHappening.malformed(packet, error))
        }
    }

    private func receiveEvent(_ bytes: PacketBuffer) throws(PacketError) {
        let packet = try EventPacket(reading: bytes)
        switch packet.code {
        case NumberOfCompletedPackets.eventCode:
            if phase == .ready { try table.completedPackets(packet.parameters) }
        case CommandComplete.eventCode:
            try commandComplete(.reading(packet.parameters))
        case CommandStatus.eventCode:
            perform(queue.handle(.status(try .reading(packet.parameters))))
        case HardwareError.eventCode:
            let event = try HardwareError.reading(packet.parameters)
            // During a reset the controller may still report the failure that caused it.
            if !isResetting { controllerFailed(.hardwareError(event.code)) }
        case DataBufferOverflow.eventCode:
            let event = try DataBufferOverflow.reading(packet.parameters)
            table.counters.bufferOverflows += 1
            happenings.tell(HostHappening.bufferOverflow(linkKind: event.linkKind))
            _ = try subscriptions.deliver(packet)
        case .vendorSpecific:
            table.counters.vendorEvents += 1
            for handler in vendorHandlers { handler(packet.parameters) }
        default:
            if phase == .ready { try receiveLinkEvent(packet) }
        }
    }

    private func commandComplete(_ event: CommandComplete) throws(PacketError) {
        guard event.opcode == HostNumberOfCompletedPackets.opcode else {
            return perform(queue.handle(.complete(event)))
        }
        // The controller answers this command only on error, such as when the link ended at the same time (7.3.40). The
        // command credits in the answer count.
        table.counters.refusedCredits += 1
        perform(queue.handle(.complete(CommandComplete(credits: event.credits, opcode: .none, parameters: []))))
    }

    private func receiveLinkEvent(_ packet: EventPacket) throws(PacketError) {
        let generation = generation
        // Data held for this event is released last, after all callbacks and subscribers have run.
        var proven: HCIConnection?
        defer { if let proven { table.release(proven) } }
        let outcome = try table.handle(packet)
        noteOutcome(outcome)
        switch outcome {
        case .rejected:
            happenings.tell(HostHappening.notBelieved(packet))
            return
        case .noted: answerForNobody(packet)
        case .connected(let connection, let early):
            onConnection?(connection)
            for packet in early { table.deliver(packet, to: connection) }
        case .connectionFailed(let status): onConnectionFailed?(status)
        case .trainConnectionFailed(let status, let set): onTrainConnectionFailed?(set, status)
        case .disconnected(let connection, let reason): onDisconnection?(connection, reason)
        case .encryption(let connection, let report):
            connection.onEncryption?(report)
            proven = connection
        case .longTermKeyRequest(let connection, let request): ask(connection, request)
        case .authenticatedPayloadTimeout(let connection): connection.onAuthenticatedPayloadTimeout?()
        }
        guard self.generation == generation, try !subscriptions.deliver(packet) else { return }
        if HCIEventRegistry.type(for: packet.code, subevent: packet.subevent) == nil {
            table.counters.unknownEvents += 1
        }
    }

    /// Requests the long term key from the owner of a link. Sends a negative reply if the link has no owner.
    private func ask(_ connection: HCIConnection, _ request: LELongTermKeyRequest) {
        if let ask = connection.onLongTermKeyRequest { return ask(request) }
        guard !subscriptions.contains(LELongTermKeyRequest.self) else { return }
        send(LELongTermKeyRequestNegativeReply(handle: connection.handle))
    }

    /// Rejects a request without subscribers, so that the peer does not run into its time-out and drop the link.
    private func answerForNobody(_ packet: EventPacket) {
        switch packet.subevent {
        case LERemoteConnectionParameterRequest.leSubevent
        where !subscriptions.contains(LERemoteConnectionParameterRequest.self):
            guard let event = try? LERemoteConnectionParameterRequest.reading(packet.eventParameters) else { return }
            send(
                LERemoteConnectionParameterRequestNegativeReply(
                    handle: event.handle,
                    reason: .unacceptableConnectionParameters
                )
            )
        default: break
        }
    }
}
