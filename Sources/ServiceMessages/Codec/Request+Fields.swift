import BluetoothTypes
import Foundation

// The wire format of requests, queries and replies.

extension Request: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [Request] {
        [
            .central(.stopScan),
            .peripheral(.removeAllServices),
            .channel(ChannelID(0), .close),
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .central: MessageKind(0, "central")
        case .peripheral: MessageKind(1, "peripheral")
        case .channel: MessageKind(2, "channel")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .central(var request):
            try coder.field("request", &request)
            self = .central(request)
        case .peripheral(var request):
            try coder.field("request", &request)
            self = .peripheral(request)
        case .channel(var channel, var request):
            try coder.field("channel", &channel)
            try coder.field("request", &request)
            self = .channel(channel, request)
        }
    }
}

extension CentralRequest: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [CentralRequest] {
        [
            .startScan(ScanRequest()),
            .stopScan,
            .peer(.blank, .forget),
            .watchConnections(nil),
            .resetScanFilter,
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .startScan: MessageKind(0, "startScan")
        case .stopScan: MessageKind(1, "stopScan")
        case .peer: MessageKind(2, "peer")
        case .watchConnections: MessageKind(3, "watchConnections")
        case .resetScanFilter: MessageKind(4, "resetScanFilter")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .startScan(var scan):
            try coder.field("scan", &scan)
            self = .startScan(scan)
        case .peer(var peer, var request):
            try coder.uuid("peer", &peer)
            try coder.field("request", &request)
            self = .peer(peer, request)
        case .watchConnections(var watch):
            try coder.optional("watch", &watch)
            self = .watchConnections(watch)
        case .stopScan, .resetScanFilter: break
        }
    }
}

extension PeerRequest: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [PeerRequest] {
        [
            .connect(ConnectOptions()),
            .cancelConnection,
            .forget,
            .link(.readRSSI),
            .ask(1, .readRSSI),
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .connect: MessageKind(0, "connect")
        case .cancelConnection: MessageKind(1, "cancelConnection")
        case .forget: MessageKind(2, "forget")
        case .link: MessageKind(3, "link")
        case .ask: MessageKind(4, "ask")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .connect(var options):
            try coder.field("options", &options)
            self = .connect(options)
        case .link(var request):
            try coder.field("request", &request)
            self = .link(request)
        case .ask(var number, var request):
            try coder.field("number", &number)
            try coder.field("request", &request)
            self = .ask(number, request)
        case .cancelConnection, .forget: break
        }
    }
}

extension LinkRequest: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [LinkRequest] {
        [
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
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .discoverServices: MessageKind(0, "discoverServices")
        case .discoverIncludedServices: MessageKind(1, "discoverIncludedServices")
        case .discoverCharacteristics: MessageKind(2, "discoverCharacteristics")
        case .discoverDescriptors: MessageKind(3, "discoverDescriptors")
        case .readCharacteristic: MessageKind(4, "readCharacteristic")
        case .readDescriptor: MessageKind(5, "readDescriptor")
        case .writeCharacteristic: MessageKind(6, "writeCharacteristic")
        case .writeWithoutResponse: MessageKind(7, "writeWithoutResponse")
        case .writeDescriptor: MessageKind(8, "writeDescriptor")
        case .setNotify: MessageKind(9, "setNotify")
        case .readRSSI: MessageKind(10, "readRSSI")
        case .startChannelSounding: MessageKind(11, "startChannelSounding")
        case .cancelChannelSounding: MessageKind(12, "cancelChannelSounding")
        case .openChannel: MessageKind(13, "openChannel")
        case .refreshServices: MessageKind(14, "refreshServices")
        case .readLinkInformation: MessageKind(15, "readLinkInformation")
        case .watchLink: MessageKind(16, "watchLink")
        case .preferLink: MessageKind(17, "preferLink")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .discoverServices(var services):
            try coder.optional("services", &services, limit: ServiceLimits.discoveredTypes)
            self = .discoverServices(services)
        case .discoverIncludedServices(var service, var services):
            try coder.field("service", &service)
            try coder.optional("services", &services, limit: ServiceLimits.discoveredTypes)
            self = .discoverIncludedServices(of: service, services)
        case .discoverCharacteristics(var service, var characteristics):
            try coder.field("service", &service)
            try coder.optional("characteristics", &characteristics, limit: ServiceLimits.discoveredTypes)
            self = .discoverCharacteristics(of: service, characteristics)
        case .discoverDescriptors(var characteristic):
            try coder.field("characteristic", &characteristic)
            self = .discoverDescriptors(of: characteristic)
        case .readCharacteristic(var characteristic):
            try coder.field("characteristic", &characteristic)
            self = .readCharacteristic(characteristic)
        case .readDescriptor(var descriptor):
            try coder.field("descriptor", &descriptor)
            self = .readDescriptor(descriptor)
        case .writeCharacteristic(var characteristic, var value):
            try coder.field("characteristic", &characteristic)
            try coder.octets("value", &value)
            self = .writeCharacteristic(characteristic, value: value)
        case .writeWithoutResponse(var characteristic, var value):
            try coder.field("characteristic", &characteristic)
            try coder.octets("value", &value)
            self = .writeWithoutResponse(characteristic, value: value)
        case .writeDescriptor(var descriptor, var value):
            try coder.field("descriptor", &descriptor)
            try coder.octets("value", &value)
            self = .writeDescriptor(descriptor, value: value)
        case .setNotify(var characteristic, var isEnabled):
            try coder.field("characteristic", &characteristic)
            try coder.field("isEnabled", &isEnabled)
            self = .setNotify(characteristic, isEnabled: isEnabled)
        case .openChannel(var psm):
            try coder.field("psm", &psm)
            self = .openChannel(psm: psm)
        case .watchLink(var isWatched):
            try coder.field("isWatched", &isWatched)
            self = .watchLink(isWatched)
        case .preferLink(var preference):
            try coder.field("preference", &preference)
            self = .preferLink(preference)
        case .readRSSI, .startChannelSounding, .cancelChannelSounding, .refreshServices, .readLinkInformation: break
        }
    }
}

