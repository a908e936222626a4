import ATT
import BluetoothTypes
import L2CAP

/// What one client has prepared and not yet executed (Core Vol 3 Part F 3.4.6).
struct PreparedWrites {
    /// Most parts (AB-A01): four values of 512 octets over the smallest MTU.
    static let maximumParts = 128
    /// Most octets of all parts.
    static let maximumOctets = 8192
    /// How long parts are kept after the last one: as long as two requests may take.
    static let timeout = Duration.seconds(60)

    /// A part of a value.
    struct Part {
        var write: GATTWrite
        /// When it began to arrive.
        var moment: LinkMoment
        /// Whether the attribute that was meant is still there.
        var isValid = true
    }

    private(set) var parts: [Part] = []
    private var octets = 0
    /// Whether parts were forgotten that the client may believe to be here.
    private var hasExpired = false

    /// Keeps a part, unless the quota is used up. The octets are copied: a slice would keep the whole packet alive.
    mutating func add(_ request: ATTPrepareWriteRequest, at moment: LinkMoment) -> ATTErrorCode? {
        // What follows parts that were forgotten must not be written without them.
        guard !takeExpiry(), parts.count < Self.maximumParts, octets + request.value.count <= Self.maximumOctets else {
            return .prepareQueueFull
        }
        octets += request.value.count
        let copy = PacketBuffer(copying: request.value, headroom: 0)
        let write = GATTWrite(handle: request.handle, offset: Int(request.offset), value: copy)
        parts.append(Part(write: write, moment: moment))
        return nil
    }

    /// Everything that was prepared; nothing is left.
    mutating func takeAll() -> [Part] {
        defer {
            parts = []
            octets = 0
        }
        return parts
    }

    /// Forgets parts that nobody has executed in time (AB-A01).
    mutating func expire() {
        hasExpired = !parts.isEmpty
        _ = takeAll()
    }

    /// Whether parts were forgotten since the last call.
    mutating func takeExpiry() -> Bool {
        defer { hasExpired = false }
        return hasExpired
    }

    /// The attributes in `handles` are not what they were.
    mutating func invalidate(_ handles: ClosedRange<UInt16>) {
        for index in parts.indices where handles.contains(parts[index].write.handle) { parts[index].isValid = false }
    }
}
