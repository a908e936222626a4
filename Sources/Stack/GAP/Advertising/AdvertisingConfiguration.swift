import BluetoothTypes
import EventLoops
import HCI

/// The content and the parameters of one advertising set.
package struct AdvertisingConfiguration: Hashable, Sendable {
    /// The advertising type: who may connect or send scan requests.
    package enum Kind: Hashable, Sendable {
        /// Connectable by any device; with legacy packets also scannable.
        case connectable
        case scannable
        case nonConnectable

        var isConnectable: Bool { self == .connectable }
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

        package init() {}

        /// The octets of data that fit into AUX_ADV_IND: 255 less the length of the header, its flags, AdvA and ADI. A
        /// connectable advertisement cannot continue in further packets (Core Vol 6 Part B 2.3.4.2, 2.3.4.7).
        static let maximumConnectableLength = 255 - 1 - 1 - 6 - 2
    }

    package var kind: Kind
    package var data: AdvertisingData
    package var scanResponse: AdvertisingData
    package var packets = Packets.legacy
    package var tempo = AdvertisingTempo.specification
    /// Whether advertising continues after a device has connected.
    package var outlastsConnections = false

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
    /// Throws an error if the specification or the controller does not allow the advertisement (Core Vol 4 Part E
    /// 7.8.53).
    ///
    /// - Parameter maximumLength: The number of octets that the controller can hold per set.
    func check(for generation: CommandGeneration, maximumLength: Int) throws(GAPError) {
        switch packets {
        case .legacy: try checkLegacy()
        case .extended(let options): try checkExtended(options, generation, maximumLength)
        }
    }

    private func checkLegacy() throws(GAPError) {
        let limit = AdvertisingData.maximumLegacyLength
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
        if kind == .scannable, !data.isEmpty {
            throw .impossible("the data of a scannable extended advertisement belongs in its scan response")
        }
        if kind != .scannable, !scanResponse.isEmpty {
            throw .impossible("an extended advertisement with a scan response must be scannable; use a separate set")
        }
        if kind.isConnectable, data.encodedLength > ExtendedPackets.maximumConnectableLength {
            throw .impossible(
                """
                \(data.encodedLength) octets do not fit: a connectable extended advertisement is one packet, which holds up to \
                \(ExtendedPackets.maximumConnectableLength) octets (Core Vol 6 Part B 2.3.4.7); shorten the \
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
