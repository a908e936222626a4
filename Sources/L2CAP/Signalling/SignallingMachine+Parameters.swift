import BluetoothTypes

// Connection parameters (Core Vol 3 Part A 4.20 and 4.21): a peripheral asks, a central decides.

extension SignallingMachine {
    mutating func requestParameters(_ parameters: ConnectionParameters, _ ticket: Ticket) -> [Action] {
        guard role == .peripheral, parameters.isLegal else { return [.finished(ticket, .parameters(.notAllowed))] }
        let isBusy = pending.values.contains { if case .parameters = $0 { true } else { false } }
        let actions = isBusy ? nil : start(.parameters(ticket), parameters)
        return actions ?? [.finished(ticket, .parameters(.busy))]
    }

    func parametersRequested(_ packet: SignallingPacket) throws(PacketError) -> [Action] {
        // Only a peripheral asks, and only a central answers (Vol 3 Part A 4.20; L2CAP/LE/CPU/BI-02).
        guard role == .central else { return reject(packet.code, packet.identifier, CommandReject()) }
        let parameters = try ConnectionParameters(reading: packet.data)
        // AB-C10: no policy sees illegal values, and no controller.
        guard parameters.isLegal else {
            let refusal = ParameterUpdateResponse(isAccepted: false)
            return [.send(SignallingPacket(refusal, identifier: packet.identifier))]
        }
        return [.decide(parameters, identifier: packet.identifier)]
    }
}
