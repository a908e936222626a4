import ServiceMessages

/// The parameters of the link to a peripheral (behaviour 15.4).
public struct LinkInformation: Hashable, Sendable {
    /// A physical layer, by its number in HCI.
    public enum PHY: Int, Hashable, Sendable {
        /// LE 1M: one million symbols per second.
        case le1M = 1
        /// LE 2M: two million symbols per second.
        case le2M = 2
        /// LE Coded, for long range.
        case coded = 3
    }

    /// The connection interval, from 7.5 ms to 4 s.
    public var interval: Duration
    /// The peripheral latency: the number of consecutive connection events that the peripheral may skip.
    public var latency: Int
    /// The supervision timeout: the time without a packet after which the link is lost.
    public var supervisionTimeout: Duration
    /// The PHY for sending. Nil if its number is not known.
    public var txPHY: PHY?
    /// The PHY for receiving. Nil if its number is not known.
    public var rxPHY: PHY?
    /// The ATT MTU, in octets.
    public var mtu: Int
    /// The longest link-layer payload that is sent, in octets.
    public var maximumTxOctets: Int
    /// The longest link-layer payload that is received, in octets.
    public var maximumRxOctets: Int
    /// The signal strength in dBm. Nil in a stream of changes.
    public var rssi: Int?
    /// Whether the link is encrypted.
    public var isEncrypted: Bool
    /// Whether the encryption key is authenticated (MITM-protected).
    public var isAuthenticated: Bool
    /// Whether the two devices are bonded.
    public var isBonded: Bool
    /// The size of the encryption key, in octets; 0 without encryption.
    public var keySize: Int
    /// The flaws of the peripheral's attribute table, as far as it was discovered on this link, as clauses for people.
    /// Discovery works around them (behaviour 4.22).
    public var tableFlaws: [String]

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
        tableFlaws = facts.tableFlaws
    }
}

/// The link parameters that an app desires.
public struct LinkWish: Hashable, Sendable {
    /// The range of the connection interval, from 7.5 ms to 4 s; nil for no preference.
    public var interval: ClosedRange<Duration>?
    /// The number of consecutive connection events that the peripheral may skip.
    public var latency: Int
    /// The time without a packet after which the link is lost.
    public var supervisionTimeout: Duration
    /// The PHY for both directions; nil for no preference.
    public var phy: LinkInformation.PHY?
    /// Whether requests of this manager may pair; nil for no change.
    ///
    /// At first they may: a request that the peer refuses for lack of security makes the devices pair (behaviour 6.1).
    /// Without pairing, such a request fails with the peer's error. An existing bond is used in any case.
    public var pairs: Bool?

    /// Creates link parameters.
    ///
    /// - Parameters:
    ///   - interval: The range of the connection interval, from 7.5 ms to 4 s; nil for no preference.
    ///   - latency: The number of consecutive connection events that the peripheral may skip.
    ///   - supervisionTimeout: The time without a packet after which the link is lost.
    ///   - phy: The PHY for both directions; nil for no preference.
    ///   - pairs: Whether requests of this manager may pair; nil for no change.
    public init(
        interval: ClosedRange<Duration>? = nil,
        latency: Int = 0,
        supervisionTimeout: Duration = .seconds(6),
        phy: LinkInformation.PHY? = nil,
        pairs: Bool? = nil
    ) {
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
        self.phy = phy
        self.pairs = pairs
    }
}

extension LinkPreference {
    init(_ request: LinkWish) {
        self.init()
        minimumInterval = request.interval.map { $0.lowerBound.wholeMicroseconds }
        maximumInterval = request.interval.map { $0.upperBound.wholeMicroseconds }
        latency = request.latency
        supervisionTimeout = request.supervisionTimeout.wholeMicroseconds / 1_000
        phy = request.phy?.rawValue
        pairs = request.pairs
    }
}

extension Duration {
    /// The duration in whole microseconds, clamped to an hour, which no parameter of a link exceeds.
    fileprivate var wholeMicroseconds: Int {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(3_600)).components
        return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
    }
}
