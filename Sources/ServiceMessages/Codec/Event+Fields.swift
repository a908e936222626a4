import BluetoothTypes
import Foundation

// The wire format of events.

extension Event: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [Event] {
        [
            .stateChanged(.unknown),
            .central(.peer(.blank, .nameChanged(nil))),
            .peripheral(.updateCreditsReturned(0)),
            .channel(ChannelID(0), .room(0)),
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .stateChanged: MessageKind(0, "stateChanged")
        case .central: MessageKind(1, "central")
        case .peripheral: MessageKind(2, "peripheral")
        case .channel: MessageKind(3, "channel")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .stateChanged(var state):
            try coder.field("state", &state)
            self = .stateChanged(state)
        case .central(var event):
            try coder.field("event", &event)
            self = .central(event)
        case .peripheral(var event):
            try coder.field("event", &event)
            self = .peripheral(event)
        case .channel(var channel, var event):
            try coder.field("channel", &channel)
            try coder.field("event", &event)
            self = .channel(channel, event)
        }
    }
}

extension CentralEvent: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [CentralEvent] {
        [
            .discovered(PeerInfo(), Advertisement(), rssi: 0),
            .peer(.blank, .nameChanged(nil)),
            .connectionChanged(PeerInfo(), isConnected: false),
            .answered(.blank, number: 1, .nameChanged(nil)),
            .lost(PeerInfo()),
            .willRestore(RestoredCentral()),
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .discovered: MessageKind(0, "discovered")
        case .peer: MessageKind(1, "peer")
        case .connectionChanged: MessageKind(2, "connectionChanged")
        case .answered: MessageKind(3, "answered")
        case .lost: MessageKind(4, "lost")
        case .willRestore: MessageKind(5, "willRestore")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .discovered(var peer, var advertisement, var rssi):
            try coder.field("peer", &peer)
            try coder.field("advertisement", &advertisement)
            try coder.number("rssi", &rssi)
            self = .discovered(peer, advertisement, rssi: rssi)
        case .peer(var peer, var event):
            try coder.uuid("peer", &peer)
            try coder.field("event", &event)
            self = .peer(peer, event)
        case .answered(var peer, var number, var event):
            try coder.uuid("peer", &peer)
            try coder.field("number", &number)
            try coder.field("event", &event)
            self = .answered(peer, number: number, event)
        case .lost(var peer):
            try coder.field("peer", &peer)
            self = .lost(peer)
        case .willRestore(var state):
            try coder.field("state", &state)
            self = .willRestore(state)
        case .connectionChanged(var peer, var isConnected):
            try coder.field("peer", &peer)
            try coder.field("isConnected", &isConnected)
            self = .connectionChanged(peer, isConnected: isConnected)
        }
    }
}

extension PeripheralEvent: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [PeripheralEvent] {
        [
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
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .serviceAdded: MessageKind(0, "serviceAdded")
        case .advertisingStarted: MessageKind(1, "advertisingStarted")
        case .subscribed: MessageKind(2, "subscribed")
        case .unsubscribed: MessageKind(3, "unsubscribed")
        case .readRequested: MessageKind(4, "readRequested")
        case .writeRequested: MessageKind(5, "writeRequested")
        case .updateCreditsReturned: MessageKind(6, "updateCreditsReturned")
        case .centralChanged: MessageKind(7, "centralChanged")
        case .channelPublished: MessageKind(8, "channelPublished")
        case .channelUnpublished: MessageKind(9, "channelUnpublished")
        case .channelOpened: MessageKind(10, "channelOpened")
        case .centralConnected: MessageKind(11, "centralConnected")
        case .centralDisconnected: MessageKind(12, "centralDisconnected")
        case .centralReleased: MessageKind(13, "centralReleased")
        case .willRestore: MessageKind(14, "willRestore")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .serviceAdded(let service, let error):
            self = .serviceAdded(try coder.field("service", service), try coder.optional("error", error))
        case .advertisingStarted(let error, let number):
            let error = try coder.optional("error", error)
            self = .advertisingStarted(error, number: try coder.field("number", number))
        case .subscribed(let by, let to):
            self = .subscribed(try coder.field("central", by), try coder.field("characteristic", to))
        case .unsubscribed(let by, let from):
            self = .unsubscribed(try coder.field("central", by), try coder.field("characteristic", from))
        case .readRequested(var transaction, var central, var characteristic, var offset):
            try coder.field("transaction", &transaction)
            try coder.field("central", &central)
            try coder.field("characteristic", &characteristic)
            try coder.number("offset", &offset)
            self = .readRequested(transaction: transaction, central, characteristic, offset: offset)
        case .writeRequested(var transaction, var central, var writes, var needsResponse):
            try coder.field("transaction", &transaction)
            try coder.field("central", &central)
            try coder.list("writes", &writes, limit: ServiceLimits.preparedWrites)
            try coder.field("needsResponse", &needsResponse)
            self = .writeRequested(transaction: transaction, central, writes, needsResponse: needsResponse)
        case .updateCreditsReturned(let count): self = .updateCreditsReturned(try coder.number("count", count))
        case .centralChanged(let central): self = .centralChanged(try coder.field("central", central))
        case .channelPublished(var psm, var error, var number):
            try coder.field("psm", &psm)
            try coder.optional("error", &error)
            try coder.field("number", &number)
            self = .channelPublished(psm: psm, error, number: number)
        case .channelUnpublished(let psm, let error):
            self = .channelUnpublished(psm: try coder.field("psm", psm), try coder.optional("error", error))
        case .channelOpened(var psm, var central, var channel):
            try coder.field("psm", &psm)
            try coder.field("central", &central)
            try coder.field("channel", &channel)
            self = .channelOpened(psm: psm, central, channel)
        case .centralConnected(let central): self = .centralConnected(try coder.field("central", central))
        case .centralDisconnected(let central, let error):
            self = .centralDisconnected(try coder.uuid("central", central), try coder.optional("error", error))
        case .centralReleased(let central, let error):
            self = .centralReleased(try coder.uuid("central", central), try coder.optional("error", error))
        case .willRestore(let state): self = .willRestore(try coder.field("state", state))
        }
    }
}