extension PeripheralRequest: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [PeripheralRequest] {
        [
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
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .addService: MessageKind(0, "addService")
        case .removeService: MessageKind(1, "removeService")
        case .removeAllServices: MessageKind(2, "removeAllServices")
        case .startAdvertising: MessageKind(3, "startAdvertising")
        case .stopAdvertising: MessageKind(4, "stopAdvertising")
        case .respond: MessageKind(5, "respond")
        case .updateValue: MessageKind(6, "updateValue")
        case .setDesiredConnectionLatency: MessageKind(7, "setDesiredConnectionLatency")
        case .publishChannel: MessageKind(8, "publishChannel")
        case .unpublishChannel: MessageKind(9, "unpublishChannel")
        case .watchCentrals: MessageKind(10, "watchCentrals")
        case .disconnectCentral: MessageKind(11, "disconnectCentral")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .addService(var service):
            try coder.field("service", &service)
            self = .addService(service)
        case .removeService(var service):
            try coder.field("service", &service)
            self = .removeService(service)
        case .startAdvertising(var advertisement):
            try coder.field("advertisement", &advertisement)
            self = .startAdvertising(advertisement)
        case .respond(var transaction, var status, var value):
            try coder.field("transaction", &transaction)
            try coder.field("status", &status)
            try coder.optional("value", &value)
            self = .respond(transaction: transaction, status, value: value)
        case .updateValue(var characteristic, var value, var centrals):
            try coder.field("characteristic", &characteristic)
            try coder.octets("value", &value)
            try coder.optional("centrals", &centrals, limit: ServiceLimits.centrals)
            self = .updateValue(characteristic, value: value, centrals: centrals)
        case .setDesiredConnectionLatency(var central, var latency):
            try coder.uuid("central", &central)
            try coder.number("latency", &latency)
            self = .setDesiredConnectionLatency(central: central, latency: latency)
        case .publishChannel(var needsEncryption, var number):
            try coder.field("needsEncryption", &needsEncryption)
            try coder.field("number", &number)
            self = .publishChannel(needsEncryption: needsEncryption, number: number)
        case .unpublishChannel(var psm):
            try coder.field("psm", &psm)
            self = .unpublishChannel(psm: psm)
        case .watchCentrals(var isWanted):
            try coder.field("isWanted", &isWanted)
            self = .watchCentrals(isWanted)
        case .disconnectCentral(var central):
            try coder.uuid("central", &central)
            self = .disconnectCentral(central)
        case .removeAllServices, .stopAdvertising: break
        }
    }
}

extension Query: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [Query] {
        [
            .peripherals(identifiers: []),
            .connectedPeripherals(services: []),
            .system,
            .names(.blank),
            .scanCounts,
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .peripherals: MessageKind(0, "peripherals")
        case .connectedPeripherals: MessageKind(1, "connectedPeripherals")
        case .system: MessageKind(2, "system")
        case .names: MessageKind(3, "names")
        case .scanCounts: MessageKind(4, "scanCounts")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .peripherals(var identifiers):
            try coder.list("identifiers", &identifiers, limit: ServiceLimits.identifiers)
            self = .peripherals(identifiers: identifiers)
        case .connectedPeripherals(var services):
            try coder.list("services", &services, limit: ServiceLimits.scannedServices)
            self = .connectedPeripherals(services: services)
        case .names(var peer):
            try coder.uuid("peer", &peer)
            self = .names(peer)
        case .system, .scanCounts: break
        }
    }
}

extension Reply: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [Reply] {
        [
            .peripherals([]),
            .connectedPeripherals([]),
            .system(SystemInfo()),
            .names(KnownNames()),
            .scanCounts(nil),
        ]
    }

    /// See ``MessageKinds/kind``.
    public var kind: MessageKind {
        switch self {
        case .peripherals: MessageKind(0, "peripherals")
        case .connectedPeripherals: MessageKind(1, "connectedPeripherals")
        case .system: MessageKind(2, "system")
        case .names: MessageKind(3, "names")
        case .scanCounts: MessageKind(4, "scanCounts")
        }
    }

    /// Codes the fields of this kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .peripherals(var peripherals):
            try coder.list("peripherals", &peripherals, limit: ServiceLimits.identifiers)
            self = .peripherals(peripherals)
        case .connectedPeripherals(var peripherals):
            try coder.list("peripherals", &peripherals, limit: ServiceLimits.identifiers)
            self = .connectedPeripherals(peripherals)
        case .system(var info):
            try coder.field("info", &info)
            self = .system(info)
        case .names(var names):
            try coder.field("names", &names)
            self = .names(names)
        case .scanCounts(var counts):
            try coder.optional("counts", &counts)
            self = .scanCounts(counts)
        }
    }
}
