import BluetoothTypes

// Connection parameter updates (Core Vol 3 Part A 4.20 and 4.21): the peripheral requests, the central decides.

extension SignallingMachine {
    mutating func requestParameters(_ parameters: ConnectionParameters, _ ticket: Ticket) -> [Action] {
        guard role == .peripheral, parameters.isLegal else { return [.finished(ticket, .parameters(.notAllowed))] }
        let isBusy = pending.values.contains { if case .parameters = $0 { true } else { false } }
        let actions = isBusy ? nil : start(.parameters(ticket), parameters)
        return actions ?? [.finished(ticket, .parameters(.busy))]
    }

    func parametersRequested(_ packet: SignallingPacket) throws(PacketError) -> [Action] {
        // Only a peripheral may send the request, and only a central answers it (Vol 3 Part A 4.20;
        // L2CAP/LE/CPU/BI-02).
        guard role == .central else { return reject(packet.code, packet.identifier, CommandReject()) }
        let parameters = try ConnectionParameters(reading: packet.data)
        // AB-C10: illegal values reach neither the policy nor a controller.
        guard parameters.isLegal else {
            let refusal = ParameterUpdateResponse(isAccepted: false)
            return [.send(SignallingPacket(refusal, identifier: packet.identifier))]
        }
        return [.decide(parameters, identifier: packet.identifier)]
    }
}
