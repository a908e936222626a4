import BluetoothTypes
import Foundation

// The wire format of requests, queries and replies.

extension Request: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [Request] = [
        .central(.stopScan),
        .peripheral(.removeAllServices),
        .channel(ChannelID(0), .close),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .central(let request):
            try coder.kind(0, "central")
            self = .central(try coder.field("request", request))
        case .peripheral(let request):
            try coder.kind(1, "peripheral")
            self = .peripheral(try coder.field("request", request))
        case .channel(let channel, let request):
            try coder.kind(2, "channel")
            self = .channel(try coder.field("channel", channel), try coder.field("request", request))
        }
    }
}

extension CentralRequest: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [CentralRequest] = [
        .startScan(ScanRequest()),
        .stopScan,
        .peer(.blank, .forget),
        .watchConnections(nil),
        .resetScanFilter,
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .startScan(let scan):
            try coder.kind(0, "startScan")
            self = .startScan(try coder.field("scan", scan))
        case .peer(let peer, let request):
            try coder.kind(2, "peer")
            self = .peer(try coder.uuid("peer", peer), try coder.field("request", request))
        case .watchConnections(let watch):
            try coder.kind(3, "watchConnections")
            self = .watchConnections(try coder.optional("watch", watch))
        case .stopScan: try coder.kind(1, "stopScan")
        case .resetScanFilter: try coder.kind(4, "resetScanFilter")
        }
    }
}

extension PeerRequest: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [PeerRequest] = [
        .connect(ConnectOptions()),
        .cancelConnection,
        .forget,
        .link(.readRSSI),
        .ask(1, .readRSSI),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .connect(let options):
            try coder.kind(0, "connect")
            self = .connect(try coder.field("options", options))
        case .link(let request):
            try coder.kind(3, "link")
            self = .link(try coder.field("request", request))
        case .ask(let number, let request):
            try coder.kind(4, "ask")
            self = .ask(try coder.field("number", number), try coder.field("request", request))
        case .cancelConnection: try coder.kind(1, "cancelConnection")
        case .forget: try coder.kind(2, "forget")
        }
    }
}

extension LinkRequest: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [LinkRequest] = [
        .discoverServices(nil),
        .discoverIncludedServices(of: 0, nil),
        .discoverCharacteristics(of: 0, nil),
        .discoverDescriptors(of: 0),
        .readCharacteristic(0),
        .readDescriptor(0),
        .writeCharacteristic(0, value: []),
        .writeWithoutResponse(0, value: []),
        .writeDescriptor(0, value: []),
        .setNotify(0, isEnabled: false),
        .readRSSI,
        .startChannelSounding,
        .cancelChannelSounding,
        .openChannel(psm: 0),
        .refreshServices,
        .readLinkInformation,
        .watchLink(false),
        .preferLink(LinkPreference()),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .discoverServices(let services):
            try coder.kind(0, "discoverServices")
            self = .discoverServices(try coder.optional("services", services, limit: ServiceLimits.discoveredTypes))
        case .discoverIncludedServices(var service, var services):
            try coder.kind(1, "discoverIncludedServices")
            try coder.field("service", &service)
            try coder.optional("services", &services, limit: ServiceLimits.discoveredTypes)
            self = .discoverIncludedServices(of: service, services)
        case .discoverCharacteristics(var service, var characteristics):
            try coder.kind(2, "discoverCharacteristics")
            try coder.field("service", &service)
            try coder.optional("characteristics", &characteristics, limit: ServiceLimits.discoveredTypes)
            self = .discoverCharacteristics(of: service, characteristics)
        case .discoverDescriptors(let characteristic):
            try coder.kind(3, "discoverDescriptors")
            self = .discoverDescriptors(of: try coder.field("characteristic", characteristic))
        case .readCharacteristic(let characteristic):
            try coder.kind(4, "readCharacteristic")
            self = .readCharacteristic(try coder.field("characteristic", characteristic))
        case .readDescriptor(let descriptor):
            try coder.kind(5, "readDescriptor")
            self = .readDescriptor(try coder.field("descriptor", descriptor))
        case .writeCharacteristic(var characteristic, var value):
            try coder.kind(6, "writeCharacteristic")
            try coder.field("characteristic", &characteristic)
            try coder.octets("value", &value)
            self = .writeCharacteristic(characteristic, value: value)
        case .writeWithoutResponse(var characteristic, var value):
            try coder.kind(7, "writeWithoutResponse")
            try coder.field("characteristic", &characteristic)
            try coder.octets("value", &value)
            self = .writeWithoutResponse(characteristic, value: value)
        case .writeDescriptor(let descriptor, let value):
            try coder.kind(8, "writeDescriptor")
            self = .writeDescriptor(try coder.field("descriptor", descriptor), value: try coder.octets("value", value))
        case .setNotify(var characteristic, var isEnabled):
            try coder.kind(9, "setNotify")
            try coder.field("characteristic", &characteristic)
            try coder.field("isEnabled", &isEnabled)
            self = .setNotify(characteristic, isEnabled: isEnabled)
        case .openChannel(let psm):
            try coder.kind(13, "openChannel")
            self = .openChannel(psm: try coder.field("psm", psm))
        case .watchLink(let isWatched):
            try coder.kind(16, "watchLink")
            self = .watchLink(try coder.field("isWatched", isWatched))
        case .preferLink(let preference):
            try coder.kind(17, "preferLink")
            self = .preferLink(try coder.field("preference", preference))
        case .readRSSI: try coder.kind(10, "readRSSI")
        case .startChannelSounding: try coder.kind(11, "startChannelSounding")
        case .cancelChannelSounding: try coder.kind(12, "cancelChannelSounding")
        case .refreshServices: try coder.kind(14, "refreshServices")
        case .readLinkInformation: try coder.kind(15, "readLinkInformation")
        }
    }
}

