import BluetoothTypes
import EventLoops
import HCI

/// What one advertising set puts on the air, and how.
package struct Advertisement: Hashable, Sendable {
    /// Whom it is for, and what they may do.
    package enum Kind: Hashable, Sendable {
        /// Everybody may connect; with legacy packets also ask for the scan response.
        case connectable
        /// One device may connect. A high duty cycle ends by itself after 1.28 s (Core Vol 6 Part B 4.4.2.4.3).
        case directed(BluetoothAddress, isHighDutyCycle: Bool)
        /// Everybody may ask for the scan response.
        case scannable
        /// Everybody may listen.
        case nonConnectable

        /// Whether a connection can come of it.
        var isConnectable: Bool {
            switch self {
            case .connectable, .directed: true
            case .scannable, .nonConnectable: false
            }
        }

        /// Whom it is for, if it is for one device.
        var target: BluetoothAddress? {
            if case .directed(let peer, _) = self { peer } else { nil }
        }
    }

    /// What is sent on the air.
    package enum Packets: Hashable, Sendable {
        /// The packets that every device hears, with up to 31 octets.
        case legacy
        /// The packets of version 5.0, with up to 1,650 octets.
        case extended(ExtendedPackets)
    }

    /// The options of extended packets.
    package struct ExtendedPackets: Hashable, Sendable {
        /// The PHY that announces: 1M or Coded.
        package var primaryPHY = LEPHY.le1M
        /// The PHY of the data.
        package var secondaryPHY = LEPHY.le1M
        /// Whether the address is left out, of what nobody can connect to or ask.
        package var isAnonymous = false
        /// Whether the packet tells the transmit power.
        package var includesTxPower = false

        /// Packets on 1M with an address.
        package init() {}

        /// The octets of data that fit into AUX_ADV_IND, which a connectable advertisement does not continue in further packets (Core Vol
        /// 6 Part B 2.3.4.2, 2.3.4.7): 255 less the length of the header, its flags, AdvA and ADI.
        func maximumConnectableLength(isDirected: Bool) -> Int {
            255 - 1 - 1 - 6 - 2 - (isDirected ? 6 : 0) - (includesTxPower ? 1 : 0)
        }
    }

    /// Which address is shown.
    package enum Address: Hashable, Sendable {
        /// That of the device.
        case device
        /// One that says nothing about the device, and changes every ``GAPTimer/privateAddressInterval``. For what nobody can
        /// connect to.
        case nonResolvablePrivate
    }

    /// Whom it is for.
    package var kind: Kind
    /// The data.
    package var data: AdvertisingData
    /// What those who ask are told besides.
    package var scanResponse: AdvertisingData
    /// What is sent.
    package var packets = Packets.legacy
    /// How often.
    package var tempo = AdvertisingTempo.specification
    /// Which address is shown.
    package var address = Address.device
    /// For how long; nil until told otherwise.
    package var limit: Duration?
    /// Whether advertising goes on when somebody has connected.
    package var outlastsConnections = false

    /// An advertisement with legacy packets and without a limit.
    package init(
        _ kind: Kind,
        data: AdvertisingData = AdvertisingData(),
        scanResponse: AdvertisingData = AdvertisingData()
    ) {
        self.kind = kind
        self.data = data
        self.scanResponse = scanResponse
    }
}

extension Advertisement {
    /// The longest advertisement with a high duty cycle (Core Vol 6 Part B 4.4.2.4.3).
    static let highDutyCycleLimit = Duration.milliseconds(1_280)

    /// Finds what a controller would refuse, or the specification does not allow (Core Vol 4 Part E 7.8.53).
    ///
    /// - Parameter maximumLength: What the controller can hold in a set, in octets.
    func check(for generation: CommandGeneration, maximumLength: Int) throws(GAPError) {
        if let limit, limit <= .zero { throw .impossible("the time to advertise is over before it begins") }
        if kind.isConnectable, address == .nonResolvablePrivate {
            throw .impossible("nobody could connect to the address again; use the device's own")
        }
        switch packets {
        case .legacy: try checkLegacy()
        case .extended(let options): try checkExtended(options, generation, maximumLength)
        }
    }

    private func checkLegacy() throws(GAPError) {
        let limit = AdvertisingData.maximumLegacyLength
        if case .directed = kind, !data.isEmpty || !scanResponse.isEmpty {
            throw .impossible("legacy directed packets have no room for data; leave the data out")
        }
        if kind == .nonConnectable, !scanResponse.isEmpty {
            throw .impossible("nobody can ask for a scan response; make it scannable, or leave the scan response out")
        }
        try checkData(limit, limit)
    }

    private func checkExtended(
        _ options: ExtendedPackets,
        _ generation: CommandGeneration,
        _ maximumLength: Int
    ) throws(GAPError) {
        guard generation == .extended else { throw .needsExtendedAdvertising }
        guard options.primaryPHY == .le1M || options.primaryPHY == .coded else {
            throw .impossible("extended advertising is announced on 1M or Coded")
        }
        if options.isAnonymous, kind != .nonConnectable {
            throw .impossible("an advertiser without an address can be neither asked nor connected to")
        }
        if case .directed(_, isHighDutyCycle: true) = kind {
            throw .impossible("a high duty cycle needs legacy packets")
        }
        if kind == .scannable, !data.isEmpty {
            throw .impossible("the data of a scannable extended advertisement belong into its scan response")
        }
        if kind != .scannable, !scanResponse.isEmpty {
            throw .impossible("extended advertisements are connectable or scannable, not both; use one set for each")
        }
        if kind.isConnectable, data.encodedLength > options.maximumConnectableLength(isDirected: kind.target != nil) {
            throw .impossible(
                """
                \(data.encodedLength) octets do not fit: a connectable extended advertisement is one packet, which holds up to \
                \(options.maximumConnectableLength(isDirected: kind.target != nil)) octets (Core Vol 6 Part B 2.3.4.7); shorten the \
                data, or make it non-connectable or scannable
                """
            )
        }
        try checkData(maximumLength, maximumLength)
    }

    private func checkData(_ limit: Int, _ responseLimit: Int) throws(GAPError) {
        do throws(AdvertisingDataFault) {
            try data.check(for: .advertisement, limit: limit)
            try scanResponse.check(for: .scanResponse, limit: responseLimit)
        } catch {
            throw .advertisingData(error)
        }
    }
}
