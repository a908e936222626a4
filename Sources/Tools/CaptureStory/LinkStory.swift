import BluetoothTypes

/// An end of a link: this device and its peer in a capture of HCI, and the central and the peripheral on the air.
enum StorySide: Int, Sendable, CaseIterable {
    /// The host of an HCI capture, or the central on the air.
    case near
    case far

    var other: StorySide { self == .near ? .far : .near }
}

/// The name of an end of a link.
enum LinkEnd: Sendable {
    case thisDevice, peer, central, peripheral

    /// - Parameter isCentral: Whether the near end is the central; nil if the capture does not tell.
    init(_ side: StorySide, isCentral: Bool?) {
        guard let isCentral else {
            self = side == .near ? .thisDevice : .peer
            return
        }
        self = isCentral == (side == .near) ? .central : .peripheral
    }
}

extension LinkEnd: CustomStringConvertible {
    var description: String {
        switch self {
        case .thisDevice: "this device"
        case .peer: "the peer"
        case .central: "the central"
        case .peripheral: "the peripheral"
        }
    }
}

/// A value for each end of a link.
struct PerSide<Value> {
    var near: Value
    var far: Value

    init(_ make: @autoclosure () -> Value) { (near, far) = (make(), make()) }

    subscript(_ side: StorySide) -> Value {
        get { side == .near ? near : far }
        set { if side == .near { near = newValue } else { far = newValue } }
    }

    /// Looks at a value in place, where the subscript would copy it.
    func withValue<Result>(_ side: StorySide, _ body: (Value) -> Result) -> Result {
        side == .near ? body(near) : body(far)
    }

    /// Changes a value in place, where the subscript would copy it.
    mutating func change<Result>(_ side: StorySide, _ body: (inout Value) -> Result) -> Result {
        side == .near ? body(&near) : body(&far)
    }
}

extension PerSide: Equatable where Value: Equatable {}
extension PerSide: Hashable where Value: Hashable {}
extension PerSide: Sendable where Value: Sendable {}

/// A link of a capture: its state, and what the end of the story says about it.
struct LinkStory: Sendable {
    /// A mark on the timeline.
    struct Mark: Hashable, Sendable {
        var time: Int64
        var kind: StoryEntry.Kind
        var text: String
    }

    /// A failure that a link can do without, and how many requests had succeeded before.
    struct Setback: Sendable {
        var cause: StoryEvidence
        var uses: Int
        /// The end whose request was refused.
        var client: StorySide
    }

    struct Setbacks: Sendable {
        var mtu: Setback?
        var parameters: Setback?
        /// The service that the peer does not have.
        var service: (title: String, setback: Setback)?
    }

    let number: Int
    var peer: BluetoothAddress?
    /// Whether the near end is the central; nil if the capture does not tell.
    var isCentral: Bool?
    var isAir = false
    var hasBeginning = true
    var begin: Int64
    var end: Int64?
    var reason: String?
    var interval: UInt16?
    var latency: UInt16 = 0
    var timeout: UInt16 = 0
    var mtu = 23
    var air = PerSide(AirTime())
    var traffic = PerSide(Traffic())
    var lastPacket: Int64
    var isEncrypted = false
    /// The length of the key in octets, if the controller tells it.
    var keySize: UInt8?
    var isDisconnecting = false
    /// The request to encrypt the link, until it succeeds or fails.
    var encrypting: StoryMoment?
    /// The failures of this link, and of earlier ones to the same peer, that nothing has made up for so far.
    var failures = StoryFailures(limit: StoryLimits.linkFailures)
    /// The failures that matter only if little works afterwards.
    var setbacks = Setbacks()
    /// The PSM of the last channel that each end has asked for.
    var channelPSM = PerSide<UInt16?>(nil)
    /// Whether a channel was opened.
    var usesChannels = false

    var attributes = AttributeStory()
    var pairing = PairingStory()
    var parts = PerSide(PDUParts())
    var marks: [Mark] = []
    var gaps = 0

    var reception: AirReception
    /// Whether the time of the current packet is when it was first sent.
    var isTimely = true
    var repeats = PerSide(0)
    /// The packets that were sent again, or have the contents of one before.
    var possibleRepeats = 0
    /// The packets of each end on the air, and the last one.
    var heard = PerSide((count: 0, last: StoryMoment(packet: 0, time: .min)))
    var emptyPDUs = 0
    var unreadable = 0
    /// The packets that may be encrypted.
    var doubtful = 0
    /// The number of gaps in what the sniffer heard.
    private(set) var missing = 0

    init(number: Int, at time: Int64) {
        self.number = number
        (begin, lastPacket) = (time, time)
        reception = AirReception(hasBeginning: false, at: time)
    }

    /// Whether it is known if the link is encrypted.
    var isProtectionKnown: Bool { !isAir || reception.protection != .unknown }

    /// Forgets what waits for a packet that may be among those that were missed.
    mutating func noteMissingFrames() {
        missing += 1
        parts = PerSide(PDUParts())
        attributes.forgetPending()
        pairing.forgetPending()
        // What made up for a failure may be among them.
        setbacks = Setbacks()
        _ = failures.remove { [number] in $0.connection == number && $0.weight <= .insecure }
    }

    func name(_ side: StorySide) -> String { LinkEnd(side, isCentral: isCentral).description }

    mutating func mark(_ kind: StoryEntry.Kind, _ text: String, at time: Int64) {
        guard marks.count < StoryLimits.marks else { return }
        marks.append(Mark(time: time, kind: kind, text: text))
    }

    /// Returns the most payload a second that the link allows in the direction from an end.
    func limit(from side: StorySide) -> Double? {
        guard let interval else { return nil }
        var air = air[side]
        air.isEncrypted = isEncrypted
        return air.limit(interval: Int64(interval) * 1_250, acknowledgement: self.air[side.other].phy)
    }
}

/// The parts of an L2CAP PDU in one direction.
struct PDUParts: Sendable {
    private var octets: [UInt8] = []
    private var needed = 0

    /// Adds a fragment.
    ///
    /// - Returns: The PDU that ends with it.
    mutating func add(_ payload: PacketBuffer, isStart: Bool) -> PacketBuffer? {
        if isStart {
            needed = 0
            let length = payload.word(at: 0)
            // Most PDUs arrive in one piece, which is not copied.
            if let length, payload.count >= Int(length) + 4 { return payload.prefix(upTo: Int(length) + 4) }
            octets.removeAll(keepingCapacity: true)
            guard let length else {
                octets.append(contentsOf: payload)
                needed = payload.isEmpty ? 0 : 4
                return nil
            }
            needed = Int(length) + 4
        }
        guard needed > 0, octets.count + payload.count <= StoryLimits.longestPDU else {
            needed = 0
            return nil
        }
        octets.append(contentsOf: payload)
        if octets.count >= 4 { needed = 4 + Int(octets[0]) + Int(octets[1]) << 8 }
        guard octets.count >= needed, octets.count >= 4 else { return nil }
        defer { needed = 0 }
        return PacketBuffer(Array(octets.prefix(needed)))
    }
}
