import BluetoothTypes

/// A process of this machine, for a service that was not there when the process began. The number alone may become that of another process.
package struct ProcessMark: Hashable, Sendable {
    /// Octets of ``beginning``.
    static let maximumBeginning = 32

    /// The number of the process.
    package var number: UInt32
    /// When the process began, as the kernel counts.
    package var beginning: String

    package init(number: UInt32, beginning: String) {
        self.number = number
        self.beginning = beginning
    }
}

extension ProcessMark: PacketFields {
    /// No process.
    package init() { self.init(number: 0, beginning: "") }

    /// The fields in wire order.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("number", &number)
        try coder.text("beginning", &beginning)
        let count = beginning.utf8.count
        if coder.isReading, count > Self.maximumBeginning { throw PacketError(.length(count), at: "beginning") }
    }
}
