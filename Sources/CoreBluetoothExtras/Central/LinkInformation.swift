import BluetoothService

/// What the link to a peripheral is like (behaviour 15.4).
public struct LinkInformation: Hashable, Sendable {
    /// A physical layer.
    public enum PHY: Int, Hashable, Sendable {
        /// One million symbols in a second.
        case le1M = 1
        /// Two million symbols in a second.
        case le2M = 2
        /// For long range.
        case coded = 3
    }

    /// The time from one connection event to the next.
    public var interval: Duration
    /// Connection events in a row that the peripheral may leave out.
    public var latency: Int
    /// How long silence is borne before the link counts as lost.
    public var supervisionTimeout: Duration
    /// The PHY for sending; nil for one without a name.
    public var txPHY: PHY?
    /// The PHY for receiving; nil for one without a name.
    public var rxPHY: PHY?
    /// The MTU of the attribute protocol, in octets.
    public var mtu: Int
    /// The longest link-layer payload that is sent, in octets.
    public var maximumTxOctets: Int
    /// The longest link-layer payload that is received, in octets.
    public var maximumRxOctets: Int
    /// The signal strength in dBm, where it was read for this; nil in a sequence of changes.
    public var rssi: Int?
    /// Whether the link is encrypted.
    public var isEncrypted: Bool
    /// Whether it was made sure that nobody is in the middle.
    public var isAuthenticated: Bool
    /// Whether the two devices have paired for good.
    public var isBonded: Bool
    /// Octets of the key; 0 without encryption.
    public var keySize: Int

    init(_ facts: LinkFacts) {
        interval = .microseconds(facts.interval)
        latency = facts.latency
        supervisionTimeout = .milliseconds(facts.supervisionTimeout)
        txPHY = PHY(rawValue: facts.txPHY)
        rxPHY = PHY(rawValue: facts.rxPHY)
        mtu = facts.mtu
        maximumTxOctets = facts.maxTxOctets
        maximumRxOctets = facts.maxRxOctets
        rssi = facts.rssi
        isEncrypted = facts.isEncrypted
        isAuthenticated = facts.isAuthenticated
        isBonded = facts.isBonded
        keySize = facts.keySize
    }
}

/// What an app would like a link to be like.
public struct LinkWish: Hashable, Sendable {
    /// The connection interval, 7.5 ms to 4 s, from the shortest to the longest; nil for no wish.
    public var interval: ClosedRange<Duration>?
    /// Connection events in a row that the peripheral may leave out.
    public var latency: Int
    /// How long silence is to be borne.
    public var supervisionTimeout: Duration
    /// The PHY in both directions; nil for no wish.
    public var phy: LinkInformation.PHY?

    /// A wish.
    public init(
        interval: ClosedRange<Duration>? = nil,
        latency: Int = 0,
        supervisionTimeout: Duration = .seconds(6),
        phy: LinkInformation.PHY? = nil
    ) {
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
        self.phy = phy
    }
}

extension LinkPreference {
    init(_ wish: LinkWish) {
        self.init()
        minimumInterval = wish.interval.map { $0.lowerBound.wholeMicroseconds }
        maximumInterval = wish.interval.map { $0.upperBound.wholeMicroseconds }
        latency = wish.latency
        supervisionTimeout = wish.supervisionTimeout.wholeMicroseconds / 1_000
        phy = wish.phy?.rawValue
    }
}

extension Duration {
    /// Whole microseconds, up to an hour: no parameter of a link is longer.
    fileprivate var wholeMicroseconds: Int {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(3_600)).components
        return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
    }
}
