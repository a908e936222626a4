import ATT
import BluetoothTypes
import L2CAP

/// The writes that a client has prepared and not yet executed (Core Vol 3 Part F 3.4.6).
struct PreparedWrites {
    /// The maximum number of parts (AB-A01): enough for four values of 512 octets at the smallest MTU.
    static let maximumParts = 128
    /// The maximum number of octets in all parts.
    static let maximumOctets = 8192
    /// The time after the last part until all parts are discarded: as long as two transactions may take.
    static let timeout = Duration.seconds(60)

    /// A prepared part of a value.
    struct Part {
        var write: GATTWrite
        /// When it began to arrive.
        var moment: LinkMoment
        /// Whether the attribute has stayed the same since.
        var isValid = true
    }

    private(set) var parts: [Part] = []
    private var octets = 0
    /// Whether parts were discarded that the client may consider prepared.
    private var hasExpired = false

    /// Adds a part, or returns an error if the quota is used up. The octets are copied, since a slice would keep the
    /// whole packet alive.
    mutating func add(_ request: ATTPrepareWriteRequest, at moment: LinkMoment) -> ATTErrorCode? {
        defer { assert(brokenInvariant == nil, brokenInvariant ?? "") }
        // Parts that follow discarded ones must not be written without them.
        guard !takeExpiry(), parts.count < Self.maximumParts, octets + request.value.count <= Self.maximumOctets else {
            return .prepareQueueFull
        }
        octets += request.value.count
        let copy = PacketBuffer(copying: request.value, headroom: 0)
        let write = GATTWrite(handle: request.handle, offset: Int(request.offset), value: copy)
        parts.append(Part(write: write, moment: moment))
        return nil
    }

    private var brokenInvariant: String? {
        guard octets == parts.reduce(0, { $0 + $1.write.value.count }) else { return "the octets do not add up" }
        return parts.count <= Self.maximumParts && octets <= Self.maximumOctets ? nil : "too much is prepared"
    }

    mutating func takeAll() -> [Part] {
        defer {
            parts = []
            octets = 0
        }
        return parts
    }

    /// Discards parts that were not executed in time (AB-A01).
    mutating func expire() {
        hasExpired = !parts.isEmpty
        _ = takeAll()
    }

    /// Returns whether parts were discarded since the last call.
    mutating func takeExpiry() -> Bool {
        defer { hasExpired = false }
        return hasExpired
    }

    /// Invalidates the parts for attributes in `handles`, which have changed.
    mutating func invalidate(_ handles: ClosedRange<UInt16>) {
        for index in parts.indices where handles.contains(parts[index].write.handle) { parts[index].isValid = false }
    }
}
