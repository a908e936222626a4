import BluetoothTypes
import Cryptography
import EventLoops
import HCI

/// Commands of key agreement on the curve P-256 (Core Vol 4 Part E 7.8.36, 7.8.37).
extension CommandTable {
    mutating func addPublicKeyCommands() {
        add(LEReadLocalP256PublicKey.self) { controller, _ in controller.drawKeyPair() }
        add(LEGenerateDHKey.self) { controller, command in controller.agree(command, with: controller.keyPair) }
        add(LEGenerateDHKeyV2.self) { controller, command in
            switch command.keyKind {
            case .generated: controller.agree(command.v1, with: controller.keyPair)
            case .debug: controller.agree(command.v1, with: .debug)
            default: HCIStatus.invalidParameters
            }
        }
        require(.encryption, for: LEReadLocalP256PublicKey.self)
        require(.encryption, for: LEGenerateDHKey.self)
        require(.encryption, for: LEGenerateDHKeyV2.self)
    }
}

extension VirtualController {
    /// Another pair each time. It is never the one that the specification prints: whoever has read that could listen
    /// (AB-S03).
    fileprivate func drawKeyPair() -> HCIStatus {
        var pair: P256KeyPair?
        repeat {
            pair = P256KeyPair(random: random.bytes)
        } while pair?.publicKey.isDebugKey == true
        guard let pair else { return .hardwareFailure }
        keyPair = pair
        host.send(
            LEReadLocalP256PublicKeyComplete(
                x: PacketBuffer(pair.publicKey.x.reversed()),
                y: PacketBuffer(pair.publicKey.y.reversed())
            )
        )
        return .success
    }

    /// A key that is no point on the curve is refused, and nothing is told about the own one (AB-S01).
    fileprivate func agree(_ command: LEGenerateDHKey, with pair: P256KeyPair?) -> HCIStatus {
        guard let pair else { return .commandDisallowed }
        let peer = P256Point(x: command.x.reversed(), y: command.y.reversed())
        guard let peer, let secret = pair.sharedSecret(with: peer) else {
            let none = PacketBuffer([UInt8](repeating: 0xFF, count: 32))
            host.send(LEGenerateDHKeyComplete(status: .invalidParameters, key: none))
            return .success
        }
        host.send(LEGenerateDHKeyComplete(key: PacketBuffer(secret.reversed())))
        return .success
    }
}
