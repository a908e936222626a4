import HCI
import Radio

/// How long the PDUs of a connection may be (Core Vol 6 Part B 4.5.10).
struct DataLength: Hashable {
    /// What every device can: 27 octets, 328 microseconds.
    static let minimumOctets: UInt16 = 27
    /// The time of 27 octets with a MIC on 1M.
    static let minimumTime: UInt16 = 328
    /// The most that the specification knows.
    static let maximumOctets: UInt16 = 251
    /// The time of 251 octets with a MIC on 1M.
    static let maximumTimeUncoded: UInt16 = 2_120
    /// The same with S=8.
    static let maximumTimeCoded: UInt16 = 17_040
    /// The time of 27 octets with a MIC with S=8: no less may be in effect on the coded PHY.
    static let minimumTimeCoded: UInt16 = 2_704

    /// connMaxTxOctets.
    var localTxOctets = Self.minimumOctets
    /// connMaxTxTime.
    var localTxTime = Self.minimumTime
    /// connMaxRxOctets.
    var localRxOctets: UInt16
    /// connMaxRxTime.
    var localRxTime: UInt16
    /// connRemoteMaxTxOctets and so on: what the peer has told, or what every device can.
    private(set) var remoteTxOctets = Self.minimumOctets
    private(set) var remoteTxTime = Self.minimumTime
    private(set) var remoteRxOctets = Self.minimumOctets
    private(set) var remoteRxTime = Self.minimumTime

    init(rxOctets: UInt16, rxTime: UInt16) {
        localRxOctets = rxOctets
        localRxTime = rxTime
    }

    /// connEffectiveMaxTxOctets.
    var txOctets: UInt16 { min(localTxOctets, remoteRxOctets) }
    /// connEffectiveMaxRxOctets.
    var rxOctets: UInt16 { min(localRxOctets, remoteTxOctets) }

    /// connEffectiveMaxTxTime on the PHY in use.
    func txTime(_ phy: RadioPHY) -> UInt16 { atLeast(min(localTxTime, remoteRxTime), phy) }
    /// connEffectiveMaxRxTime on the PHY in use.
    func rxTime(_ phy: RadioPHY) -> UInt16 { atLeast(min(localRxTime, remoteTxTime), phy) }

    private func atLeast(_ time: UInt16, _ phy: RadioPHY) -> UInt16 {
        phy.modulation == .coded ? max(time, Self.minimumTimeCoded) : time
    }

    /// What a peer is told.
    var exchange: LengthExchange {
        var pdu = LengthExchange()
        pdu.maxRxOctets = localRxOctets
        pdu.maxRxTime = localRxTime
        pdu.maxTxOctets = localTxOctets
        pdu.maxTxTime = localTxTime
        return pdu
    }

    /// Takes what a peer told. Values that are too small to be true count as the least possible ones.
    mutating func take(_ pdu: LengthExchange) {
        remoteRxOctets = max(pdu.maxRxOctets, Self.minimumOctets)
        remoteRxTime = max(pdu.maxRxTime, Self.minimumTime)
        remoteTxOctets = max(pdu.maxTxOctets, Self.minimumOctets)
        remoteTxTime = max(pdu.maxTxTime, Self.minimumTime)
    }
}
