import BluetoothTypes
import HCIHost

/// What controllers turned out not to be trusted with, as it is written down, so that the next service begins with the
/// fall-backs (`Documentation/Quirks.md`).
package struct ControllerRecord: Hashable, Sendable {
    /// The version that this code writes, and the only one that it reads.
    package static let version: UInt16 = 1
    /// Octets of the name of a place.
    package static let maximumPlace = 256

    /// The version of what was read.
    package var version = ControllerRecord.version
    /// The controllers, the one that was used last at the end; ``ControllerMemory/maximumControllers`` at most.
    package var entries: [ControllerMemory.Entry]

    /// These controllers. A place with a name that is too long is not kept.
    package init(_ entries: [ControllerMemory.Entry]) {
        self.entries = entries.filter { $0.device.place.utf8.count <= Self.maximumPlace }
    }
}

extension ControllerRecord: PacketFields {
    /// No controller.
    package init() { self.init([]) }

    /// The fields in wire order.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.version(&version, Self.version)
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
private struct Controller: PacketFields {
    var entry: ControllerMemory.Entry

    init(_ entry: ControllerMemory.Entry) { self.entry = entry }

    init() {
        let firmware = ControllerMemory.Firmware(version: 0, revision: 0, subversion: 0)
        entry = .init(device: .init(place: "", company: 0), firmware: firmware, fallbacks: [])
    }

    mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.text("place", &entry.device.place)
        try coder.field("company", &entry.device.company)
        try coder.field("version", &entry.firmware.version)
        try coder.field("revision", &entry.firmware.revision)
        try coder.field("subversion", &entry.firmware.subversion)
        // One bit for each number, so that there is one way only to write them.
        var bits = entry.fallbacks.reduce(UInt32(0)) { $0 | 1 << UInt32($1.rawValue) }
        try coder.field("fallbacks", &bits)
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
