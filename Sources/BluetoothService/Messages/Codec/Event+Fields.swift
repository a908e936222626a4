import BluetoothTypes
import Foundation

// The wire format of what managers are told.

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

    /// See ``MessageKinds/number``.
    public var number: UInt8 {
        switch self {
        case .stateChanged: 0
        case .central: 1
        case .peripheral: 2
        case .channel: 3
        }
    }

    /// The fields of each kind.
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
        ]
    }

    /// See ``MessageKinds/number``.
    public var number: UInt8 {
        switch self {
        case .discovered: 0
        case .peer: 1
        case .connectionChanged: 2
        case .answered: 3
        case .lost: 4
        }
    }

    /// The fields of each kind.
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
        case .connectionChanged(var peer, var isConnected):
            try coder.field("peer", &peer)
            try coder.field("isConnected", &isConnected)
            self = .connectionChanged(peer, isConnected: isConnected)
        }
    }
}

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

    /// See ``MessageKinds/number``.
    public var number: UInt8 {
        switch self {
        case .connected: 0
        case .connectionFailed: 1
        case .disconnected: 2
        case .servicesDiscovered: 3
        case .includedServicesDiscovered: 4
        case .characteristicsDiscovered: 5
        case .descriptorsDiscovered: 6
        case .valueRead: 7
        case .descriptorUpdated: 8
        case .valueWritten: 9
        case .descriptorWritten: 10
        case .notifyStateChanged: 11
        case .rssiRead: 12
        case .nameChanged: 13
        case .servicesModified: 14
        case .maximumWriteLengthChanged: 15
        case .writeCreditsReturned: 16
        case .notificationsAuthorized: 17
        case .channelSoundingEnded: 18
        case .channelOpened: 19
        case .valueNotified: 20
        case .linkInformation: 21
        }
    }

    /// The fields of each kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .connected(var name, var maximum):
            try coder.optional("name", &name)
            try coder.number("maximum write without response", &maximum)
            self = .connected(name: name, maximumWriteWithoutResponse: maximum)
        case .connectionFailed(var error):
            try coder.field("error", &error)
            self = .connectionFailed(error)
        case .disconnected(var error, var isReconnecting, var timestamp):
            try coder.optional("error", &error)
            try coder.field("isReconnecting", &isReconnecting)
            try coder.optional("timestamp", &timestamp, 0) { coder, value throws(PacketError) in
                try coder.number("timestamp", &value)
            }
            self = .disconnected(error, isReconnecting: isReconnecting, timestamp: timestamp)
        case .servicesDiscovered(var services):
            try coder.result("services", &services)
            self = .servicesDiscovered(services)
        case .includedServicesDiscovered(var service, var services):
            try coder.field("service", &service)
            try coder.result("services", &services)
            self = .includedServicesDiscovered(of: service, services)
        case .characteristicsDiscovered(var service, var characteristics):
            try coder.field("service", &service)
            try coder.result("characteristics", &characteristics)
            self = .characteristicsDiscovered(of: service, characteristics)
        case .descriptorsDiscovered(var characteristic, var descriptors):
            try coder.field("characteristic", &characteristic)
            try coder.result("descriptors", &descriptors)
            self = .descriptorsDiscovered(of: characteristic, descriptors)
        case .valueRead(var characteristic, var value):
            try coder.field("characteristic", &characteristic)
            try coder.result("value", &value)
            self = .valueRead(characteristic, value)
        case .valueNotified(var characteristic, var value):
            try coder.field("characteristic", &characteristic)
            try coder.octets("value", &value)
            self = .valueNotified(characteristic, value)
        case .descriptorUpdated(var descriptor, var value):
            try coder.field("descriptor", &descriptor)
            try coder.result("value", &value)
            self = .descriptorUpdated(descriptor, value)
        case .valueWritten(var characteristic, var error):
            try coder.field("characteristic", &characteristic)
            try coder.optional("error", &error)
            self = .valueWritten(characteristic, error)
        case .descriptorWritten(var descriptor, var error):
            try coder.field("descriptor", &descriptor)
            try coder.optional("error", &error)
            self = .descriptorWritten(descriptor, error)
        case .notifyStateChanged(var characteristic, var isNotifying, var error):
            try coder.field("characteristic", &characteristic)
            try coder.field("isNotifying", &isNotifying)
            try coder.optional("error", &error)
            self = .notifyStateChanged(characteristic, isNotifying: isNotifying, error)
        case .rssiRead(var rssi):
            try coder.result("rssi", &rssi, 0) { coder, value throws(PacketError) in try coder.number("rssi", &value) }
            self = .rssiRead(rssi)
        case .nameChanged(var name):
            try coder.optional("name", &name)
            self = .nameChanged(name)
        case .servicesModified(var invalidated):
            try coder.list("invalidated", &invalidated)
            self = .servicesModified(invalidated: invalidated)
        case .maximumWriteLengthChanged(var maximum):
            try coder.number("maximum", &maximum)
            self = .maximumWriteLengthChanged(maximum)
        case .writeCreditsReturned(var count):
            try coder.number("count", &count)
            self = .writeCreditsReturned(count)
        case .channelOpened(var psm, var channel):
            try coder.field("psm", &psm)
            try coder.result("channel", &channel, ChannelID(0)) { coder, channel throws(PacketError) in
                try coder.field("channel", &channel)
            }
            self = .channelOpened(psm: psm, channel)
        case .linkInformation(var facts):
            try coder.field("facts", &facts)
            self = .linkInformation(facts)
        case .notificationsAuthorized(var isAuthorized):
            try coder.field("isAuthorized", &isAuthorized)
            self = .notificationsAuthorized(isAuthorized)
        case .channelSoundingEnded(var error):
            try coder.optional("error", &error)
            self = .channelSoundingEnded(error)
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
        ]
    }

    /// See ``MessageKinds/number``.
    public var number: UInt8 {
        switch self {
        case .serviceAdded: 0
        case .advertisingStarted: 1
        case .subscribed: 2
        case .unsubscribed: 3
        case .readRequested: 4
        case .writeRequested: 5
        case .updateCreditsReturned: 6
        case .centralChanged: 7
        case .channelPublished: 8
        case .channelUnpublished: 9
        case .channelOpened: 10
        case .centralConnected: 11
        case .centralDisconnected: 12
        case .centralReleased: 13
        }
    }

    /// The fields of each kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .serviceAdded(var service, var error):
            try coder.field("service", &service)
            try coder.optional("error", &error)
            self = .serviceAdded(service, error)
        case .advertisingStarted(var error, var number):
            try coder.optional("error", &error)
            try coder.field("number", &number)
            self = .advertisingStarted(error, number: number)
        case .subscribed(var central, var characteristic):
            try coder.field("central", &central)
            try coder.field("characteristic", &characteristic)
            self = .subscribed(central, characteristic)
        case .unsubscribed(var central, var characteristic):
            try coder.field("central", &central)
            try coder.field("characteristic", &characteristic)
            self = .unsubscribed(central, characteristic)
        case .readRequested(var transaction, var central, var characteristic, var offset):
            try coder.field("transaction", &transaction)
            try coder.field("central", &central)
            try coder.field("characteristic", &characteristic)
            try coder.number("offset", &offset)
            self = .readRequested(transaction: transaction, central, characteristic, offset: offset)
        case .writeRequested(var transaction, var central, var writes, var needsResponse):
            try coder.field("transaction", &transaction)
            try coder.field("central", &central)
            try coder.list("writes", &writes)
            try coder.field("needsResponse", &needsResponse)
            self = .writeRequested(transaction: transaction, central, writes, needsResponse: needsResponse)
        case .updateCreditsReturned(var count):
            try coder.number("count", &count)
            self = .updateCreditsReturned(count)
        case .centralChanged(var central):
            try coder.field("central", &central)
            self = .centralChanged(central)
        case .channelPublished(var psm, var error, var number):
            try coder.field("psm", &psm)
            try coder.optional("error", &error)
            try coder.field("number", &number)
            self = .channelPublished(psm: psm, error, number: number)
        case .channelUnpublished(var psm, var error):
            try coder.field("psm", &psm)
            try coder.optional("error", &error)
            self = .channelUnpublished(psm: psm, error)
        case .channelOpened(var psm, var central, var channel):
            try coder.field("psm", &psm)
            try coder.field("central", &central)
            try coder.field("channel", &channel)
            self = .channelOpened(psm: psm, central, channel)
        case .centralConnected(var central):
            try coder.field("central", &central)
            self = .centralConnected(central)
        case .centralDisconnected(var central, var error):
            try coder.uuid("central", &central)
            try coder.optional("error", &error)
            self = .centralDisconnected(central, error)
        case .centralReleased(var central, var error):
            try coder.uuid("central", &central)
            try coder.optional("error", &error)
            self = .centralReleased(central, error)
        }
    }
}
