import BluetoothTypes
import Foundation

extension PeerEvent: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [PeerEvent] = [
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

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .connected(let name, let maximum):
            try coder.kind(0, "connected")
            let name = try coder.optional("name", name)
            self = .connected(name: name, maximumWriteWithoutResponse: try coder.number("maximum", maximum))
        case .connectionFailed(let error):
            try coder.kind(1, "connectionFailed")
            self = .connectionFailed(try coder.field("error", error))
        case .disconnected(let error, let isReconnecting, let timestamp):
            try coder.kind(2, "disconnected")
            self = .disconnected(
                try coder.optional("error", error),
                isReconnecting: try coder.field("isReconnecting", isReconnecting),
                timestamp: try coder.optional("timestamp", timestamp)
            )
        case .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered:
            try codeDiscovery(&coder)
        case .valueRead, .valueNotified, .descriptorUpdated, .valueWritten, .descriptorWritten, .notifyStateChanged:
            try codeValue(&coder)
        case .rssiRead(let rssi):
            try coder.kind(12, "rssiRead")
            self = .rssiRead(try coder.result("rssi", rssi))
        case .nameChanged(let name):
            try coder.kind(13, "nameChanged")
            self = .nameChanged(try coder.optional("name", name))
        case .servicesModified(let handles):
            try coder.kind(14, "servicesModified")
            self = .servicesModified(invalidated: try coder.list("invalidated", handles, limit: MessageLimits.list))
        case .maximumWriteLengthChanged(let maximum):
            try coder.kind(15, "maximumWriteLengthChanged")
            self = .maximumWriteLengthChanged(try coder.number("maximum", maximum))
        case .writeCreditsReturned(let count):
            try coder.kind(16, "writeCreditsReturned")
            self = .writeCreditsReturned(try coder.number("count", count))
        case .channelOpened(let psm, let channel):
            try coder.kind(19, "channelOpened")
            self = .channelOpened(psm: try coder.field("psm", psm), try coder.result("channel", channel))
        case .linkInformation(let facts):
            try coder.kind(21, "linkInformation")
            self = .linkInformation(try coder.field("facts", facts))
        case .notificationsAuthorized(let isAuthorized):
            try coder.kind(17, "notificationsAuthorized")
            self = .notificationsAuthorized(try coder.field("isAuthorized", isAuthorized))
        case .channelSoundingEnded(let error):
            try coder.kind(18, "channelSoundingEnded")
            self = .channelSoundingEnded(try coder.optional("error", error))
        }
    }

    /// Codes what a discovery has found.
    private mutating func codeDiscovery<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .servicesDiscovered(let services):
            try coder.kind(3, "servicesDiscovered")
            self = .servicesDiscovered(try coder.result("services", services, limit: ServiceLimits.remoteServices))
        case .includedServicesDiscovered(let of, let found):
            try coder.kind(4, "includedServicesDiscovered")
            self = .includedServicesDiscovered(
                of: try coder.field("service", of),
                try coder.result("services", found, limit: ServiceLimits.includedServices)
            )
        case .characteristicsDiscovered(let of, let found):
            try coder.kind(5, "characteristicsDiscovered")
            let service = try coder.field("service", of)
            self = .characteristicsDiscovered(
                of: service,
                try coder.result("characteristics", found, limit: ServiceLimits.characteristics)
            )
        case .descriptorsDiscovered(let of, let found):
            try coder.kind(6, "descriptorsDiscovered")
            let characteristic = try coder.field("characteristic", of)
            self = .descriptorsDiscovered(
                of: characteristic,
                try coder.result("descriptors", found, limit: ServiceLimits.descriptors)
            )
        default: break
        }
    }

    /// Codes what became of a characteristic or descriptor.
    private mutating func codeValue<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .valueRead(let of, let value):
            try coder.kind(7, "valueRead")
            self = .valueRead(try coder.field("characteristic", of), try coder.result("value", value))
        case .valueNotified(let of, let value):
            try coder.kind(20, "valueNotified")
            self = .valueNotified(try coder.field("characteristic", of), try coder.octets("value", value))
        case .descriptorUpdated(let descriptor, let value):
            try coder.kind(8, "descriptorUpdated")
            self = .descriptorUpdated(try coder.field("descriptor", descriptor), try coder.result("value", value))
        case .valueWritten(let of, let error):
            try coder.kind(9, "valueWritten")
            self = .valueWritten(try coder.field("characteristic", of), try coder.optional("error", error))
        case .descriptorWritten(let descriptor, let error):
            try coder.kind(10, "descriptorWritten")
            self = .descriptorWritten(try coder.field("descriptor", descriptor), try coder.optional("error", error))
        case .notifyStateChanged(let of, let isOn, let error):
            try coder.kind(11, "notifyStateChanged")
            let characteristic = try coder.field("characteristic", of)
            let isNotifying = try coder.field("isNotifying", isOn)
            self = .notifyStateChanged(characteristic, isNotifying: isNotifying, try coder.optional("error", error))
        default: break
        }
    }
}
