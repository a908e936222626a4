import BluetoothTypes

// The wire format of restored state.

extension RestoredCentral: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.optional("scan", &scan)
        try coder.list("peers", &peers, limit: ServiceLimits.peersOfManager)
    }
}

extension RestoredPeer: PacketFields {
    /// Codes the fields in wire order. The maximum length is 0 for a peer that is not connected.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("peer", &info)
        var isConnected = maximumWriteWithoutResponse != nil
        var length = maximumWriteWithoutResponse ?? 0
        try coder.field("is connected", &isConnected)
        try coder.number("maximum write", &length)
        maximumWriteWithoutResponse = isConnected ? length : nil
        try coder.list("services", &services, limit: ServiceLimits.remoteServices)
    }
}

extension RestoredService: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("service", &service)
        try coder.list("included services", &includedServices, limit: ServiceLimits.includedServices)
        try coder.list("characteristics", &characteristics, limit: ServiceLimits.characteristics)
    }
}

extension RestoredCharacteristic: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("characteristic", &characteristic)
        try coder.field("is notifying", &isNotifying)
        try coder.list("descriptors", &descriptors, limit: ServiceLimits.descriptors)
    }
}

extension RestoredPeripheral: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.list("services", &services, limit: ServiceLimits.servicesOfManager)
        try coder.list("subscriptions", &subscriptions, limit: ServiceLimits.restoredSubscriptions)
        try coder.optional("advertising", &advertising)
    }
}

extension RestoredSubscription: PacketFields {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("central", &central)
        try coder.field("characteristic", &characteristic)
    }
}
