import BluetoothTypes
import Foundation

// The wire format of events.

extension Event: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [Event] = [
        .stateChanged(.unknown),
        .central(.peer(.blank, .nameChanged(nil))),
        .peripheral(.updateCreditsReturned(0)),
        .channel(ChannelID(0), .room(0)),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .stateChanged(let state):
            try coder.kind(0, "stateChanged")
            self = .stateChanged(try coder.field("state", state))
        case .central(let event):
            try coder.kind(1, "central")
            self = .central(try coder.field("event", event))
        case .peripheral(let event):
            try coder.kind(2, "peripheral")
            self = .peripheral(try coder.field("event", event))
        case .channel(let channel, let event):
            try coder.kind(3, "channel")
            self = .channel(try coder.field("channel", channel), try coder.field("event", event))
        }
    }
}

extension CentralEvent: MessageKinds {
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
            try coder.field("peer", &peer)
            try coder.field("advertisement", &advertisement)
            try coder.number("rssi", &rssi)
            self = .discovered(peer, advertisement, rssi: rssi)
        case .peer(let peer, let event):
            try coder.kind(1, "peer")
            self = .peer(try coder.uuid("peer", peer), try coder.field("event", event))
        case .answered(var peer, var number, var event):
            try coder.kind(3, "answered")
            try coder.uuid("peer", &peer)
            try coder.field("number", &number)
            try coder.field("event", &event)
            self = .answered(peer, number: number, event)
        case .lost(let peer):
            try coder.kind(4, "lost")
            self = .lost(try coder.field("peer", peer))
        case .willRestore(let state):
            try coder.kind(5, "willRestore")
            self = .willRestore(try coder.field("state", state))
        case .connectionChanged(var peer, var isConnected):
            try coder.kind(2, "connectionChanged")
            try coder.field("peer", &peer)
            try coder.field("isConnected", &isConnected)
            self = .connectionChanged(peer, isConnected: isConnected)
        }
    }
}

extension PeripheralEvent: MessageKinds {
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
            self = .serviceAdded(try coder.field("service", service), try coder.optional("error", error))
        case .advertisingStarted(let error, let number):
            try coder.kind(1, "advertisingStarted")
            let error = try coder.optional("error", error)
            self = .advertisingStarted(error, number: try coder.field("number", number))
        case .subscribed(let by, let to):
            try coder.kind(2, "subscribed")
            self = .subscribed(try coder.field("central", by), try coder.field("characteristic", to))
        case .unsubscribed(let by, let from):
            try coder.kind(3, "unsubscribed")
            self = .unsubscribed(try coder.field("central", by), try coder.field("characteristic", from))
        case .readRequested(var transaction, var central, var characteristic, var offset):
            try coder.kind(4, "readRequested")
            try coder.field("transaction", &transaction)
            try coder.field("central", &central)
            try coder.field("characteristic", &characteristic)
            try coder.number("offset", &offset)
            self = .readRequested(transaction: transaction, central, characteristic, offset: offset)
        case .writeRequested(var transaction, var central, var writes, var needsResponse):
            try coder.kind(5, "writeRequested")
            try coder.field("transaction", &transaction)
            try coder.field("central", &central)
            try coder.list("writes", &writes, limit: ServiceLimits.preparedWrites)
            try coder.field("needsResponse", &needsResponse)
            self = .writeRequested(transaction: transaction, central, writes, needsResponse: needsResponse)
        case .updateCreditsReturned(let count):
            try coder.kind(6, "updateCreditsReturned")
            self = .updateCreditsReturned(try coder.number("count", count))
        case .centralChanged(let central):
            try coder.kind(7, "centralChanged")
            self = .centralChanged(try coder.field("central", central))
        case .channelPublished(let psm, let error, let number):
            try coder.kind(8, "channelPublished")
            let (psm, error) = (try coder.field("psm", psm), try coder.optional("error", error))
            self = .channelPublished(psm: psm, error, number: try coder.field("number", number))
        case .channelUnpublished(let psm, let error):
            try coder.kind(9, "channelUnpublished")
            self = .channelUnpublished(psm: try coder.field("psm", psm), try coder.optional("error", error))
        case .channelOpened(let psm, let central, let channel):
            try coder.kind(10, "channelOpened")
            let (psm, central) = (try coder.field("psm", psm), try coder.field("central", central))
            self = .channelOpened(psm: psm, central, try coder.field("channel", channel))
        case .centralConnected(let central):
            try coder.kind(11, "centralConnected")
            self = .centralConnected(try coder.field("central", central))
        case .centralDisconnected(let central, let error):
            try coder.kind(12, "centralDisconnected")
            self = .centralDisconnected(try coder.uuid("central", central), try coder.optional("error", error))
        case .centralReleased(let central, let error):
            try coder.kind(13, "centralReleased")
            self = .centralReleased(try coder.uuid("central", central), try coder.optional("error", error))
        case .willRestore(let state):
            try coder.kind(14, "willRestore")
            self = .willRestore(try coder.field("state", state))
        }
    }
}
