import BluetoothTypes
import Cryptography
import EventLoops
import HCI

/// Encryption commands (Core Vol 4 Part E 7.8.22 to 7.8.26, 7.3.93, 7.3.94).
extension CommandTable {
    mutating func addEncryptionCommands() {
        add(LEEncrypt.self) { _, command in
            guard let key = Key128(littleEndian: command.key), let block = Block128(command.plaintext.reversed()) else {
                return .init(status: .invalidParameters, ciphertext: PacketBuffer([UInt8](repeating: 0, count: 16)))
            }
            return .init(ciphertext: PacketBuffer(Key128(AES128(key).encrypt(block)).littleEndianBytes))
        }
        add(LERand.self) { controller, _ in .init(number: controller.random.next()) }
        add(LEEnableEncryption.self, needs: .encryption) { $0.enableEncryption($1) }
        add(LELongTermKeyRequestReply.self, needs: .encryption) { controller, command in
            let key = Key128(littleEndian: command.longTermKey)
            return .init(controller.answer(command.handle, key: key), handle: command.handle)
        }
        add(LELongTermKeyRequestNegativeReply.self, needs: .encryption) { controller, command in
            .init(controller.answer(command.handle, key: nil), handle: command.handle)
        }
        add(ReadAuthenticatedPayloadTimeout.self, needs: .ping) { controller, command in
            guard let link = controller.link(command.handle) else {
                return .init(status: .unknownConnection, handle: command.handle, timeout: 0)
            }
            return .init(handle: command.handle, timeout: link.payloadWatch.timeout)
        }
        add(WriteAuthenticatedPayloadTimeout.self, needs: .ping) { controller, command in
            .init(controller.setAuthenticatedPayloadTimeout(command), handle: command.handle)
        }
    }
}

extension VirtualController {
    /// Only the central starts encryption, and not again before the outcome is known (7.8.24).
    fileprivate func enableEncryption(_ command: LEEnableEncryption) -> HCIStatus {
        guard let link = link(command.handle) else { return .unknownConnection }
        guard let key = Key128(littleEndian: command.longTermKey) else { return .invalidParameters }
        guard link.isCentral, link.ending == nil, !link.control.encryptionIsRequested else { return .commandDisallowed }
        let isQueued = link.requestEncryption(
            key: key,
            random: command.random,
            diversifier: command.encryptedDiversifier
        )
        return isQueued ? .success : .controllerBusy
    }

    fileprivate func answer(_ handle: ConnectionHandle, key: Key128?) -> HCIStatus {
        guard let link = link(handle) else { return .unknownConnection }
        return link.answerKeyRequest(key) ? .success : .commandDisallowed
    }

    /// The timeout must allow for an event that the peripheral answers (7.3.94).
    fileprivate func setAuthenticatedPayloadTimeout(_ command: WriteAuthenticatedPayloadTimeout) -> HCIStatus {
        guard let link = link(command.handle) else { return .unknownConnection }
        let timing = link.control.timing
        let least = timing.intervalMicroseconds * (1 + Int64(timing.latency))
        guard command.timeout > 0, Int64(command.timeout) * 10_000 >= least else { return .invalidParameters }
        link.restartPayloadWatch(timeout: command.timeout)
        return .success
    }
}
