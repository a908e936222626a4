import BluetoothTypes

extension FieldCoder {
    /// A length and 31 octets of which so many mean something (Core Vol 4 Part E 7.8.7). A longer length is an error.
    mutating func advertisingData(_ name: String, _ data: inout PacketBuffer) throws(PacketError) {
        let size = 31
        var length = UInt8(truncatingIfNeeded: Swift.min(data.count, size))
        try field("\(name)_Length", &length)
        if isReading, length > size { throw PacketError(.length(Int(length)), at: "\(name)_Length") }
        try bytes(name, &data, count: size)
        if isReading { data = data.prefix(upTo: Int(length)) }
    }

    /// A length and at most 251 octets: what fits a command besides three other octets (Core Vol 4 Part E 7.8.54).
    mutating func dataFragment(_ name: String, _ data: inout PacketBuffer) throws(PacketError) {
        let size = 251
        if !isReading, data.count > size { data = data.prefix(upTo: size) }
        try countedBytes(name, &data)
        if isReading, data.count > size { throw PacketError(.length(data.count), at: "\(name)_Length") }
    }

    /// A set of PHYs that tells how many parts follow; one outside `allowed` is an error, since nobody knows its part.
    mutating func phys(_ name: String, _ phys: inout LEPHYs, allowed: LEPHYs) throws(PacketError) {
        try field(name, &phys)
        if isReading, !phys.isSubset(of: allowed) { throw PacketError(.value(UInt64(phys.rawValue)), at: name) }
    }

    /// A part that is there or not, as an earlier field said.
    mutating func optional<T: PacketFields>(_ name: String, _ value: inout T?, isPresent: Bool) throws(PacketError) {
        guard isPresent else { return }
        var present = value ?? T()
        try field(name, &present)
        value = present
    }

    /// The reports of an advertising event, each with all of its fields (Core Vol 4 Part E 5.2). No report at all is an
    /// error, and so are more than the event has octets for (AB-H03).
    mutating func reports<T: PacketFields>(_ reports: inout [T]) throws(PacketError) {
        try list("Num_Reports", "Report", &reports)
        if isReading, reports.isEmpty { throw PacketError(.length(0), at: "Num_Reports") }
    }
}
