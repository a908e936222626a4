import BluetoothTypes
import Foundation

// The wire format of the values in messages.

extension ScanRequest: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.optional("services", &services, limit: ServiceLimits.scannedServices)
        try coder.field("allows duplicates", &allowsDuplicates)
        try coder.list("solicited services", &solicitedServices, limit: ServiceLimits.scannedServices)
        try coder.optional("lost after", &lostAfter)
    }
}

extension ConnectOptions: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("notifies on connection", &notifiesOnConnection)
        try coder.field("notifies on disconnection", &notifiesOnDisconnection)
        try coder.field("notifies on notification", &notifiesOnNotification)
        try coder.number("start delay", &startDelay)
        try coder.field("reconnects automatically", &reconnectsAutomatically)
        try coder.field("requires notifications", &requiresNotifications)
    }
}

extension LinkPreference: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.optional("minimum interval", &minimumInterval)
        try coder.optional("maximum interval", &maximumInterval)
        try coder.number("latency", &latency)
        try coder.number("supervision timeout", &supervisionTimeout)
        try coder.optional("PHY", &phy)
    }
}

extension LinkFacts: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.number("interval", &interval)
        try coder.number("latency", &latency)
        try coder.number("supervision timeout", &supervisionTimeout)
        try coder.number("TX PHY", &txPHY)
        try coder.number("RX PHY", &rxPHY)
        try coder.number("MTU", &mtu)
        try coder.number("TX octets", &maxTxOctets)
        try coder.number("RX octets", &maxRxOctets)
        try coder.optional("RSSI", &rssi)
        try coder.field("is encrypted", &isEncrypted)
        try coder.field("is authenticated", &isAuthenticated)
        try coder.field("is bonded", &isBonded)
        try coder.number("key size", &keySize)
        try coder.list("table flaws", &tableFlaws, limit: Self.maximumFlaws, "") { coder, value throws(PacketError) in
            try coder.text("flaw", &value)
        }
    }
}

extension KnownNames: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.optional("advertised", &advertised)
        try coder.optional("advertised age", &advertisedAge)
        try coder.optional("device", &device)
        try coder.optional("device age", &deviceAge)
    }
}

extension ScanCounts: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.number("heard", &heard)
        try coder.number("reported", &reported)
        try coder.number("suppressed", &suppressed)
        try coder.number("remembered", &remembered)
        try coder.number("forgotten", &forgotten)
    }
}

extension ConnectionWatch: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.list("services", &services, limit: Self.maximumServices)
        try coder.list("peers", &peers, limit: Self.maximumPeers)
    }
}

extension SystemInfo: PacketFields {
    /// Codes the fields in wire order; the permission as its raw value in one octet.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("has extended scan and connect", &hasExtendedScanAndConnect)
        var raw = UInt8(permission.rawValue)
        try coder.field("state", &raw)
        guard let known = AppPermission(rawValue: Int(raw)) else {
            throw PacketError(.value(UInt64(raw)), at: "state")
        }
        permission = known
    }
}

extension LocalAttributeID: WireValue {}

extension LocalService: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(id: LocalAttributeID(0), uuid: 0, isPrimary: false) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("id", &id)
        try coder.uuid("type", &uuid)
        try coder.field("is primary", &isPrimary)
        let limit = ServiceLimits.includedServices
        try coder.list("included services", &includedServices, limit: limit, LocalAttributeID(0)) {
            coder,
            id throws(PacketError) in
            try coder.field("id", &id)
        }
        try coder.list("characteristics", &characteristics, limit: ServiceLimits.characteristics)
    }
}

extension LocalCharacteristic: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(id: LocalAttributeID(0), uuid: 0, properties: 0, permissions: 0) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("id", &id)
        try coder.uuid("type", &uuid)
        try coder.field("properties", &properties)
        try coder.field("permissions", &permissions)
        try coder.optional("value", &value)
        try coder.list("descriptors", &descriptors, limit: ServiceLimits.descriptors)
    }
}

extension LocalDescriptor: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(uuid: 0, value: []) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.uuid("type", &uuid)
        try coder.octets("value", &value)
    }
}

extension AdvertisingRequest: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.optional("local name", &localName)
        try coder.list("services", &services, limit: ServiceLimits.advertisedServices)
        try coder.optional("manufacturer data", &manufacturerData)
        try coder.list("service data", &serviceData, limit: ServiceLimits.advertisedData)
        try coder.field("number", &number)
    }
}

