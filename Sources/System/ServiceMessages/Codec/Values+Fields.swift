import BluetoothTypes
import Foundation

// The wire format of the values in messages.

extension ScanRequest: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        services = try coder.list("services", services, limit: ServiceLimits.scannedServices)
        try coder.value("allows duplicates", &allowsDuplicates)
        try coder.list("solicited services", &solicitedServices, limit: ServiceLimits.scannedServices)
        try coder.value("lost after", &lostAfter)
    }
}

extension ConnectOptions: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("notifies on connection", &notifiesOnConnection)
        try coder.value("notifies on disconnection", &notifiesOnDisconnection)
        try coder.value("notifies on notification", &notifiesOnNotification)
        try coder.value("start delay", &startDelay)
        try coder.value("reconnects automatically", &reconnectsAutomatically)
        try coder.value("requires notifications", &requiresNotifications)
    }
}

extension LinkPreference: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("minimum interval", &minimumInterval)
        try coder.value("maximum interval", &maximumInterval)
        try coder.value("latency", &latency)
        try coder.value("supervision timeout", &supervisionTimeout)
        try coder.value("PHY", &phy)
        try coder.value("pairs", &pairs)
    }
}

extension LinkFacts: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("interval", &interval)
        try coder.value("latency", &latency)
        try coder.value("supervision timeout", &supervisionTimeout)
        try coder.value("TX PHY", &txPHY)
        try coder.value("RX PHY", &rxPHY)
        try coder.value("MTU", &mtu)
        try coder.value("TX octets", &maxTxOctets)
        try coder.value("RX octets", &maxRxOctets)
        try coder.value("RSSI", &rssi)
        try coder.value("is encrypted", &isEncrypted)
        try coder.value("is authenticated", &isAuthenticated)
        try coder.value("is bonded", &isBonded)
        try coder.value("key size", &keySize)
        try coder.list("table flaws", of: "flaw", &tableFlaws, limit: Self.maximumFlaws)
    }
}

extension KnownNames: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("advertised", &advertised)
        try coder.value("advertised age", &advertisedAge)
        try coder.value("device", &device)
        try coder.value("device age", &deviceAge)
    }
}

extension ScanCounts: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("heard", &heard)
        try coder.value("reported", &reported)
        try coder.value("suppressed", &suppressed)
        try coder.value("remembered", &remembered)
        try coder.value("forgotten", &forgotten)
    }
}

extension ConnectionWatch: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.list("services", &services, limit: Self.maximumServices)
        try coder.list("peers", &peers, limit: Self.maximumPeers)
    }
}

extension SystemInfo: PacketFields, MessageValue {
    /// Codes the fields in wire order; the permission and the access to Live Activities as raw values.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("has extended scan and connect", &hasExtendedScanAndConnect)
        try coder.choice("state", &permission)
        try coder.value("has channel sounding", &hasChannelSounding)
        try coder.choice("activity access", &activityAccess)
    }
}

extension ATTStatus: MessageValue {}
extension LocalAttributeID: WireValue, MessageValue {}

extension LocalService: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(id: LocalAttributeID(0), uuid: 0, isPrimary: false) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("id", &id)
        try coder.value("type", &uuid)
        try coder.value("is primary", &isPrimary)
        try coder.list("included services", of: "id", &includedServices, limit: ServiceLimits.includedServices)
        try coder.list("characteristics", &characteristics, limit: ServiceLimits.characteristics)
    }
}

extension LocalCharacteristic: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(id: LocalAttributeID(0), uuid: 0, properties: 0, permissions: 0) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("id", &id)
        try coder.value("type", &uuid)
        try coder.value("properties", &properties)
        try coder.value("permissions", &permissions)
        try coder.value("value", &value)
        try coder.list("descriptors", &descriptors, limit: ServiceLimits.descriptors)
    }
}

extension LocalDescriptor: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(uuid: 0, value: []) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("type", &uuid)
        try coder.value("value", &value)
    }
}

