import BluetoothTypes
import EventLoops

/// The signalling channel of one link (Core Vol 3 Part A 4).
///
/// It answers each request with one packet, follows requests for connection parameters as the role demands, and
/// refuses credit-based channels: nobody listens on any SPSM.
struct SignallingMachine {
    enum Event {
        /// A payload of the signalling channel.
        case received(PacketBuffer)
        /// As peripheral: parameters are wanted.
        case request(ConnectionParameters, at: Instant)
        /// As central: the policy has decided on a request.
        case decided(Bool, identifier: UInt8)
        /// The answer to our request did not come.
        case timeout
    }

    enum Action: Equatable {
        case send(SignallingPacket)
        /// A legal request, for the policy to decide on.
        case decide(ConnectionParameters, identifier: UInt8)
        case startTimer(Instant)
        case finished(ParameterUpdateOutcome)
        case discarded(SignallingFault)
    }

    private enum State {
        case idle
        case awaitsResponse(identifier: UInt8)
    }

    private let role: L2CAPConnection.Role
    private var state = State.idle
    private var lastIdentifier: UInt8 = 0

    init(role: L2CAPConnection.Role) {
        self.role = role
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .received(let payload): return receive(payload)
        case .request(let parameters, let now): return request(parameters, at: now)
        case .decided(let isAccepted, let identifier):
            return [.send(SignallingPacket(ParameterUpdateResponse(isAccepted: isAccepted), identifier: identifier))]
        case .timeout:
            state = .idle
            return [.finished(.timedOut)]
        }
    }

    private mutating func request(_ parameters: ConnectionParameters, at now: Instant) -> [Action] {
        guard role == .peripheral, parameters.isLegal else { return [.finished(.notAllowed)] }
        // 1 to 255, and not the same again before all others have been used (Vol 3 Part A 4).
        lastIdentifier = lastIdentifier == .max ? 1 : lastIdentifier + 1
        state = .awaitsResponse(identifier: lastIdentifier)
        return [
            .send(SignallingPacket(parameters, identifier: lastIdentifier)),
            .startTimer(now + L2CAPConnection.parameterUpdateTimeout),
        ]
    }

    // AB-C09: whatever is wrong with a packet, it gets one Command Reject at most.
    private mutating func receive(_ payload: PacketBuffer) -> [Action] {
        guard payload.count >= SignallingPacket.headerLength, payload[1] != 0 else {
            return [.discarded(.unanswerable)]
        }
        let code = SignallingCode(rawValue: payload[0])
        let identifier = payload[1]
        if payload.count > SignallingPacket.maximumLength {
            guard !code.isUnanswered else { return [.discarded(.unexpected(code))] }
            var limit = PacketBuffer(headroom: 0)
            limit.append(integer: UInt16(SignallingPacket.maximumLength))
            return reject(code, identifier, CommandReject(.signallingMTUExceeded, data: limit))
        }
        do {
            let packet = try SignallingPacket(reading: payload)
            return code.isUnanswered ? try answer(packet) : try command(packet)
        } catch {
            guard !code.isUnanswered else { return [.discarded(.unexpected(code))] }
            return malformed(code, identifier)
        }
    }

    /// An answer to our request, or one that nobody waits for.
    private mutating func answer(_ packet: SignallingPacket) throws(PacketError) -> [Action] {
        guard case .awaitsResponse(packet.identifier) = state else { return [.discarded(.unexpected(packet.code))] }
        switch packet.code {
        case .commandReject:
            state = .idle
            return [.finished(.notUnderstood)]
        case .parameterUpdateResponse:
            let response = try ParameterUpdateResponse(reading: packet.data)
            state = .idle
            return [.finished(response.result == 0 ? .accepted : .rejected)]
        default:
            return [.discarded(.unexpected(packet.code))]
        }
    }

    private func command(_ packet: SignallingPacket) throws(PacketError) -> [Action] {
        switch packet.code {
        case .parameterUpdateRequest:
            // Only a peripheral asks, and only a central answers (Vol 3 Part A 4.20; L2CAP/LE/CPU/BI-02).
            guard role == .central else { return reject(packet.code, packet.identifier, CommandReject()) }
            let parameters = try ConnectionParameters(reading: packet.data)
            guard parameters.isLegal else {
                let refusal = ParameterUpdateResponse(isAccepted: false)
                return [.send(SignallingPacket(refusal, identifier: packet.identifier))]
            }
            return [.decide(parameters, identifier: packet.identifier)]
        case .creditBasedConnectionRequest:
            _ = try CreditBasedConnectionRequest(reading: packet.data)
            let refusal = CreditBasedConnectionResponse(refused: .spsmNotSupported)
            return [.send(SignallingPacket(refusal, identifier: packet.identifier))]
        case .enhancedConnectionRequest:
            let request = try EnhancedConnectionRequest(reading: packet.data)
            let count = request.sources.channels.count
            let refusal = EnhancedConnectionResponse(refused: .spsmNotSupported, count: count)
            return [.send(SignallingPacket(refusal, identifier: packet.identifier))]
        case .reconfigureRequest:
            let response = ReconfigureResponse(result: ReconfigureResponse.invalidDestination)
            return [.send(SignallingPacket(response, identifier: packet.identifier))]
        case .disconnectionRequest:
            let request = try DisconnectionRequest(reading: packet.data)
            var channels = PacketBuffer(headroom: 0)
            request.write(to: &channels)
            return reject(packet.code, packet.identifier, CommandReject(.invalidChannel, data: channels))
        default:
            return reject(packet.code, packet.identifier, CommandReject())
        }
    }

    private func malformed(_ code: SignallingCode, _ identifier: UInt8) -> [Action] {
        // A list of channels that is too long, odd or empty has a result of its own (Vol 3 Part A 4.26; AB-C03).
        guard code == .enhancedConnectionRequest else { return reject(code, identifier, CommandReject()) }
        let refusal = EnhancedConnectionResponse(refused: .invalidParameters, count: 0)
        return [.send(SignallingPacket(refusal, identifier: identifier))]
    }

    private func reject(_ code: SignallingCode, _ identifier: UInt8, _ rejection: CommandReject) -> [Action] {
        [
            .send(SignallingPacket(rejection, identifier: identifier)),
            .discarded(.rejected(code, rejection.reason)),
        ]
    }
}
