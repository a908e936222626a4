import BluetoothTypes
import EventLoops
import HCI

/// What is advertised: the parameters and data of one set. Legacy commands speak of a set without a handle.
struct AdvertisingSet {
    /// Data that the host gives in pieces.
    struct HostData {
        /// What there is so far.
        var bytes: PacketBuffer = []
        /// Whether pieces are missing.
        var isPartial = false
    }

    /// The handle that the host has chosen; none for the set of the legacy commands.
    let handle: UInt8?
    /// The parameters as the host gave them.
    var parameters: LESetExtendedAdvertisingParameters
    /// The advertising data.
    var data = HostData()
    /// The scan response data.
    var scanResponse = HostData()
    /// DID, 12 bits: another one for other data.
    var dataIdentifier: UInt16 = 0
    /// The random address that the host has set for this set alone.
    var randomAddress: BluetoothAddress?
    /// The address on the air, fixed when advertising begins, or the private one of the time.
    var ownAddress = BluetoothAddress.none
    /// Whether the address on the air is a private one that the controller has made.
    var isPrivate = false
    /// The private address of ``target`` that is on the air in its place.
    var privateTarget: BluetoothAddress?
    /// Which changes of data make another private address necessary.
    var addressChanges: LEAddressChangeReasons = []
    /// Where the periodic advertising of the set is, if it has any.
    var syncInfo: SyncInfo?
    /// How the events of that are divided, if others may respond.
    var responses: ResponseTiming?
    /// The transmit power in dBm.
    var txPower: Int8 = 0
    /// Whether the controller knows channel selection algorithm #2.
    var knowsAlgorithm2 = true

    /// The set of the legacy commands as a reset leaves it (Core Vol 4 Part E 7.8.5).
    init() {
        handle = nil
        parameters = LESetExtendedAdvertisingParameters(
            LESetAdvertisingParameters(
                intervalMin: 0x0800,
                intervalMax: 0x0800,
                kind: .connectableScannable,
                ownAddressKind: .publicDevice,
                peerAddress: .none,
                channels: .all,
                filterPolicy: .everybody
            )
        )
    }

    /// A set of the extended commands.
    init(_ parameters: LESetExtendedAdvertisingParameters) {
        handle = parameters.set
        self.parameters = parameters
    }

    private static let highDutyCycle: LEAdvertisingProperties = [.connectable, .directed, .highDutyCycle]

    private var properties: LEAdvertisingProperties { parameters.properties }
    /// Whether legacy PDUs are used.
    var isLegacy: Bool { properties.contains(.legacy) }
    /// Whether somebody may connect.
    var isConnectable: Bool { properties.contains(.connectable) }
    /// Whether somebody may ask for more.
    var isScannable: Bool { properties.contains(.scannable) }
    /// Whether it is for one device only.
    var isDirected: Bool { properties.contains(.directed) }
    /// Whether it is connectable, directed, and sent as often as can be.
    var isHighDutyCycle: Bool { properties.isSuperset(of: Self.highDutyCycle) }
    /// Whether the advertiser does not tell who it is.
    var isAnonymous: Bool { properties.contains(.anonymous) }

    /// The channels, in the order of use.
    var channels: [UInt8] {
        let all: [(LEAdvertisingChannels, UInt8)] = [(.channel37, 37), (.channel38, 38), (.channel39, 39)]
        return all.filter { parameters.channels.contains($0.0) }.map(\.1)
    }

    /// From the beginning of one event to that of the next, without the random delay: the shortest that the host wants,
    /// or what the PDUs of one event need.
    var interval: Duration {
        // High duty cycle: 3.75 ms at most between two PDUs on one channel (Core Vol 6 Part B 4.4.2.4.3).
        if isHighDutyCycle { return .microseconds(3_750) }
        let shortest = Int64(parameters.intervalMin) * 625
        return .microseconds(isLegacy ? shortest : max(shortest, eventTime))
    }

    /// The legacy PDU that goes on the air in each event.
    var pdu: AdvertisingPDU {
        if isDirected {
            return .directed(.init(advertiser: ownAddress, target: airTarget, knowsAlgorithm2: knowsAlgorithm2))
        }
        var body = Advertisement(advertiser: ownAddress, data: data.bytes)
        switch (isConnectable, isScannable) {
        case (true, _):
            body.knowsAlgorithm2 = knowsAlgorithm2
            return .connectableScannable(body)
        case (false, true): return .scannable(body)
        case (false, false): return .nonConnectable(body)
        }
    }

    /// The one device that a directed advertisement is for, and whose keys others are made with.
    var target: BluetoothAddress { parameters.peerAddress.device }

    /// The same as it is on the air: by a private address when there is a key for it (Core Vol 6 Part B 6.2.2).
    var airTarget: BluetoothAddress { privateTarget ?? target }

    /// ADI.
    var info: AdvertisingDataInfo { AdvertisingDataInfo(set: parameters.sid, data: dataIdentifier) }
}

extension LESetExtendedAdvertisingParameters {
    /// The same as a legacy command says it.
    init(_ legacy: LESetAdvertisingParameters) {
        self.init(
            set: 0,
            properties: LEAdvertisingProperties(legacy.kind),
            intervalMin: UInt32(legacy.intervalMin),
            intervalMax: UInt32(legacy.intervalMax),
            channels: legacy.channels,
            ownAddressKind: legacy.ownAddressKind,
            peerAddress: legacy.peerAddress,
            filterPolicy: legacy.filterPolicy,
            txPower: 0x7F,
            primaryPHY: .le1M,
            secondaryMaxSkip: 0,
            secondaryPHY: .le1M,
            sid: 0,
            notifiesScanRequests: false
        )
    }
}

extension LEAdvertisingProperties {
    /// The properties of a legacy kind (Core Vol 4 Part E 7.8.53, table 7.2).
    init(_ kind: LEAdvertisingKind) {
        switch kind {
        case .directedHighDutyCycle: self = [.legacy, .connectable, .directed, .highDutyCycle]
        case .directedLowDutyCycle: self = [.legacy, .connectable, .directed]
        case .scannable: self = [.legacy, .scannable]
        case .nonConnectable: self = [.legacy]
        default: self = [.legacy, .connectable, .scannable]
        }
    }
}
