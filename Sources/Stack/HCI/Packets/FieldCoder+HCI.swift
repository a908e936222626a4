import BluetoothTypes

extension PacketFields {
    /// Creates a packet whose fields `assign` sets. All other fields keep the values of `init()`.
    @inlinable
    package init(_ assign: (inout Self) -> Void) {
        self.init()
        assign(&self)
    }
}

extension FieldCoder {
    /// Codes advertising data: a length and 31 octets, of which the first `length` are significant (Core Vol 4 Part E
    /// 7.8.7). A length above 31 is an error.
    mutating func advertisingData(_ name: String, _ data: inout PacketBuffer) throws(PacketError) {
        let size = 31
        var length = UInt8(truncatingIfNeeded: Swift.min(data.count, size))
        try field("\(name)_Length", &length)
        if isReading, length > size { throw PacketError(.length(Int(length)), at: "\(name)_Length") }
        try bytes(name, &data, count: size)
        if isReading { data = data.prefix(upTo: Int(length)) }
    }

    /// Codes a data fragment: a length and at most 251 octets, the space that a command with three other octets has
    /// left (Core Vol 4 Part E 7.8.54).
    mutating func dataFragment(_ name: String, _ data: inout PacketBuffer) throws(PacketError) {
        let size = 251
        if !isReading, data.count > size { data = data.prefix(upTo: size) }
        try countedBytes(name, &data)
        if isReading, data.count > size { throw PacketError(.length(data.count), at: "\(name)_Length") }
    }

    /// Codes a set of PHYs that determines how many parts follow. A PHY outside `allowed` is an error, because the
    /// layout of its part is unknown.
    mutating func phys(_ name: String, _ phys: inout LEPHYs, allowed: LEPHYs) throws(PacketError) {
        try field(name, &phys)
        if isReading, !phys.isSubset(of: allowed) { throw PacketError(.value(UInt64(phys.rawValue)), at: name) }
    }

    /// Codes a part whose presence an earlier field determines.
    mutating func optional<T: PacketFields>(_ name: String, _ value: inout T?, isPresent: Bool) throws(PacketError) {
        guard isPresent else { return }
        var present = value ?? T()
        try field(name, &present)
        value = present
    }

    /// Codes the reports of an advertising event, one complete report after the other (Core Vol 4 Part E 5.2). It is an
    /// error if there are none, or more than fit the event (AB-H03).
    mutating func reports<T: PacketFields>(_ reports: inout [T]) throws(PacketError) {
        try list("Num_Reports", "Report", &reports)
        if isReading, reports.isEmpty { throw PacketError(.length(0), at: "Num_Reports") }
    }
}
