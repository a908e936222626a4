import BluetoothTypes
import ServiceMessages

/// Identifies a process of this machine across restarts of the service. The process ID alone may be reused.
package struct ProcessMark: Hashable, Sendable {
    /// The maximum length of ``beginning``, in octets.
    static let maximumBeginning = 32

    package var number: UInt32
    /// The start time of the process, as the kernel reports it.
    package var beginning: String

    package init(number: UInt32, beginning: String) {
        self.number = number
        self.beginning = beginning
    }
}

extension ProcessMark: PacketFields, MessageValue {
    package init() { self.init(number: 0, beginning: "") }

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.value("number", &number)
        try coder.value("beginning", &beginning)
        let count = beginning.utf8.count
        if coder.isReading, count > Self.maximumBeginning { throw PacketError(.length(count), at: "beginning") }
    }
}
