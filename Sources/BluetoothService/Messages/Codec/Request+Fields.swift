import BluetoothTypes
import Foundation

// The wire format of what managers ask.

extension Request: MessageKinds {
    /// See ``MessageKinds/kinds``.
    public static var kinds: [Request] {
        [
            .central(.stopScan),
            .peripheral(.removeAllServices),
            .channel(ChannelID(0), .close),
        ]
    }

    /// See ``MessageKinds/number``.
    public var number: UInt8 {
        switch self {
        case .central: 0
        case .peripheral: 1
        case .channel: 2
        }
    }

    /// The fields of each kind.
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

    /// See ``MessageKinds/number``.
    public var number: UInt8 {
        switch self {
        case .startScan: 0
        case .stopScan: 1
        case .peer: 2
        case .watchConnections: 3
        case .resetScanFilter: 4
        }
    }

    /// The fields of each kind.
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

    /// See ``MessageKinds/number``.
    public var number: UInt8 {
        switch self {
        case .connect: 0
        case .cancelConnection: 1
        case .forget: 2
        case .link: 3
        case .ask: 4
        }
    }

    /// The fields of each kind.
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

    /// See ``MessageKinds/number``.
    public var number: UInt8 {
        switch self {
        case .discoverServices: 0
        case .discoverIncludedServices: 1
        case .discoverCharacteristics: 2
        case .discoverDescriptors: 3
        case .readCharacteristic: 4
        case .readDescriptor: 5
        case .writeCharacteristic: 6
        case .writeWithoutResponse: 7
        case .writeDescriptor: 8
        case .setNotify: 9
        case .readRSSI: 10
        case .startChannelSounding: 11
        case .cancelChannelSounding: 12
        case .openChannel: 13
        case .refreshServices: 14
        case .readLinkInformation: 15
        case .watchLink: 16
        case .preferLink: 17
        }
    }

    /// The fields of each kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .discoverServices(var services):
            try coder.optional("services", &services)
            self = .discoverServices(services)
        case .discoverIncludedServices(var service, var services):
            try coder.field("service", &service)
            try coder.optional("services", &services)
            self = .discoverIncludedServices(of: service, services)
        case .discoverCharacteristics(var service, var characteristics):
            try coder.field("service", &service)
            try coder.optional("characteristics", &characteristics)
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

    /// See ``MessageKinds/number``.
    public var number: UInt8 {
        switch self {
        case .addService: 0
        case .removeService: 1
        case .removeAllServices: 2
        case .startAdvertising: 3
        case .stopAdvertising: 4
        case .respond: 5
        case .updateValue: 6
        case .setDesiredConnectionLatency: 7
        case .publishChannel: 8
        case .unpublishChannel: 9
        case .watchCentrals: 10
        case .disconnectCentral: 11
        }
    }

    /// The fields of each kind.
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
            try coder.optional("centrals", &centrals)
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

    /// See ``MessageKinds/number``.
    public var number: UInt8 {
        switch self {
        case .peripherals: 0
        case .connectedPeripherals: 1
        case .system: 2
        case .names: 3
        case .scanCounts: 4
        }
    }

    /// The fields of each kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .peripherals(var identifiers):
            try coder.list("identifiers", &identifiers)
            self = .peripherals(identifiers: identifiers)
        case .connectedPeripherals(var services):
            try coder.list("services", &services)
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

    /// See ``MessageKinds/number``.
    public var number: UInt8 {
        switch self {
        case .peripherals: 0
        case .connectedPeripherals: 1
        case .system: 2
        case .names: 3
        case .scanCounts: 4
        }
    }

    /// The fields of each kind.
    public mutating func codeFields<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        switch self {
        case .peripherals(var peripherals):
            try coder.list("peripherals", &peripherals)
            self = .peripherals(peripherals)
        case .connectedPeripherals(var peripherals):
            try coder.list("peripherals", &peripherals)
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
