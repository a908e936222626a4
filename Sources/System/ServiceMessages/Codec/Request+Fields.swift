import BluetoothTypes
import Foundation

// The wire format of requests, queries and replies.

extension Request: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [Request] = [
        .central(.stopScan),
        .peripheral(.removeAllServices),
        .channel(ChannelID(0), .close),
        .setup(number: 0, .remove(.blank)),
        .activity(0, begins: false),
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .central(let request):
            try coder.kind(0, "central")
            self = try .central(coder.value("request", request))
        case .peripheral(let request):
            try coder.kind(1, "peripheral")
            self = try .peripheral(coder.value("request", request))
        case .channel(let channel, let request):
            try coder.kind(2, "channel")
            self = try .channel(coder.value("channel", channel), coder.value("request", request))
        case .setup(let number, let request):
            try coder.kind(3, "setup")
            self = try .setup(number: coder.value("number", number), coder.value("request", request))
        case .activity(let number, let begins):
            try coder.kind(4, "activity")
            self = try .activity(coder.value("number", number), begins: coder.value("begins", begins))
        }
    }
}

extension CentralRequest: MessageKinds, MessageValue {
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
            self = try .startScan(coder.value("scan", scan))
        case .peer(let peer, let request):
            try coder.kind(2, "peer")
            self = try .peer(coder.value("peer", peer), coder.value("request", request))
        case .watchConnections(let watch):
            try coder.kind(3, "watchConnections")
            self = try .watchConnections(coder.value("watch", watch))
        case .stopScan: try coder.kind(1, "stopScan")
        case .resetScanFilter: try coder.kind(4, "resetScanFilter")
        }
    }
}

extension PeerRequest: MessageKinds, MessageValue {
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
            self = try .connect(coder.value("options", options))
        case .link(let request):
            try coder.kind(3, "link")
            self = try .link(coder.value("request", request))
        case .ask(let number, let request):
            try coder.kind(4, "ask")
            self = try .ask(coder.value("number", number), coder.value("request", request))
        case .cancelConnection: try coder.kind(1, "cancelConnection")
        case .forget: try coder.kind(2, "forget")
        }
    }
}

extension LinkRequest: MessageKinds, MessageValue {
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
            self = try .discoverServices(coder.list("services", services, limit: ServiceLimits.discoveredTypes))
        case .discoverIncludedServices(let service, let services):
            try coder.kind(1, "discoverIncludedServices")
            self = try .discoverIncludedServices(
                of: coder.value("service", service),
                coder.list("services", services, limit: ServiceLimits.discoveredTypes)
            )
        case .discoverCharacteristics(let service, let characteristics):
            try coder.kind(2, "discoverCharacteristics")
            self = try .discoverCharacteristics(
                of: coder.value("service", service),
                coder.list("characteristics", characteristics, limit: ServiceLimits.discoveredTypes)
            )
        case .discoverDescriptors(let characteristic):
            try coder.kind(3, "discoverDescriptors")
            self = try .discoverDescriptors(of: coder.value("characteristic", characteristic))
        case .readCharacteristic(let characteristic):
            try coder.kind(4, "readCharacteristic")
            self = try .readCharacteristic(coder.value("characteristic", characteristic))
        case .readDescriptor(let descriptor):
            try coder.kind(5, "readDescriptor")
            self = try .readDescriptor(coder.value("descriptor", descriptor))
        case .writeCharacteristic(let handle, let value):
            try coder.kind(6, "writeCharacteristic")
            self = try .writeCharacteristic(coder.value("characteristic", handle), value: coder.value("value", value))
        case .writeWithoutResponse(let handle, let value):
            try coder.kind(7, "writeWithoutResponse")
            self = try .writeWithoutResponse(coder.value("characteristic", handle), value: coder.value("value", value))
        case .writeDescriptor(let descriptor, let value):
            try coder.kind(8, "writeDescriptor")
            self = try .writeDescriptor(coder.value("descriptor", descriptor), value: coder.value("value", value))
        case .setNotify(let handle, let isOn):
            try coder.kind(9, "setNotify")
            self = try .setNotify(coder.value("characteristic", handle), isEnabled: coder.value("isEnabled", isOn))
        case .openChannel(let psm):
            try coder.kind(13, "openChannel")
            self = try .openChannel(psm: coder.value("psm", psm))
        case .watchLink(let isWatched):
            try coder.kind(16, "watchLink")
            self = try .watchLink(coder.value("isWatched", isWatched))
        case .preferLink(let preference):
            try coder.kind(17, "preferLink")
            self = try .preferLink(coder.value("preference", preference))
        case .readRSSI: try coder.kind(10, "readRSSI")
        case .startChannelSounding: try coder.kind(11, "startChannelSounding")
        case .cancelChannelSounding: try coder.kind(12, "cancelChannelSounding")
        case .refreshServices: try coder.kind(14, "refreshServices")
        case .readLinkInformation: try coder.kind(15, "readLinkInformation")
        }
    }
}

