import BluetoothTypes
import HCIHost
import ServiceMessages

/// The fallbacks in use for controllers that misbehaved, so that the next service begins with them
/// (`Documentation/Quirks.md`).
package struct ControllerRecord: Hashable, Sendable {
    /// The version that this code writes, and the only one that it reads.
    package static let version: UInt16 = 1
    /// The maximum length of a place, in octets.
    package static let maximumPlace = 256

    /// The version that the record was read from.
    package var version = ControllerRecord.version
    /// The controllers, the most recently used one last; ``ControllerMemory/maximumControllers`` at most.
    package var entries: [ControllerMemory.Entry]

    /// Creates a record of these controllers, without those whose place is too long.
    package init(_ entries: [ControllerMemory.Entry]) {
        self.entries = entries.filter { $0.device.place.utf8.count <= Self.maximumPlace }
    }
}

extension ControllerRecord: PacketFields {
    package init() { self.init([]) }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.version(&version, Self.version...Self.version)
        var controllers = entries.map { Controller($0) }
        try coder.list("controllers", &controllers, limit: ControllerMemory.maximumControllers)
        guard coder.isReading else { return }
        guard Set(controllers.map(\.entry.device)).count == controllers.count else {
            throw PacketError(.value(0), at: "controllers")
        }
        entries = controllers.map(\.entry)
    }
}

/// One controller of a ``ControllerRecord``.
private struct Controller: PacketFields, MessageValue {
    var entry: ControllerMemory.Entry

    init(_ entry: ControllerMemory.Entry) { self.entry = entry }

    init() {
        let firmware = ControllerMemory.Firmware(version: 0, revision: 0, subversion: 0)
        entry = .init(device: .init(place: "", company: 0), firmware: firmware, fallbacks: [])
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("place", &entry.device.place)
        try coder.value("company", &entry.device.company)
        try coder.value("version", &entry.firmware.version)
        try coder.value("revision", &entry.firmware.revision)
        try coder.value("subversion", &entry.firmware.subversion)
        // A bit mask, so that each set has exactly one encoding.
        var bits = entry.fallbacks.reduce(UInt32(0)) { $0 | 1 << UInt32($1.rawValue) }
        try coder.value("fallbacks", &bits)
        guard coder.isReading else { return }
        let place = entry.device.place.utf8.count
        guard place <= ControllerRecord.maximumPlace else { throw PacketError(.length(place), at: "place") }
        let known = ControllerFallback.allCases.filter { bits >> UInt32($0.rawValue) & 1 == 1 }
        guard known.reduce(UInt32(0), { $0 | 1 << UInt32($1.rawValue) }) == bits else {
            throw PacketError(.value(UInt64(bits)), at: "fallbacks")
        }
        entry.fallbacks = Set(known)
    }
}
