import BluetoothTypes
import HCI

/// What the two devices of a link have agreed about Channel Sounding.
struct SoundingState {
    /// The maximum number of configurations of a link.
    static let maximumConfigurations: UInt8 = 4
    /// The channels that may be used: all but those next to the advertising channels and at the edges (Core Vol 6 Part
    /// A 2).
    static let usableChannels: [UInt8] = (2...76).filter { !(23...25).contains($0) }
    /// The minimum number of channels of a map.
    static let minimumChannels = 15

    /// A configuration as this device sees it.
    struct Configuration: Hashable {
        /// With this device's role.
        var settings: LESoundingConfiguration
        /// What the host wants of its procedures; nil until it has said so.
        var parameters: LECSSetProcedureParameters?
    }

    /// This device's capabilities; nil if it does not support Channel Sounding.
    let own: LESoundingCapabilities?
    /// The peer's capabilities, once known.
    var remote: LESoundingCapabilities?
    /// The roles that the host has enabled.
    var roles: LESoundingRoles = []
    var configurations: [UInt8: Configuration] = [:]
    /// The generator of random bits, once security has been started.
    var random: SoundingRandom?
    /// The configuration whose procedures are running.
    var active: UInt8?
    /// The request whose decision is due, or has come last.
    var proposed: SoundingRequest?
    /// The number of procedures of the schedule that have begun.
    var procedures: UInt16 = 0
    /// The halves that this central has sent.
    var offered = SoundingSecurityExchange()

    init(own: LESoundingCapabilities?) {
        self.own = own
    }

    /// Returns the channels of a map, in ascending order.
    static func channels(of map: PacketBuffer) -> [UInt8] {
        (0..<80).filter { Int($0 / 8) < map.count && map[Int($0 / 8)] >> ($0 % 8) & 1 == 1 }
    }

    /// Returns the status for a configuration with these settings.
    func check(_ settings: LESoundingConfiguration) -> HCIStatus {
        let channels = Self.channels(of: settings.channelMap)
        let hasSubMode = settings.subMode != LESoundingConfiguration.noSubMode
        guard (1...3).contains(settings.mainMode), !hasSubMode || (1...3).contains(settings.subMode),
            (1...3).contains(settings.mode0Steps), settings.mainModeRepetition <= 3, settings.role.rawValue <= 1,
            settings.rttKind <= 6, (1...3).contains(settings.syncPHY), settings.mapRepetition >= 1,
            settings.channelSelection <= 1, channels.count >= Self.minimumChannels,
            channels.allSatisfy(Self.usableChannels.contains)
        else { return .invalidParameters }
        if hasSubMode {
            guard settings.subMode != settings.mainMode, settings.minMainModeSteps >= 2,
                settings.minMainModeSteps <= settings.maxMainModeSteps
            else { return .invalidParameters }
        }
        // Only the mandatory kinds are implemented: RTT by the access address on LE 1M, and algorithm #3b.
        let isSupported = settings.rttKind == 0 && settings.syncPHY == 1 && settings.channelSelection == 0
        return isSupported ? .success : .unsupportedFeatureOrParameter
    }

    /// Whether the host has enabled this role.
    func allows(_ role: LESoundingRole) -> Bool {
        roles.contains(role == .initiator ? .initiator : .reflector)
    }

    /// Whether both devices have the antennas of a selection, of which this one is in a role.
    func supports(_ antennas: UInt8, as role: LESoundingRole) -> Bool {
        guard let own, let remote, let antennas = LESoundingAntennas(rawValue: antennas) else { return antennas == 0 }
        return role == .initiator ? antennas.suits(own, remote) : antennas.suits(remote, own)
    }

    /// Returns the status of starting procedures with a configuration.
    func readiness(of config: UInt8) -> HCIStatus {
        guard let configuration = configurations[config] else { return .invalidParameters }
        guard random != nil else { return .insufficientSecurity }
        let isReady = active == nil && configuration.parameters != nil && allows(configuration.settings.role)
        return isReady ? .success : .commandDisallowed
    }
}

/// Procedures that both devices have agreed to carry out.
struct SoundingSchedule: Hashable {
    var indication: SoundingIndication
    var settings: LESoundingConfiguration
    /// The time between procedures, in connection intervals.
    var procedureInterval: UInt16
    /// The number of procedures; 0 for no limit.
    var procedureCount: UInt16
    /// The maximum duration of a procedure, in units of 0.625 ms.
    var maxProcedureLength: UInt16
    var random: SoundingRandom

    var antennas: LESoundingAntennas { .init(rawValue: indication.power.antennaConfiguration) ?? .single }
}

extension LESoundingCapabilities {
    /// The capabilities of a simulated controller that supports Channel Sounding: the mandatory features and mode 3, and
    /// as many paths as there may be.
    static func simulated(antennas: UInt8 = 1) -> LESoundingCapabilities {
        var capabilities = LESoundingCapabilities()
        capabilities.configurations = SoundingState.maximumConfigurations
        (capabilities.antennas, capabilities.antennaPaths) = (min(max(antennas, 1), 4), 4)
        (capabilities.roles, capabilities.modes) = ([.initiator, .reflector], 1)
        capabilities.rttAccessAddressCount = 16
        return capabilities
    }
}

extension LESoundingRole {
    var opposite: LESoundingRole { self == .initiator ? .reflector : .initiator }
}