extension AdvertisingRequest: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("local name", &localName)
        try coder.list("services", &services, limit: ServiceLimits.advertisedServices)
        try coder.value("manufacturer data", &manufacturerData)
        try coder.list("service data", &serviceData, limit: ServiceLimits.advertisedData)
        try coder.value("number", &number)
    }
}

extension ManagerState: PacketFields, MessageValue {
    /// Creates the state ``unknown``.
    public init() { self = .unknown }

    /// Codes the raw value in one octet.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.choice("state", &self)
    }
}

extension PeerInfo: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(identifier: .blank) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("identifier", &identifier)
        try coder.value("name", &name)
    }
}

extension CentralInfo: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(identifier: .blank, maximumUpdateLength: 0) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("identifier", &identifier)
        try coder.value("maximum update length", &maximumUpdateLength)
    }
}

extension WriteRequest: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(characteristic: LocalAttributeID(0), offset: 0, value: []) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("characteristic", &characteristic)
        try coder.value("offset", &offset)
        try coder.value("value", &value)
    }
}

extension Advertisement: PacketFields, MessageValue {
    /// Codes the fields in wire order; service data sorted by service, so that equal advertisements are equal on the
    /// wire.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("local name", &localName)
        try coder.value("manufacturer data", &manufacturerData)
        var data = serviceData.sorted { $0.key.bigEndianBytes.lexicographicallyPrecedes($1.key.bigEndianBytes) }
            .map { LocalDescriptor(uuid: $0.key, value: $0.value) }
        try coder.list("service data", &data, limit: ServiceLimits.receivedServices)
        if coder.isReading { serviceData = Dictionary(data.map { ($0.uuid, $0.value) }) { first, _ in first } }
        try coder.list("services", &serviceUUIDs, limit: ServiceLimits.receivedServices)
        try coder.list("overflow services", &overflowServiceUUIDs, limit: ServiceLimits.scannedServices)
        try coder.list("solicited services", &solicitedServiceUUIDs, limit: ServiceLimits.receivedServices)
        try coder.value("transmit power", &txPowerLevel)
        try coder.value("is connectable", &isConnectable)
        try coder.value("primary PHY", &primaryPHY)
        try coder.value("secondary PHY", &secondaryPHY)
        try coder.value("timestamp", &timestamp)
    }
}

extension RemoteService: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(handle: 0, endHandle: 0, uuid: 0, isPrimary: false) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("handle", &handle)
        try coder.value("end handle", &endHandle)
        try coder.value("type", &uuid)
        try coder.value("is primary", &isPrimary)
    }
}

extension RemoteCharacteristic: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(handle: 0, uuid: 0, properties: 0) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("handle", &handle)
        try coder.value("type", &uuid)
        try coder.value("properties", &properties)
        try coder.value("value", &value)
    }
}

extension RemoteDescriptor: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(handle: 0, uuid: 0) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("handle", &handle)
        try coder.value("type", &uuid)
    }
}

extension ServiceError: PacketFields, MessageValue {
    /// Creates an unknown error.
    public init() { self.init(.unknown) }

    /// Codes the domain, the code within it, the reason and the cause.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var (domain, number): (UInt8, UInt8) =
            switch code {
            case .core(let code): (0, UInt8(code.rawValue))
            case .att(let status): (1, status.rawValue)
            }
        try coder.value("domain", &domain)
        try coder.value("code", &number)
        switch domain {
        case 0:
            guard let core = CoreCode(rawValue: Int(number)) else {
                throw PacketError(.value(UInt64(number)), at: "code")
            }
            code = .core(core)
        case 1: code = .att(ATTStatus(rawValue: number))
        default: throw PacketError(.value(UInt64(domain)), at: "domain")
        }
        try coder.value("reason", &reason)
        try coder.value("cause", &cause)
    }
}

extension ServiceError.Cause: PacketFields, MessageValue {
    /// Creates a placeholder, to decode into.
    public init() { self.init(.att, 0) }

    /// Codes the layer in one octet, followed by the code.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.choice("kind", &layer)
        try coder.value("code", &code)
    }
}
