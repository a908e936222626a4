/// What some real controllers do otherwise than the specification says. A virtual controller can be given any of them, so that
/// what a host makes of it is tried without the hardware.
///
/// `Documentation/Quirks.md` says of each by ``row`` where it was seen, and what our host does about it.
public enum ControllerQuirk: String, CaseIterable, Hashable, Sendable {
    /// Data of a connection come up to 20 ms before the event that tells of it: USB has two pipes.
    case dataBeforeConnection
    /// Data on a link that is encrypted come up to 20 ms before the event that says so.
    case dataBeforeEncryption
    /// That an advertising set has ended is told before the connection that ended it.
    case setEndBeforeConnection
    /// A host's packet that is marked as the controller's are is taken and never sent.
    case startMarkIgnored
    /// Scanning by the commands of version 5.0 is accepted, and nothing is ever heard.
    case extendedScanSilent
    /// It lists the commands of version 5.0 in part only, and hangs when it is to scan by those of version 4.0.
    case legacyScanHangs
    /// It lists LE Extended Create Connection and commands about time-outs and key sizes, and refuses them.
    case claimedCommandsRefused
    /// It lists the commands to scan of version 5.0, and refuses them.
    case extendedScanRefused
    /// It has the feature bit of the Coded PHY, and refuses to use it.
    case codedRefused
    /// It says that it does everything at once, and refuses to advertise, scan or initiate while it does one of the others.
    case statesLie
    /// Bits are set in the PHYs of advertising reports that mean nothing.
    case reservedPHYBits
    /// It reports each advertiser once, whatever it was told about duplicates.
    case duplicatesHidden
    /// Its answers end too early, and it hangs at commands that are for BR/EDR.
    case shortReplies
    /// What its firmware has to say for debugging comes as data of a connection that there is not.
    case debugTextAsData
    /// It tells of buffers that cannot be, and has no public address.
    case badBuffers
    /// The address of an advertising set counts from its next parameters on only, and with each change of the resolving list
    /// it forgets the accept list.
    case staleAddresses
    /// Its firmware is broken from the beginning: soon after each reset it reports a hardware error, on each line, until its power
    /// goes once.
    case degraded
    /// It tells its peers its version time and again.
    case versionRepeated
    /// It lists 2M, and refuses connection requests with parameters for it.
    case initiating2MRefused
    /// After a legacy command it refuses every extended one, those that only ask about advertising sets and those of trains included;
    /// and the other way round.
    case strictCommandSets
    /// It takes the suggested data length, and never starts the data length update procedure by itself.
    case dataLengthNeverStarted
    /// It refuses to connect by the accept list: it says that there is such a link.
    case acceptListConnectRefused
    /// Of each ten requests to connect the first is not sent, and the connection fails to be established (0x3E).
    case connectionsFail
    /// Of extended advertisements it reports the first 31 octets, and says that it has lost the rest.
    case extendedDataTruncated

    /// The number in `Documentation/Quirks.md`.
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
