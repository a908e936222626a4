import BluetoothTypes

// The wire format of restored state.

extension RestoredCentral: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("scan", &scan)
        try coder.list("peers", &peers, limit: ServiceLimits.peersOfManager)
    }
}

extension RestoredPeer: PacketFields, MessageValue {
    /// Codes the fields in wire order. The maximum length is 0 for a peer that is not connected.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("peer", &info)
        let isConnected = try coder.value("is connected", maximumWriteWithoutResponse != nil)
        let length = try coder.value("maximum write", maximumWriteWithoutResponse ?? 0)
        maximumWriteWithoutResponse = isConnected ? length : nil
        try coder.list("services", &services, limit: ServiceLimits.remoteServices)
    }
}

extension RestoredService: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("service", &service)
        try coder.list("included services", &includedServices, limit: ServiceLimits.includedServices)
        try coder.list("characteristics", &characteristics, limit: ServiceLimits.characteristics)
    }
}

extension RestoredCharacteristic: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("characteristic", &characteristic)
        try coder.value("is notifying", &isNotifying)
        try coder.list("descriptors", &descriptors, limit: ServiceLimits.descriptors)
    }
}

extension RestoredPeripheral: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.list("services", &services, limit: ServiceLimits.servicesOfManager)
        try coder.list("subscriptions", &subscriptions, limit: ServiceLimits.restoredSubscriptions)
        try coder.value("advertising", &advertising)
    }
}

extension RestoredSubscription: PacketFields, MessageValue {
    /// Codes the fields in wire order.
    public mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("central", &central)
        try coder.value("characteristic", &characteristic)
    }
}