extension PeripheralRequest: MessageKinds, MessageValue {
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
            self = try .addService(coder.value("service", service))
        case .removeService(let service):
            try coder.kind(1, "removeService")
            self = try .removeService(coder.value("service", service))
        case .startAdvertising(let advertisement):
            try coder.kind(3, "startAdvertising")
            self = try .startAdvertising(coder.value("advertisement", advertisement))
        case .respond(var transaction, var status, var value):
            try coder.kind(5, "respond")
            try coder.value("transaction", &transaction)
            try coder.value("status", &status)
            try coder.value("value", &value)
            self = .respond(transaction: transaction, status, value: value)
        case .updateValue(let characteristic, let value, let centrals):
            try coder.kind(6, "updateValue")
            self = try .updateValue(
                coder.value("characteristic", characteristic),
                value: coder.value("value", value),
                centrals: coder.list("centrals", centrals, limit: ServiceLimits.centrals)
            )
        case .setDesiredConnectionLatency(var central, var latency):
            try coder.kind(7, "setDesiredConnectionLatency")
            try coder.value("central", &central)
            try coder.value("latency", &latency)
            self = .setDesiredConnectionLatency(central: central, latency: latency)
        case .publishChannel(var needsEncryption, var number):
            try coder.kind(8, "publishChannel")
            try coder.value("needsEncryption", &needsEncryption)
            try coder.value("number", &number)
            self = .publishChannel(needsEncryption: needsEncryption, number: number)
        case .unpublishChannel(let psm):
            try coder.kind(9, "unpublishChannel")
            self = try .unpublishChannel(psm: coder.value("psm", psm))
        case .watchCentrals(let isWanted):
            try coder.kind(10, "watchCentrals")
            self = try .watchCentrals(coder.value("isWanted", isWanted))
        case .disconnectCentral(let central):
            try coder.kind(11, "disconnectCentral")
            self = try .disconnectCentral(coder.value("central", central))
        case .removeAllServices: try coder.kind(2, "removeAllServices")
        case .stopAdvertising: try coder.kind(4, "stopAdvertising")
        }
    }
}

extension Query: MessageKinds, MessageValue {
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
        case .peripherals(let ids):
            try coder.kind(0, "peripherals")
            self = try .peripherals(identifiers: coder.list("identifiers", ids, limit: ServiceLimits.identifiers))
        case .connectedPeripherals(var services):
            try coder.kind(1, "connectedPeripherals")
            try coder.list("services", &services, limit: ServiceLimits.scannedServices)
            self = .connectedPeripherals(services: services)
        case .names(let peer):
            try coder.kind(3, "names")
            self = try .names(coder.value("peer", peer))
        case .system: try coder.kind(2, "system")
        case .scanCounts: try coder.kind(4, "scanCounts")
        }
    }
}

extension Reply: MessageKinds, MessageValue {
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
            self = try .peripherals(coder.list("peripherals", peripherals, limit: ServiceLimits.identifiers))
        case .connectedPeripherals(let peripherals):
            try coder.kind(1, "connectedPeripherals")
            self = try .connectedPeripherals(coder.list("peripherals", peripherals, limit: ServiceLimits.identifiers))
        case .system(let info):
            try coder.kind(2, "system")
            self = try .system(coder.value("info", info))
        case .names(let names):
            try coder.kind(3, "names")
            self = try .names(coder.value("names", names))
        case .scanCounts(let counts):
            try coder.kind(4, "scanCounts")
            self = try .scanCounts(coder.value("counts", counts))
        }
    }
}

extension AppNote: MessageKinds, MessageValue {
    /// See ``MessageKinds/kinds``.
    public static let kinds: [AppNote] = [
        .writeWithoutRoom(.blank), .updateWithoutRoom, .stateUnread, .restorationIgnored,
        .slowCallback(milliseconds: 0), .eventWithoutDelegate(.blank), .managerCreated,
    ]

    /// Codes the kind and its fields.
    public mutating func codeKind<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .writeWithoutRoom(let peer):
            try coder.kind(0, "writeWithoutRoom")
            self = try .writeWithoutRoom(coder.value("peer", peer))
        case .updateWithoutRoom: try coder.kind(1, "updateWithoutRoom")
        case .stateUnread: try coder.kind(2, "stateUnread")
        case .restorationIgnored: try coder.kind(3, "restorationIgnored")
        case .slowCallback(let milliseconds):
            try coder.kind(4, "slowCallback")
            self = try .slowCallback(milliseconds: coder.value("milliseconds", milliseconds))
        case .eventWithoutDelegate(let peer):
            try coder.kind(5, "eventWithoutDelegate")
            self = try .eventWithoutDelegate(coder.value("peer", peer))
        case .managerCreated: try coder.kind(6, "managerCreated")
        }
    }
}
