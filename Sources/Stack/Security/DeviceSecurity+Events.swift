import BluetoothTypes
import Cryptography
import HCI
import HCIHost
import SMP

// Dispatches the controller's events about encryption to their links.
extension DeviceSecurity {
    func listen(to host: HCIHost) {
        host.onEvent(LELongTermKeyRequest.self) { [weak self] in self?.keyRequested($0) }
        host.onEvent(EncryptionChange.self) { [weak self] in self?.encryptionChanged($0) }
        host.onEvent(EncryptionChangeV2.self) { [weak self] in self?.encryptionChanged($0.v1) }
        host.onEvent(EncryptionKeyRefreshComplete.self) { [weak self] event in
            self?.link(event.handle)?.encryptionRefreshed(event.status)
        }
        host.onEvent(AuthenticatedPayloadTimeoutExpired.self) { [weak self] event in
            // The peer has not authenticated a payload for too long, so it may no longer be the same device (Core Vol 6
            // Part B 5.4).
            self?.link(event.handle)?.securityLost()
        }
        host.onEvent(DisconnectionComplete.self) { [weak self] event in
            if event.status == .success { self?.link(event.handle)?.end() }
        }
    }

    private func encryptionChanged(_ event: EncryptionChange) {
        link(event.handle)?.encryptionChanged(event.status, isOn: event.state == .on)
    }

    private func keyRequested(_ event: LELongTermKeyRequest) {
        let handle = event.handle
        guard let key = link(handle)?.longTermKey(random: event.random, diversifier: event.encryptedDiversifier) else {
            return send(LELongTermKeyRequestNegativeReply(handle: handle))
        }
        send(LELongTermKeyRequestReply(handle: handle, longTermKey: PacketBuffer(key.littleEndianBytes)))
    }
}

extension EncryptionFailure {
    init(_ status: HCIStatus) {
        switch status {
        case .pinOrKeyMissing: self = .keyMissing
        case .connectionTimeout, .linkLayerResponseTimeout: self = .timedOut
        default: self = .other
        }
    }
}
