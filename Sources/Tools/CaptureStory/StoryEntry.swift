import BluetoothTypes

/// An event of a story, in words that are put together where they are shown.
///
/// An entry about a value shares the octets of its record.
package struct StoryEntry: Hashable, Sendable {
    /// The subject of an entry.
    package enum Kind: String, Sendable, CaseIterable {
        case device, attempt, connected, parameters, mtu, phy, dataLength, channel, pairing, encryption
        case operation, notification, error, gap, disconnected, note

        package var isBrief: Bool {
            switch self {
            case .connected, .pairing, .encryption, .error, .disconnected, .parameters, .phy, .mtu: true
            case .device, .attempt, .dataLength, .channel, .operation, .notification, .gap, .note: false
            }
        }
    }

    /// The time, in microseconds since the Unix epoch.
    package var unixMicroseconds: Int64
    /// The position in the file of the record that the entry is about, in octets.
    package var offset: UInt64
    /// The number of the connection, from 1; nil for other entries.
    package var connection: Int?
    package var kind: Kind
    var words: StoryText
    var content: StoryValue?
    /// The section of the specification that defines an error.
    package var section: String?
    /// The time from the request to the response, in microseconds.
    package var latency: Int64?

    /// The event in words, without the value of an attribute.
    package var text: String { words.description }
    /// The value that was read, written or sent, in words.
    package var value: String? { content?.description }

    /// The text, the value, the latency and the section.
    package var line: String { TextOctets.string { write(to: &$0) } }

    func write(to text: inout TextOctets) {
        words.write(to: &text)
        if let content {
            text.append(": ")
            content.write(to: &text)
        }
        if let latency {
            text.append(", after ")
            text.append(microseconds: latency)
        }
        if let section {
            text.append(" [")
            text.append(section)
            text.append("]")
        }
    }
}

/// The totals of a capture.
package struct StoryTotals: Hashable, Sendable {
    package var records = 0
    package var commands = 0
    package var events = 0
    package var dataPackets = 0
    package var frames = 0
    /// The records that are neither HCI packets nor frames of the LE link layer.
    package var others = 0
    /// The packets that are malformed or cut off.
    package var malformed = 0
    package var connections = 0
    package var failedConnections = 0
    package var attributePDUs = 0
    package var attributeErrors = 0
    /// The packets that the capturing program reports as lost.
    package var drops: UInt32 = 0
    /// The time of the first record, in microseconds since the Unix epoch.
    package var begin: Int64?
    /// The latest time of a record.
    package var end: Int64 = 0

    /// The time from the first to the last record, in microseconds.
    package var duration: Int64 { max(0, end &- (begin ?? end)) }
}
