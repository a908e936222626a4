import HCI

/// The data lengths of a connection (Core Vol 6 Part B 4.5.10).
struct DataLength: Hashable {
    /// The payload length that every device supports: 27 octets, which last 328 microseconds on 1M.
    static let minimumOctets: UInt16 = 27
    /// The duration of 27 octets with a MIC on 1M, in microseconds.
    static let minimumTime: UInt16 = 328
    /// The maximum payload length, in octets.
    static let maximumOctets: UInt16 = 251
    /// The duration of 251 octets with a MIC on 1M, in microseconds.
    static let maximumTimeUncoded: UInt16 = 2_120
    /// The duration of 251 octets with a MIC with S=8, in microseconds.
    static let maximumTimeCoded: UInt16 = 17_040
    /// The duration of 27 octets with a MIC with S=8, in microseconds: the minimum in effect on the Coded PHY.
    static let minimumTimeCoded: UInt16 = 2_704

    /// connMaxTxOctets, from 27 to 251.
    private(set) var localTxOctets = Self.minimumOctets
    /// connMaxTxTime, in microseconds, from 328 to 17,040.
    private(set) var localTxTime = Self.minimumTime
    /// connMaxRxOctets, from 27 to 251.
    let localRxOctets: UInt16
    /// connMaxRxTime, in microseconds, from 328 to 17,040.
    let localRxTime: UInt16
    /// connRemoteMaxTxOctets and so on: as reported by the peer, or the minimum before.
    private(set) var remoteTxOctets = Self.minimumOctets
    private(set) var remoteTxTime = Self.minimumTime
    private(set) var remoteRxOctets = Self.minimumOctets
    private(set) var remoteRxTime = Self.minimumTime
    /// The values last sent to the peer.
    private var announced: LengthExchange?

    init(rxOctets: UInt16, rxTime: UInt16) {
        localRxOctets = rxOctets
        localRxTime = rxTime
    }

    /// connEffectiveMaxTxOctets: the most that both ends allow.
    var txOctets: UInt16 { min(localTxOctets, remoteRxOctets) }
    /// connEffectiveMaxRxOctets: the most that both ends allow.
    var rxOctets: UInt16 { min(localRxOctets, remoteTxOctets) }

    /// connEffectiveMaxTxTime on the current PHY.
    func txTime(_ phy: RadioPHY) -> UInt16 { atLeast(min(localTxTime, remoteRxTime), phy) }
    /// connEffectiveMaxRxTime on the current PHY.
    func rxTime(_ phy: RadioPHY) -> UInt16 { atLeast(min(localRxTime, remoteTxTime), phy) }

    private func atLeast(_ time: UInt16, _ phy: RadioPHY) -> UInt16 {
        phy.modulation == .coded ? max(time, Self.minimumTimeCoded) : time
    }

    /// Allows the transmission of payloads up to this length, as the host has requested.
    mutating func allowTransmission(octets: UInt16, time: UInt16) {
        (localTxOctets, localTxTime) = (octets, time)
    }

    /// Whether the peer has the current values of this device.
    var isAnnounced: Bool { announced == exchange }

    /// Returns the values of this device, which are sent to the peer.
    mutating func announce() -> LengthExchange {
        announced = exchange
        return exchange
    }

    private var exchange: LengthExchange {
        var pdu = LengthExchange()
        pdu.maxRxOctets = localRxOctets
        pdu.maxRxTime = localRxTime
        pdu.maxTxOctets = localTxOctets
        pdu.maxTxTime = localTxTime
        return pdu
    }

    /// Adopts the values received from the peer, raising those that are too small to the minimum.
    mutating func adopt(_ pdu: LengthExchange) {
        remoteRxOctets = max(pdu.maxRxOctets, Self.minimumOctets)
        remoteRxTime = max(pdu.maxRxTime, Self.minimumTime)
        remoteTxOctets = max(pdu.maxTxOctets, Self.minimumOctets)
        remoteTxTime = max(pdu.maxTxTime, Self.minimumTime)
    }
}

extension RadioPHY {
    /// Returns the longest payload whose PDU lasts at most `microseconds`; 0 if there is none.
    func longestPayload(within microseconds: Int64) -> Int {
        let empty = airTimeMicroseconds(octets: DataHeader.size)
        let octet = airTimeMicroseconds(octets: DataHeader.size + 1) - empty
        return Int(max(0, (microseconds - empty) / octet))
    }
}
