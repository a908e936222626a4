import BluetoothTypes
import Cryptography
import EventLoops
import HCI

/// Commands for key agreement on the curve P-256 (Core Vol 4 Part E 7.8.36, 7.8.37).
extension CommandTable {
    mutating func addPublicKeyCommands() {
        add(LEReadLocalP256PublicKey.self, needs: .encryption) { controller, _ in controller.drawKeyPair() }
        add(LEGenerateDHKey.self, needs: .encryption) { $0.agree($1, with: $0.keyPair) }
        add(LEGenerateDHKeyV2.self, needs: .encryption) { controller, command in
            switch command.keyKind {
            case .generated: controller.agree(command.v1, with: controller.keyPair)
            case .debug: controller.agree(command.v1, with: .debug)
            default: HCIStatus.invalidParameters
            }
        }
    }
}

extension VirtualController {
    /// Generates a key pair and reports its public key.
    fileprivate func drawKeyPair() -> HCIStatus {
        guard let pair = generateKeyPair() else { return .hardwareFailure }
        host.send(
            LEReadLocalP256PublicKeyComplete(
                x: PacketBuffer(pair.publicKey.x.reversed()),
                y: PacketBuffer(pair.publicKey.y.reversed())
            )
        )
        return .success
    }

    /// Computes the shared secret. A public key that is not on the curve is rejected, so that it reveals nothing about
    /// the private key (AB-S01).
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
