import BluetoothTypes
import Foundation

extension PeerEvent: MessageKinds, MessageValue {
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
        .channelSoundingMeasured(.success(0)),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .connected(let name, let maximum):
            try coder.kind(0, "connected")
            let name = try coder.value("name", name)
            self = try .connected(name: name, maximumWriteWithoutResponse: coder.value("maximum", maximum))
        case .connectionFailed(let error):
            try coder.kind(1, "connectionFailed")
            self = try .connectionFailed(coder.value("error", error))
        case .disconnected(let error, let isReconnecting, let timestamp):
            try coder.kind(2, "disconnected")
            self = try .disconnected(
                coder.value("error", error),
                isReconnecting: coder.value("isReconnecting", isReconnecting),
                timestamp: coder.value("timestamp", timestamp)
            )
        case .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered:
            try codeDiscovery(&coder)
        case .valueRead, .valueNotified, .descriptorUpdated, .valueWritten, .descriptorWritten, .notifyStateChanged:
            try codeValue(&coder)
        case .rssiRead(let rssi):
            try coder.kind(12, "rssiRead")
            self = try .rssiRead(coder.result("rssi", rssi))
        case .nameChanged(let name):
            try coder.kind(13, "nameChanged")
            self = try .nameChanged(coder.value("name", name))
        case .servicesModified(let handles):
            try coder.kind(14, "servicesModified")
            self = try .servicesModified(invalidated: coder.list("invalidated", handles, limit: MessageLimits.list))
        case .maximumWriteLengthChanged(let maximum):
            try coder.kind(15, "maximumWriteLengthChanged")
            self = try .maximumWriteLengthChanged(coder.value("maximum", maximum))
        case .writeCreditsReturned(let count):
            try coder.kind(16, "writeCreditsReturned")
            self = try .writeCreditsReturned(coder.value("count", count))
        case .channelOpened(let psm, let channel):
            try coder.kind(19, "channelOpened")
            self = try .channelOpened(psm: coder.value("psm", psm), coder.result("channel", channel))
        case .linkInformation(let facts):
            try coder.kind(21, "linkInformation")
            self = try .linkInformation(coder.value("facts", facts))
        case .notificationsAuthorized(let isAuthorized):
            try coder.kind(17, "notificationsAuthorized")
            self = try .notificationsAuthorized(coder.value("isAuthorized", isAuthorized))
        case .channelSoundingMeasured(let distance):
            try coder.kind(22, "channelSoundingMeasured")
            self = try .channelSoundingMeasured(coder.result("distance", distance))
        case .channelSoundingEnded(let error):
            try coder.kind(18, "channelSoundingEnded")
            self = try .channelSoundingEnded(coder.value("error", error))
        }
    }

    private mutating func codeDiscovery<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .servicesDiscovered(let services):
            try coder.kind(3, "servicesDiscovered")
            self = try .servicesDiscovered(coder.result("services", services, limit: ServiceLimits.remoteServices))
        case .includedServicesDiscovered(let of, let found):
            try coder.kind(4, "includedServicesDiscovered")
            self = try .includedServicesDiscovered(
                of: coder.value("service", of),
                coder.result("services", found, limit: ServiceLimits.includedServices)
            )
        case .characteristicsDiscovered(let of, let found):
            try coder.kind(5, "characteristicsDiscovered")
            self = try .characteristicsDiscovered(
                of: coder.value("service", of),
                coder.result("characteristics", found, limit: ServiceLimits.characteristics)
            )
        case .descriptorsDiscovered(let of, let found):
            try coder.kind(6, "descriptorsDiscovered")
            self = try .descriptorsDiscovered(
                of: coder.value("characteristic", of),
                coder.result("descriptors", found, limit: ServiceLimits.descriptors)
            )
        default: break
        }
    }

    /// Codes what became of a characteristic or descriptor.
    private mutating func codeValue<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .valueRead(let of, let value):
            try coder.kind(7, "valueRead")
            self = try .valueRead(coder.value("characteristic", of), coder.result("value", value))
        case .valueNotified(let of, let value):
            try coder.kind(20, "valueNotified")
            self = try .valueNotified(coder.value("characteristic", of), coder.value("value", value))
        case .descriptorUpdated(let descriptor, let value):
            try coder.kind(8, "descriptorUpdated")
            self = try .descriptorUpdated(coder.value("descriptor", descriptor), coder.result("value", value))
        case .valueWritten(let of, let error):
            try coder.kind(9, "valueWritten")
            self = try .valueWritten(coder.value("characteristic", of), coder.value("error", error))
        case .descriptorWritten(let descriptor, let error):
            try coder.kind(10, "descriptorWritten")
            self = try .descriptorWritten(coder.value("descriptor", descriptor), coder.value("error", error))
        case .notifyStateChanged(let of, let isOn, let error):
            try coder.kind(11, "notifyStateChanged")
            let characteristic = try coder.value("characteristic", of)
            let isNotifying = try coder.value("isNotifying", isOn)
            self = try .notifyStateChanged(characteristic, isNotifying: isNotifying, coder.value("error", error))
        default: break
        }
    }
}
