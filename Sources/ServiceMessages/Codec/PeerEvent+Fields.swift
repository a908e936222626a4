import BluetoothTypes
import Foundation

extension PeerEvent: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [PeerEvent] {
        [
            .connected(name: nil, maximumWriteWithoutResponse: 0),
            .connectionFailed(ServiceError()),
            .disconnected(nil, isReconnecting: false, timestamp: nil),
            .servicesDiscovered(.success([])),
            .includedServicesDiscovered(of: 0, .success([])),
            .characteristicsDiscovered(of: 0, .success([])),
            .descriptorsDiscovered(of: 0, .success([])),
            .valueRead(0, .success([])),
            .descriptorUpdated(0, .success([])),
            .valueWritten(0, nil),
            .descriptorWritten(0, nil),
            .notifyStateChanged(0, isNotifying: false, nil),
            .rssiRead(.success(0)),
            .nameChanged(nil),
            .servicesModified(invalidated: []),
            .maximumWriteLengthChanged(0),
            .writeCreditsReturned(0),
            .notificationsAuthorized(false),
            .channelSoundingEnded(nil),
            .channelOpened(psm: 0, .success(ChannelID(0))),
            .valueNotified(0, []),
            .linkInformation(LinkFacts()),
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .connected: MessageKind(0, "connected")
        case .connectionFailed: MessageKind(1, "connectionFailed")
        case .disconnected: MessageKind(2, "disconnected")
        case .servicesDiscovered: MessageKind(3, "servicesDiscovered")
        case .includedServicesDiscovered: MessageKind(4, "includedServicesDiscovered")
        case .characteristicsDiscovered: MessageKind(5, "characteristicsDiscovered")
        case .descriptorsDiscovered: MessageKind(6, "descriptorsDiscovered")
        case .valueRead: MessageKind(7, "valueRead")
        case .descriptorUpdated: MessageKind(8, "descriptorUpdated")
        case .valueWritten: MessageKind(9, "valueWritten")
        case .descriptorWritten: MessageKind(10, "descriptorWritten")
        case .notifyStateChanged: MessageKind(11, "notifyStateChanged")
        case .rssiRead: MessageKind(12, "rssiRead")
        case .nameChanged: MessageKind(13, "nameChanged")
        case .servicesModified: MessageKind(14, "servicesModified")
        case .maximumWriteLengthChanged: MessageKind(15, "maximumWriteLengthChanged")
        case .writeCreditsReturned: MessageKind(16, "writeCreditsReturned")
        case .notificationsAuthorized: MessageKind(17, "notificationsAuthorized")
        case .channelSoundingEnded: MessageKind(18, "channelSoundingEnded")
        case .channelOpened: MessageKind(19, "channelOpened")
        case .valueNotified: MessageKind(20, "valueNotified")
        case .linkInformation: MessageKind(21, "linkInformation")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .connected(let name, let maximum):
            let name = try coder.optional("name", name)
            self = .connected(name: name, maximumWriteWithoutResponse: try coder.number("maximum", maximum))
        case .connectionFailed(let error): self = .connectionFailed(try coder.field("error", error))
        case .disconnected(let error, let isReconnecting, let timestamp):
            self = .disconnected(
                try coder.optional("error", error),
                isReconnecting: try coder.field("isReconnecting", isReconnecting),
                timestamp: try coder.optional("timestamp", timestamp)
            )
        case .servicesDiscovered(let services):
            self = .servicesDiscovered(try coder.result("services", services, limit: ServiceLimits.remoteServices))
        case .includedServicesDiscovered(let of, let found):
            self = .includedServicesDiscovered(
                of: try coder.field("service", of),
                try coder.result("services", found, limit: ServiceLimits.includedServices)
            )
        case .characteristicsDiscovered(let of, let found):
            let service = try coder.field("service", of)
            self = .characteristicsDiscovered(
                of: service,
                try coder.result("characteristics", found, limit: ServiceLimits.characteristics)
            )
        case .descriptorsDiscovered(let of, let found):
            let characteristic = try coder.field("characteristic", of)
            self = .descriptorsDiscovered(
                of: characteristic,
                try coder.result("descriptors", found, limit: ServiceLimits.descriptors)
            )
        case .valueRead(let of, let value):
            self = .valueRead(try coder.field("characteristic", of), try coder.result("value", value))
        case .valueNotified(let of, let value):
            self = .valueNotified(try coder.field("characteristic", of), try coder.octets("value", value))
        case .descriptorUpdated(let descriptor, let value):
            self = .descriptorUpdated(try coder.field("descriptor", descriptor), try coder.result("value", value))
        case .valueWritten(let of, let error):
            self = .valueWritten(try coder.field("characteristic", of), try coder.optional("error", error))
        case .descriptorWritten(let descriptor, let error):
            self = .descriptorWritten(try coder.field("descriptor", descriptor), try coder.optional("error", error))
        case .notifyStateChanged(let of, let isOn, let error):
            let characteristic = try coder.field("characteristic", of)
            let isNotifying = try coder.field("isNotifying", isOn)
            self = .notifyStateChanged(characteristic, isNotifying: isNotifying, try coder.optional("error", error))
        case .rssiRead(let rssi): self = .rssiRead(try coder.result("rssi", rssi))
        case .nameChanged(let name): self = .nameChanged(try coder.optional("name", name))
        case .servicesModified(let handles):
            self = .servicesModified(invalidated: try coder.list("invalidated", handles, limit: MessageLimits.list))
        case .maximumWriteLengthChanged(let maximum):
            self = .maximumWriteLengthChanged(try coder.number("maximum", maximum))
        case .writeCreditsReturned(let count): self = .writeCreditsReturned(try coder.number("count", count))
        case .channelOpened(let psm, let channel):
            self = .channelOpened(psm: try coder.field("psm", psm), try coder.result("channel", channel))
        case .linkInformation(let facts): self = .linkInformation(try coder.field("facts", facts))
        case .notificationsAuthorized(let isAuthorized):
            self = .notificationsAuthorized(try coder.field("isAuthorized", isAuthorized))
        case .channelSoundingEnded(let error): self = .channelSoundingEnded(try coder.optional("error", error))
        }
    }
}
