import BluetoothTypes
import EventLoops
import HCI

/// The content and the parameters of one advertising set.
package struct AdvertisingConfiguration: Hashable, Sendable {
    /// The advertising type: who may connect or send scan requests.
    package enum Kind: Hashable, Sendable {
        /// Connectable by any device; with legacy packets also scannable.
        case connectable
        /// Connectable by one device. With a high duty cycle advertising ends by itself after 1.28 s (Core Vol 6 Part B
        /// 4.4.2.4.3).
        case directed(BluetoothAddress, isHighDutyCycle: Bool)
        /// Scannable by any device.
        case scannable
        /// Neither connectable nor scannable.
        case nonConnectable

        var isConnectable: Bool {
            switch self {
            case .connectable, .directed: true
            case .scannable, .nonConnectable: false
            }
        }

        /// The device to which the advertisement is directed; nil if it is undirected.
        var target: BluetoothAddress? {
            if case .directed(let peer, _) = self { peer } else { nil }
        }
    }

    /// The packet format, which limits the length of the data.
    package enum Packets: Hashable, Sendable {
        /// Legacy packets, which every device receives, with up to 31 octets of data.
        case legacy
        /// Extended packets of version 5.0, with up to 1,650 octets of data.
        case extended(ExtendedPackets)
    }

    /// The options of extended advertising.
    package struct ExtendedPackets: Hashable, Sendable {
        /// The PHY of the primary advertising channels: 1M or Coded.
        package var primaryPHY = LEPHY.le1M
        /// The PHY of the secondary channels, which carry the data.
        package var secondaryPHY = LEPHY.le1M
        /// Whether the address is omitted. Only for advertisements that are neither connectable nor scannable.
        package var isAnonymous = false
        /// Whether the packets contain the transmit power.
        package var includesTxPower = false

        /// Creates the default options: 1M, with an address and without the transmit power.
        package init() {}

        /// The octets of data that fit into AUX_ADV_IND: 255 less the length of the header, its flags, AdvA and ADI. A
        /// connectable advertisement cannot continue in further packets (Core Vol 6 Part B 2.3.4.2, 2.3.4.7).
        func maximumConnectableLength(isDirected: Bool) -> Int {
            255 - 1 - 1 - 6 - 2 - (isDirected ? 6 : 0) - (includesTxPower ? 1 : 0)
        }
    }

    /// The kind of address that the packets carry.
    package enum Address: Hashable, Sendable {
        /// The address of the device.
        case device
        /// A non-resolvable private address, which does not identify the device and changes every
        /// ``GAPTimer/privateAddressInterval``. Not for connectable advertisements.
        case nonResolvablePrivate
    }

    package var kind: Kind
    /// The advertising data. Legacy directed packets carry none.
    package var data: AdvertisingData
    /// The scan response data.
    package var scanResponse: AdvertisingData
    /// The packet format, legacy by default.
    package var packets = Packets.legacy
    /// The advertising intervals; by default those that the specification recommends.
    package var tempo = AdvertisingTempo.specification
    /// The kind of address that the packets carry, by default the address of the device.
    package var address = Address.device
    /// The duration; nil to advertise until stopped.
    package var limit: Duration?
    /// Whether advertising continues after a device has connected.
    package var outlastsConnections = false

    /// Creates an advertisement with legacy packets and without a limit.
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

extension AdvertisingConfiguration {
    /// The maximum duration of advertising with a high duty cycle (Core Vol 6 Part B 4.4.2.4.3).
    static let highDutyCycleLimit = Duration.milliseconds(1_280)

    /// Throws an error if the specification or the controller does not allow the advertisement (Core Vol 4 Part E
    /// 7.8.53).
    ///
    /// - Parameter maximumLength: The number of octets that the controller can hold per set.
    func check(for generation: CommandGeneration, maximumLength: Int) throws(GAPError) {
        if let limit, limit <= .zero { throw .impossible("the time limit must be positive") }
        if kind.isConnectable, address == .nonResolvablePrivate {
            throw .impossible("connectable advertising cannot use a non-resolvable private address; use the device's")
        }
        switch packets {
        case .legacy: try checkLegacy()
        case .extended(let options): try checkExtended(options, generation, maximumLength)
        }
    }

    private func checkLegacy() throws(GAPError) {
        let limit = AdvertisingData.maximumLegacyLength
        if case .directed = kind, !data.isEmpty || !scanResponse.isEmpty {
            throw .impossible("legacy directed packets carry no data; omit the data and the scan response")
        }
        if kind == .nonConnectable, !scanResponse.isEmpty {
            throw .impossible("a non-connectable advertisement has no scan response; omit it, or make it scannable")
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
            throw .impossible("the primary PHY of extended advertising must be 1M or Coded")
        }
        if options.isAnonymous, kind != .nonConnectable {
            throw .impossible("an anonymous advertisement can be neither scannable nor connectable")
        }
        if case .directed(_, isHighDutyCycle: true) = kind {
            throw .impossible("a high duty cycle requires legacy packets")
        }
        if kind == .scannable, !data.isEmpty {
            throw .impossible("the data of a scannable extended advertisement belongs in its scan response")
        }
        if kind != .scannable, !scanResponse.isEmpty {
            throw .impossible("an extended advertisement with a scan response must be scannable; use a separate set")
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
