import HCI

/// The settings of the host for links to come. A reset restores the initial values.
struct LinkDefaults {
    /// A command of the host that changes the defaults.
    enum Change {
        case dataLength(LEWriteSuggestedDefaultDataLength)
        case phys(PHYPreferences)
        case subrate(SubrateRequest)
        case transfers(SyncTransferRules)
        /// A feature bit that the host controls (Core Vol 4 Part E 7.8.115).
        case feature(LEFeatures, isSupported: Bool)
    }

    /// The data length to request on a new link.
    private(set) var octets = DataLength.minimumOctets
    private(set) var time = DataLength.minimumTime
    /// The PHYs preferred when the peer starts the PHY update.
    private(set) var phys: PHYPreferences
    /// The feature bits that the host has set.
    private(set) var features: LEFeatures = []
    /// The subrating parameters accepted as central when the peripheral requests them.
    private(set) var acceptableSubrate = SubrateRequest.initial
    /// How to handle periodic advertising trains that the peers transfer.
    private(set) var transferRules = SyncTransferRules()

    init(supported: LEPHYs) {
        phys = PHYPreferences(tx: supported, rx: supported)
    }

    /// Applies a command whose parameters are valid.
    mutating func apply(_ change: Change) {
        switch change {
        case .dataLength(let command): (octets, time) = (command.txOctets, command.txTime)
        case .phys(let preferences): phys = preferences
        case .subrate(let range): acceptableSubrate = range
        case .transfers(let rules): transferRules = rules
        case .feature(let feature, isSupported: true): features.insert(feature)
        case .feature(let feature, isSupported: false): features.remove(feature)
        }
    }
}