extension PeripheralRequest: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [PeripheralRequest] = [
        .addService(LocalService()),
        .removeService(LocalAttributeID(0)),
        .removeAllServices,
        .startAdvertising(AdvertisingRequest()),
        .stopAdvertising,
        .respond(transaction: 0, .success, value: nil),
        .updateValue(LocalAttributeID(0), value: [], centrals: nil),
        .setDesiredConnectionLatency(central: .blank, latency: 0),
        .publishChannel(needsEncryption: false),
        .unpublishChannel(psm: 0),
        .watchCentrals(false),
        .disconnectCentral(.blank),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .addService(let service):
            try coder.kind(0, "addService")
            self = .addService(try coder.field("service", service))
        case .removeService(let service):
            try coder.kind(1, "removeService")
            self = .removeService(try coder.field("service", service))
        case .startAdvertising(let advertisement):
            try coder.kind(3, "startAdvertising")
            self = .startAdvertising(try coder.field("advertisement", advertisement))
        case .respond(var transaction, var status, var value):
            try coder.kind(5, "respond")
            try coder.field("transaction", &transaction)
            try coder.field("status", &status)
            try coder.optional("value", &value)
            self = .respond(transaction: transaction, status, value: value)
        case .updateValue(var characteristic, var value, var centrals):
            try coder.kind(6, "updateValue")
            try coder.field("characteristic", &characteristic)
            try coder.octets("value", &value)
            try coder.optional("centrals", &centrals, limit: ServiceLimits.centrals)
            self = .updateValue(characteristic, value: value, centrals: centrals)
        case .setDesiredConnectionLatency(var central, var latency):
            try coder.kind(7, "setDesiredConnectionLatency")
            try coder.uuid("central", &central)
            try coder.number("latency", &latency)
            self = .setDesiredConnectionLatency(central: central, latency: latency)
        case .publishChannel(var needsEncryption, var number):
            try coder.kind(8, "publishChannel")
            try coder.field("needsEncryption", &needsEncryption)
            try coder.field("number", &number)
            self = .publishChannel(needsEncryption: needsEncryption, number: number)
        case .unpublishChannel(let psm):
            try coder.kind(9, "unpublishChannel")
            self = .unpublishChannel(psm: try coder.field("psm", psm))
        case .watchCentrals(let isWanted):
            try coder.kind(10, "watchCentrals")
            self = .watchCentrals(try coder.field("isWanted", isWanted))
        case .disconnectCentral(let central):
            try coder.kind(11, "disconnectCentral")
            self = .disconnectCentral(try coder.uuid("central", central))
        case .removeAllServices: try coder.kind(2, "removeAllServices")
        case .stopAdvertising: try coder.kind(4, "stopAdvertising")
        }
    }
}

extension Query: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [Query] = [
        .peripherals(identifiers: []),
        .connectedPeripherals(services: []),
        .system,
        .names(.blank),
        .scanCounts,
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .peripherals(var identifiers):
            try coder.kind(0, "peripherals")
            try coder.list("identifiers", &identifiers, limit: ServiceLimits.identifiers)
            self = .peripherals(identifiers: identifiers)
        case .connectedPeripherals(var services):
            try coder.kind(1, "connectedPeripherals")
            try coder.list("services", &services, limit: ServiceLimits.scannedServices)
            self = .connectedPeripherals(services: services)
        case .names(let peer):
            try coder.kind(3, "names")
            self = .names(try coder.uuid("peer", peer))
        case .system: try coder.kind(2, "system")
        case .scanCounts: try coder.kind(4, "scanCounts")
        }
    }
}

extension Reply: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [Reply] = [
        .peripherals([]),
        .connectedPeripherals([]),
        .system(SystemInfo()),
        .names(KnownNames()),
        .scanCounts(nil),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .peripherals(let peripherals):
            try coder.kind(0, "peripherals")
            self = .peripherals(try coder.list("peripherals", peripherals, limit: ServiceLimits.identifiers))
        case .connectedPeripherals(let peripherals):
            try coder.kind(1, "connectedPeripherals")
            self = .connectedPeripherals(try coder.list("peripherals", peripherals, limit: ServiceLimits.identifiers))
        case .system(let info):
            try coder.kind(2, "system")
            self = .system(try coder.field("info", info))
        case .names(let names):
            try coder.kind(3, "names")
            self = .names(try coder.field("names", names))
        case .scanCounts(let counts):
            try coder.kind(4, "scanCounts")
            self = .scanCounts(try coder.optional("counts", counts))
        }
    }
}

extension AppNote: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [AppNote] = [
        .writeWithoutRoom(.blank), .updateWithoutRoom, .stateUnread, .restorationIgnored,
        .slowCallback(milliseconds: 0),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .writeWithoutRoom(let peer):
            try coder.kind(0, "writeWithoutRoom")
            self = .writeWithoutRoom(try coder.uuid("peer", peer))
        case .updateWithoutRoom: try coder.kind(1, "updateWithoutRoom")
        case .stateUnread: try coder.kind(2, "stateUnread")
        case .restorationIgnored: try coder.kind(3, "restorationIgnored")
        case .slowCallback(let milliseconds):
            try coder.kind(4, "slowCallback")
            self = .slowCallback(milliseconds: try coder.field("milliseconds", milliseconds))
        }
    }
}
