import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Security

/// The commands that start and stop an advertisement, in order.
struct AdvertisingCommands {
    /// The maximum number of octets per data command (Core Vol 4 Part E 7.8.54).
    static let maximumFragment = 251
    /// The minimum interval of non-connectable advertising for controllers before version 5.0, in units of 625 µs: 100
    /// ms (Core 4.2 Vol 2 Part E 7.8.5).
    static let oldNonConnectableInterval: UInt16 = 160

    let generation: CommandGeneration
    let version: SpecificationVersion
    /// The number of the set. Legacy commands support only one.
    let set: UInt8
    let advertisement: AdvertisingConfiguration
    let phase: AdvertisingTempo.Phase
    let address: OwnAddress

    var start: [any HCICommand] {
        generation == .extended ? extendedStart : legacyStart
    }

    static func stop(_ generation: CommandGeneration, set: UInt8) -> [any HCICommand] {
        switch generation {
        case .legacy: return [LESetAdvertisingEnable(isEnabled: false)]
        case .extended:
            let part = AdvertisingSetEnable(set: set, duration: 0, maxEvents: 0)
            return [LESetExtendedAdvertisingEnable(isEnabled: false, sets: [part])]
        }
    }

    private var interval: ClosedRange<UInt16> {
        let wanted = advertisement.tempo.interval(phase)
        guard version.rawValue < SpecificationVersion.v5_0.rawValue, !advertisement.kind.isConnectable else {
            return wanted
        }
        let least = Self.oldNonConnectableInterval
        return max(wanted.lowerBound, least)...max(wanted.upperBound, least)
    }

    // MARK: Legacy commands

    private var legacyStart: [any HCICommand] {
        let parameters = LESetAdvertisingParameters {
            $0.intervalMin = interval.lowerBound
            $0.intervalMax = interval.upperBound
            $0.kind = legacyKind
            $0.ownAddressKind = address.kind
            $0.channels = .all
            $0.filterPolicy = .unfiltered
        }
        return [
            parameters, LESetAdvertisingData(data: advertisement.data.encoded),
            LESetScanResponseData(data: advertisement.scanResponse.encoded), LESetAdvertisingEnable(isEnabled: true),
        ]
    }

    private var legacyKind: LEAdvertisingKind {
        switch advertisement.kind {
        case .connectable: .connectableScannable
        case .scannable: .scannable
        case .nonConnectable: .nonConnectable
        }
    }

    // MARK: Extended commands

    private var extendedStart: [any HCICommand] {
        var commands: [any HCICommand] = [parameters]
        // Required even for an anonymous set: otherwise the controller does not start (Core Vol 4 Part E 7.8.56).
        if address.address.kind.isRandom {
            commands.append(LESetAdvertisingSetRandomAddress(set: set, address: address.address))
            // Some controllers apply an address only with the next parameters, and would otherwise advertise with a
            // different address than the one used for pairing (quirk 15).
            commands.append(parameters)
        }
        commands += data
        commands.append(
            LESetExtendedAdvertisingEnable(
                isEnabled: true,
                sets: [AdvertisingSetEnable(set: set, duration: 0, maxEvents: 0)]
            )
        )
        return commands
    }

    private var options: AdvertisingConfiguration.ExtendedPackets? {
        if case .extended(let options) = advertisement.packets { options } else { nil }
    }

    private var parameters: LESetExtendedAdvertisingParameters {
        LESetExtendedAdvertisingParameters {
            $0.set = set
            $0.properties = properties
            $0.intervalMin = UInt32(interval.lowerBound)
            $0.intervalMax = UInt32(interval.upperBound)
            $0.channels = .all
            $0.ownAddressKind = address.kind
            $0.filterPolicy = .unfiltered
            $0.txPower = 127
            $0.primaryPHY = options?.primaryPHY ?? .le1M
            $0.secondaryPHY = options?.secondaryPHY ?? .le1M
            $0.sid = set & 0x0F
        }
    }

    private var properties: LEAdvertisingProperties {
        var properties: LEAdvertisingProperties =
            switch advertisement.kind {
            case .connectable: options == nil ? [.connectable, .scannable] : .connectable
            case .scannable: .scannable
            case .nonConnectable: []
            }
        guard let options else { return properties.union(.legacy) }
        if options.isAnonymous { properties.insert(.anonymous) }
        return properties
    }

    /// The data commands. Extended packets carry either data or a scan response.
    private var data: [any HCICommand] {
        let octets = advertisement.data.encoded
        let response = advertisement.scanResponse.encoded
        let isLegacy = options == nil
        var commands: [any HCICommand] = []
        if advertisement.kind != .scannable || isLegacy {
            commands += Self.fragments(octets).map {
                LESetExtendedAdvertisingData(set: set, operation: $0, fragmentPreference: 0, data: $1)
            }
        }
        if advertisement.kind == .scannable || isLegacy && advertisement.kind == .connectable {
            commands += Self.fragments(response).map {
                LESetExtendedScanResponseData(set: set, operation: $0, fragmentPreference: 0, data: $1)
            }
        }
        return commands
    }

    /// Splits data into fragments that fit into one command each, with the operation for each.
    static func fragments(_ data: PacketBuffer) -> [(LEDataOperation, PacketBuffer)] {
        guard data.count > maximumFragment else { return [(.complete, data)] }
        var parts: [(LEDataOperation, PacketBuffer)] = []
        var rest = data
        while !rest.isEmpty {
            let part = rest.prefix(upTo: maximumFragment)
            rest = rest.suffix(after: maximumFragment)
            parts.append((parts.isEmpty ? .first : rest.isEmpty ? .last : .intermediate, part))
        }
        return parts
    }
}
