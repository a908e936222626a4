import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Privacy

/// The commands that put an advertisement on the air and take it off again, in the order of sending.
struct AdvertisingCommands {
    /// Octets that one command carries (Core Vol 4 Part E 7.8.54).
    static let maximumFragment = 251
    /// The shortest interval of what nobody can connect to, for controllers before version 5.0, in units of 625 µs: 100 ms
    /// (Core 4.2 Vol 2 Part E 7.8.5).
    static let oldNonConnectableInterval: UInt16 = 160

    let generation: CommandGeneration
    let version: SpecificationVersion
    /// Which of the sets it is; the legacy commands know one only.
    let set: UInt8
    let advertisement: Advertisement
    let phase: AdvertisingTempo.Phase
    /// The address that is shown.
    let address: OwnAddress
    /// Whom it is for, if it is for one device.
    let target: BluetoothAddress
    /// Whether the address is one of the set's own.
    let setsAddress: Bool

    /// Begins; the set is not on the air.
    var start: [any HCICommand] {
        generation == .extended ? extendedStart : legacyStart
    }

    /// Ends the advertising of a set.
    static func stop(_ generation: CommandGeneration, set: UInt8) -> [any HCICommand] {
        switch generation {
        case .legacy: return [LESetAdvertisingEnable(isEnabled: false)]
        case .extended:
            let part = AdvertisingSetEnable(set: set, duration: 0, maxEvents: 0)
            return [LESetExtendedAdvertisingEnable(isEnabled: false, sets: [part])]
        }
    }

    private var isHighDutyCycle: Bool {
        if case .directed(_, let isHighDutyCycle) = advertisement.kind { isHighDutyCycle } else { false }
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
        let parameters = LESetAdvertisingParameters(
            intervalMin: interval.lowerBound,
            intervalMax: interval.upperBound,
            kind: legacyKind,
            ownAddressKind: address.kind,
            peerAddress: target,
            channels: .all,
            filterPolicy: .everybody
        )
        var commands: [any HCICommand] = []
        // The controller has one random address for everything.
        if setsAddress { commands.append(LESetRandomAddress(address: address.address)) }
        commands.append(parameters)
        if target == .none {
            commands.append(LESetAdvertisingData(data: advertisement.data.encoded))
            commands.append(LESetScanResponseData(data: advertisement.scanResponse.encoded))
        }
        commands.append(LESetAdvertisingEnable(isEnabled: true))
        return commands
    }

    private var legacyKind: LEAdvertisingKind {
        switch advertisement.kind {
        case .connectable: .connectableScannable
        case .directed(_, let isHighDutyCycle): isHighDutyCycle ? .directedHighDutyCycle : .directedLowDutyCycle
        case .scannable: .scannable
        case .nonConnectable: .nonConnectable
        }
    }

    // MARK: Extended commands

    private var extendedStart: [any HCICommand] {
        var commands: [any HCICommand] = [parameters]
        // Even of a set that does not show it: without one the controller does not begin (Core Vol 4 Part E 7.8.56).
        if address.address.kind.isRandom {
            commands.append(LESetAdvertisingSetRandomAddress(set: set, address: address.address))
            // With some controllers an address counts from the next parameters on only, and another one would be on the
            // air than pairing is computed with (quirk 15).
            commands.append(parameters)
        }
        commands += data
        let duration = isHighDutyCycle ? Advertisement.highDutyCycleLimit : .zero
        commands.append(
            LESetExtendedAdvertisingEnable(
                isEnabled: true,
                sets: [AdvertisingSetEnable(set: set, duration: duration.tensOfMilliseconds, maxEvents: 0)]
            )
        )
        return commands
    }

    private var options: Advertisement.ExtendedPackets? {
        if case .extended(let options) = advertisement.packets { options } else { nil }
    }

    private var parameters: LESetExtendedAdvertisingParameters {
        LESetExtendedAdvertisingParameters(
            set: set,
            properties: properties,
            intervalMin: UInt32(interval.lowerBound),
            intervalMax: UInt32(interval.upperBound),
            channels: .all,
            ownAddressKind: address.kind,
            peerAddress: target,
            filterPolicy: .everybody,
            txPower: 127,
            primaryPHY: options?.primaryPHY ?? .le1M,
            secondaryMaxSkip: 0,
            secondaryPHY: options?.secondaryPHY ?? .le1M,
            sid: set & 0x0F,
            notifiesScanRequests: false
        )
    }

    private var properties: LEAdvertisingProperties {
        var properties: LEAdvertisingProperties =
            switch advertisement.kind {
            case .connectable: options == nil ? [.connectable, .scannable] : .connectable
            case .directed: [.connectable, .directed]
            case .scannable: .scannable
            case .nonConnectable: []
            }
        if isHighDutyCycle { properties.insert(.highDutyCycle) }
        guard let options else { return properties.union(.legacy) }
        if options.isAnonymous { properties.insert(.anonymous) }
        if options.includesTxPower { properties.insert(.includeTxPower) }
        return properties
    }

    /// Legacy packets that are directed have no data; extended ones have either data or a scan response.
    private var data: [any HCICommand] {
        let octets = advertisement.data.encoded
        let response = advertisement.scanResponse.encoded
        let isLegacy = options == nil
        if isLegacy, target != .none { return [] }
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

    /// Data cut into what one command carries each, with what the command has to say about it.
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

extension Duration {
    /// In the unit in which controllers are told how long to advertise or scan, rounded up; the most that they take at most.
    var tensOfMilliseconds: UInt16 {
        UInt16(clamping: (nanoseconds + 9_999_999) / 10_000_000)
    }
}
