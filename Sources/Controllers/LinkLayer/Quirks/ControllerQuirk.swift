/// A deviation of real controllers from the specification.
///
/// A virtual controller can have any of them, so that a host's workarounds can be tested without the hardware.
/// `Documentation/Quirks.md` lists, by ``row``, where each was seen and what Harald's host does about it.
public enum ControllerQuirk: String, CaseIterable, Hashable, Sendable {
    /// Data of a connection arrive up to 20 ms before the connection event, since USB has separate pipes for them.
    case dataBeforeConnection
    /// Data on an encrypted link arrive up to 20 ms before the event that reports the encryption.
    case dataBeforeEncryption
    /// The end of an advertising set is reported before the connection that ended it.
    case setEndBeforeConnection
    /// ACL packets from the host with the packet boundary flag of the controller are accepted but never sent.
    case startMarkIgnored
    /// Extended scanning (version 5.0) is accepted but yields no reports.
    case extendedScanSilent
    /// The controller lists only some of the commands of version 5.0, and hangs when legacy scanning (version 4.0) is
    /// enabled.
    case legacyScanHangs
    /// The controller lists LE Extended Create Connection and commands for time-outs and key sizes, but refuses them.
    case claimedCommandsRefused
    /// The controller lists the extended scanning commands of version 5.0, but refuses them.
    case extendedScanRefused
    /// The controller has the feature bit of the Coded PHY, but refuses to use it.
    case codedRefused
    /// The controller claims to support all combinations of states, but refuses to advertise, scan or initiate while it
    /// does one of the others.
    case statesLie
    /// Reserved bits are set in the PHY fields of advertising reports.
    case reservedPHYBits
    /// The controller reports each advertiser only once, even with duplicate filtering disabled.
    case duplicatesHidden
    /// Responses to commands are too short, and commands for BR/EDR hang the controller.
    case shortReplies
    /// Debugging output of the firmware arrives as data of a connection that does not exist.
    case debugTextAsData
    /// The controller reports impossible buffer sizes, and has no public address.
    case badBuffers
    /// The random address of an advertising set takes effect only with the next parameters of the set, and each change
    /// of the resolving list clears the accept list.
    case staleAddresses
    /// The firmware is broken from the start. The controller reports a hardware error soon after each reset, on each
    /// transport, until it is power-cycled.
    case degraded
    /// The controller sends its version to its peers repeatedly.
    case versionRepeated
    /// The controller lists 2M, but refuses connection requests with parameters for it.
    case initiating2MRefused
    /// After a legacy command the controller refuses every extended one, including those that only read properties of
    /// advertising sets and those for periodic advertising; and vice versa.
    case strictCommandSets
    /// The controller accepts the suggested data length, but never starts the data length update procedure on its own.
    case dataLengthNeverStarted
    /// The controller refuses to connect by the accept list, with the error that the connection already exists.
    case acceptListConnectRefused
    /// The first of every ten connection requests is not sent, and the connection fails to be established (0x3E).
    case connectionsFail
    /// Reports of extended advertisements contain the first 31 octets only, and are marked as truncated.
    case extendedDataTruncated

    /// The row of the table in `Documentation/Quirks.md`.
    public var row: Int {
        switch self {
        case .dataBeforeConnection: 1
        case .dataBeforeEncryption: 2
        case .setEndBeforeConnection: 3
        case .startMarkIgnored: 4
        case .extendedScanSilent, .legacyScanHangs: 5
        case .claimedCommandsRefused: 6
        case .extendedScanRefused: 7
        case .codedRefused: 8
        case .statesLie: 9
        case .reservedPHYBits: 10
        case .duplicatesHidden: 11
        case .shortReplies: 12
        case .debugTextAsData: 13
        case .badBuffers: 14
        case .staleAddresses: 15
        case .degraded: 16
        case .versionRepeated: 17
        case .initiating2MRefused: 18
        case .strictCommandSets: 19
        case .dataLengthNeverStarted: 20
        case .acceptListConnectRefused: 21
        case .connectionsFail: 22
        case .extendedDataTruncated: 23
        }
    }
}

/// How often the link layer has misbehaved on purpose. The quirks of the transport are added by ``QuirkLine``.
struct LinkQuirks {
    /// The number of additional version indications per link.
    static let repeatedVersions = 3
    /// The time between two version indications.
    static let versionPause = Duration.milliseconds(100)

    private var versionsRepeated = 0
    /// The number of connection requests due, and how many of them were lost on purpose.
    private var requests = (made: 0, lost: 0)

    /// The number of times for each quirk that has shown itself.
    var shown: [ControllerQuirk: Int] {
        var shown: [ControllerQuirk: Int] = [:]
        if versionsRepeated > 0 { shown[.versionRepeated] = versionsRepeated }
        if requests.lost > 0 { shown[.connectionsFail] = requests.lost }
        return shown
    }

    /// Counts a version indication, although the specification allows only one (Core Vol 6 Part B 5.1.5).
    mutating func noteRepeatedVersion() {
        versionsRepeated += 1
    }

    /// Whether the connection request that is due is lost: with ``ControllerQuirk/connectionsFail``, the first of every
    /// ten.
    mutating func losesRequest() -> Bool {
        defer { requests.made += 1 }
        guard requests.made.isMultiple(of: 10) else { return false }
        requests.lost += 1
        return true
    }
}
