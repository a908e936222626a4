import BluetoothTypes
import Foundation

// The wire format of events.

extension Event: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [Event] = [
        .stateChanged(.unknown),
        .central(.peer(.blank, .nameChanged(nil))),
        .peripheral(.updateCreditsReturned(0)),
        .channel(ChannelID(0), .room(0)),
        .setup(.activated([])),
        .activity(0, isRemoved: false),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .stateChanged(let state):
            try coder.kind(0, "stateChanged")
            self = try .stateChanged(coder.value("state", state))
        case .central(let event):
            try coder.kind(1, "central")
            self = try .central(coder.value("event", event))
        case .peripheral(let event):
            try coder.kind(2, "peripheral")
            self = try .peripheral(coder.value("event", event))
        case .channel(let channel, let event):
            try coder.kind(3, "channel")
            self = try .channel(coder.value("channel", channel), coder.value("event", event))
        case .setup(let event):
            try coder.kind(4, "setup")
            self = try .setup(coder.value("event", event))
        case .activity(let number, let isRemoved):
            try coder.kind(5, "activity")
            self = try .activity(coder.value("number", number), isRemoved: coder.value("is removed", isRemoved))
        }
    }
}

extension CentralEvent: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [CentralEvent] = [
        .discovered(PeerInfo(), Advertisement(), rssi: 0),
        .peer(.blank, .nameChanged(nil)),
        .connectionChanged(PeerInfo(), isConnected: false),
        .answered(.blank, number: 1, .nameChanged(nil)),
        .lost(PeerInfo()),
        .willRestore(RestoredCentral()),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .discovered(var peer, var advertisement, var rssi):
            try coder.kind(0, "discovered")
            try coder.value("peer", &peer)
            try coder.value("advertisement", &advertisement)
            try coder.value("rssi", &rssi)
            self = .discovered(peer, advertisement, rssi: rssi)
        case .peer(let peer, let event):
            try coder.kind(1, "peer")
            self = try .peer(coder.value("peer", peer), coder.value("event", event))
        case .answered(var peer, var number, var event):
            try coder.kind(3, "answered")
            try coder.value("peer", &peer)
            try coder.value("number", &number)
            try coder.value("event", &event)
            self = .answered(peer, number: number, event)
        case .lost(let peer):
            try coder.kind(4, "lost")
            self = try .lost(coder.value("peer", peer))
        case .willRestore(let state):
            try coder.kind(5, "willRestore")
            self = try .willRestore(coder.value("state", state))
        case .connectionChanged(let peer, let isOn):
            try coder.kind(2, "connectionChanged")
            self = try .connectionChanged(coder.value("peer", peer), isConnected: coder.value("isConnected", isOn))
        }
    }
}

extension PeripheralEvent: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [PeripheralEvent] = [
        .serviceAdded(LocalAttributeID(0), nil),
        .advertisingStarted(nil),
        .subscribed(CentralInfo(), LocalAttributeID(0)),
        .unsubscribed(CentralInfo(), LocalAttributeID(0)),
        .readRequested(transaction: 0, CentralInfo(), LocalAttributeID(0), offset: 0),
        .writeRequested(transaction: 0, CentralInfo(), [], needsResponse: false),
        .updateCreditsReturned(0),
        .centralChanged(CentralInfo()),
        .channelPublished(psm: 0, nil),
        .channelUnpublished(psm: 0, nil),
        .channelOpened(psm: 0, CentralInfo(), ChannelID(0)),
        .centralConnected(CentralInfo()),
        .centralDisconnected(.blank, nil),
        .centralReleased(.blank, nil),
        .willRestore(RestoredPeripheral()),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .serviceAdded(let service, let error):
            try coder.kind(0, "serviceAdded")
            self = try .serviceAdded(coder.value("service", service), coder.value("error", error))
        case .advertisingStarted(let error, let number):
            try coder.kind(1, "advertisingStarted")
            self = try .advertisingStarted(coder.value("error", error), number: coder.value("number", number))
        case .subscribed(let by, let to):
            try coder.kind(2, "subscribed")
            self = try .subscribed(coder.value("central", by), coder.value("characteristic", to))
        case .unsubscribed(let by, let from):
            try coder.kind(3, "unsubscribed")
            self = try .unsubscribed(coder.value("central", by), coder.value("characteristic", from))
        case .readRequested(var transaction, var central, var characteristic, var offset):
            try coder.kind(4, "readRequested")
            try coder.value("transaction", &transaction)
            try coder.value("central", &central)
            try coder.value("characteristic", &characteristic)
            try coder.value("offset", &offset)
            self = .readRequested(transaction: transaction, central, characteristic, offset: offset)
        case .writeRequested(var transaction, var central, var writes, var needsResponse):
            try coder.kind(5, "writeRequested")
            try coder.value("transaction", &transaction)
            try coder.value("central", &central)
            try coder.list("writes", &writes, limit: ServiceLimits.preparedWrites)
            try coder.value("needsResponse", &needsResponse)
            self = .writeRequested(transaction: transaction, central, writes, needsResponse: needsResponse)
        case .updateCreditsReturned(let count):
            try coder.kind(6, "updateCreditsReturned")
            self = try .updateCreditsReturned(coder.value("count", count))
        case .centralChanged(let central):
            try coder.kind(7, "centralChanged")
            self = try .centralChanged(coder.value("central", central))
        case .channelPublished(let psm, let error, let number):
            try coder.kind(8, "channelPublished")
            let (psm, error) = (try coder.value("psm", psm), try coder.value("error", error))
            self = try .channelPublished(psm: psm, error, number: coder.value("number", number))
        case .channelUnpublished(let psm, let error):
            try coder.kind(9, "channelUnpublished")
            self = try .channelUnpublished(psm: coder.value("psm", psm), coder.value("error", error))
        case .channelOpened(let psm, let central, let channel):
            try coder.kind(10, "channelOpened")
            let (psm, central) = (try coder.value("psm", psm), try coder.value("central", central))
            self = try .channelOpened(psm: psm, central, coder.value("channel", channel))
        case .centralConnected(let central):
            try coder.kind(11, "centralConnected")
            self = try .centralConnected(coder.value("central", central))
        case .centralDisconnected(let central, let error):
            try coder.kind(12, "centralDisconnected")
            self = try .centralDisconnected(coder.value("central", central), coder.value("error", error))
        case .centralReleased(let central, let error):
            try coder.kind(13, "centralReleased")
            self = try .centralReleased(coder.value("central", central), coder.value("error", error))
        case .willRestore(let state):
            try coder.kind(14, "willRestore")
            self = try .willRestore(coder.value("state", state))
        }
    }
}