extension ManagerState: PacketFields {
    /// Creates the state ``unknown``.
    public init() { self = .unknown }

    /// Codes the raw value in one octet.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var raw = UInt8(rawValue)
        try coder.field("state", &raw)
        guard let state = ManagerState(rawValue: Int(raw)) else { throw PacketError(.value(UInt64(raw)), at: "state") }
        self = state
    }
}

extension PeerInfo: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(identifier: .blank) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.uuid("identifier", &identifier)
        try coder.optional("name", &name)
    }
}

extension CentralInfo: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(identifier: .blank, maximumUpdateLength: 0) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.uuid("identifier", &identifier)
        try coder.number("maximum update length", &maximumUpdateLength)
    }
}

extension WriteRequest: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(characteristic: LocalAttributeID(0), offset: 0, value: []) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("characteristic", &characteristic)
        try coder.number("offset", &offset)
        try coder.octets("value", &value)
    }
}

extension Advertisement: PacketFields {
    /// Codes the fields in wire order; service data sorted by service, so that equal advertisements are equal on the
    /// wire.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.optional("local name", &localName)
        try coder.optional("manufacturer data", &manufacturerData)
        var data = serviceData.sorted { $0.key.bigEndianBytes.lexicographicallyPrecedes($1.key.bigEndianBytes) }
            .map { LocalDescriptor(uuid: $0.key, value: $0.value) }
        try coder.list("service data", &data, limit: ServiceLimits.receivedServices)
        if coder.isReading { serviceData = Dictionary(data.map { ($0.uuid, $0.value) }) { first, _ in first } }
        try coder.list("services", &serviceUUIDs, limit: ServiceLimits.receivedServices)
        try coder.list("overflow services", &overflowServiceUUIDs, limit: ServiceLimits.scannedServices)
        try coder.list("solicited services", &solicitedServiceUUIDs, limit: ServiceLimits.receivedServices)
        try coder.optional("transmit power", &txPowerLevel)
        try coder.field("is connectable", &isConnectable)
        try coder.number("primary PHY", &primaryPHY)
        try coder.number("secondary PHY", &secondaryPHY)
        try coder.optional("timestamp", &timestamp, 0) { coder, value throws(PacketError) in
            try coder.number("timestamp", &value)
        }
    }
}

extension RemoteService: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(handle: 0, endHandle: 0, uuid: 0, isPrimary: false) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("handle", &handle)
        try coder.field("end handle", &endHandle)
        try coder.uuid("type", &uuid)
        try coder.field("is primary", &isPrimary)
    }
}

extension RemoteCharacteristic: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(handle: 0, uuid: 0, properties: 0) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("handle", &handle)
        try coder.uuid("type", &uuid)
        try coder.field("properties", &properties)
        try coder.optional("value", &value)
    }
}

extension RemoteDescriptor: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(handle: 0, uuid: 0) }

    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("handle", &handle)
        try coder.uuid("type", &uuid)
    }
}

extension ServiceError: PacketFields {
    /// Creates an unknown error.
    public init() { self.init(.unknown) }

    /// Codes the domain, the code within it, the reason and the cause.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var (domain, number): (UInt8, UInt8) =
            switch code {
            case .core(let code): (0, UInt8(code.rawValue))
            case .att(let status): (1, status.rawValue)
            }
        try coder.field("domain", &domain)
        try coder.field("code", &number)
        switch domain {
        case 0:
            guard let core = CoreCode(rawValue: Int(number)) else {
                throw PacketError(.value(UInt64(number)), at: "code")
            }
            code = .core(core)
        case 1: code = .att(ATTStatus(rawValue: number))
        default: throw PacketError(.value(UInt64(domain)), at: "domain")
        }
        try coder.optional("reason", &reason)
        try coder.optional("cause", &cause)
    }
}

extension ServiceError.Cause: PacketFields {
    /// Creates a placeholder, to decode into.
    public init() { self.init(.att, 0) }

    /// Codes the layer in one octet, followed by the code.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        var raw = layer.rawValue
        try coder.field("kind", &raw)
        guard let known = ServiceError.Layer(rawValue: raw) else { throw PacketError(.value(UInt64(raw)), at: "kind") }
        layer = known
        try coder.field("code", &code)
    }
}
