import BluetoothTypes
import L2CAP

/// The Security Manager of a system that does not pair: whoever asks is told so, and all else is ignored.
public final class SecurityManager {
    /// Payloads of the channel while there are no Secure Connections (Core Vol 3 Part H 3.2).
    public static let maximumPayload = 23

    /// Called when the peer asked for pairing or security and was refused.
    public var onRefusal: (() -> Void)?

    private let channel: any L2CAPChannel
    private let machine: SecurityMachine

    /// A security manager on `channel`, whose callbacks it takes over.
    public init(channel: any L2CAPChannel, role: L2CAPConnection.Role) {
        self.channel = channel
        machine = SecurityMachine(role: role)
        channel.onReceive = { [weak self] payload in self?.receive(payload) }
    }

    private func receive(_ payload: PacketBuffer) {
        guard let answer = machine.answer(to: payload) else { return }
        channel.send(answer.framed())
        onRefusal?()
    }
}

/// What is answered to a command (Core Vol 3 Part H 2.3 and 2.4.6). Nothing is ever under way, so there is one state.
struct SecurityMachine {
    let role: L2CAPConnection.Role

    /// Nil when the command is not for this role, malformed, or part of a pairing that never began.
    func answer(to payload: PacketBuffer) -> PairingFailed? {
        guard let first = payload.first else { return nil }
        let fields = payload.suffix(after: 1)
        let isForUs =
            switch (SMPCode(rawValue: first), role) {
            // Only the central starts pairing, and only the peripheral asks it to.
            case (.pairingRequest, .peripheral): (try? PairingRequest(reading: fields)) != nil
            case (.securityRequest, .central): (try? SecurityRequest(reading: fields)) != nil
            default: false
            }
        return isForUs ? PairingFailed(.pairingNotSupported) : nil
    }
}
