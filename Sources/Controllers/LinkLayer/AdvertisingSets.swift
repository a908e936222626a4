import HCI

/// The advertising sets of the extended commands, and their periodic advertising.
struct AdvertisingSets {
    /// The maximum number of sets.
    static let maximum = 16

    /// The sets by handle.
    private(set) var advertisers: [UInt8: Advertiser] = [:]
    /// The periodic advertising that the host has configured for sets, by handle of the set.
    private(set) var trains: [UInt8: PeriodicAdvertiser] = [:]

    var isFull: Bool { advertisers.count >= Self.maximum }

    /// Stores the advertiser of a new set.
    mutating func add(_ advertiser: Advertiser, as set: UInt8) {
        advertisers[set] = advertiser
    }

    /// Stores the periodic advertising that a set has now.
    mutating func add(_ train: PeriodicAdvertiser) {
        trains[train.set] = train
    }

    /// The first broken invariant; nil if all hold. Checked in debug builds after each removal.
    private var brokenInvariant: String? {
        guard advertisers.count <= Self.maximum else { return "too many sets" }
        return trains.keys.allSatisfy { advertisers[$0] != nil } ? nil : "a removed set has periodic advertising"
    }

    /// Removes a set, unless it is in use (Core Vol 4 Part E 7.8.59).
    mutating func remove(_ set: UInt8) -> HCIStatus {
        guard let advertiser = advertisers[set] else { return .unknownAdvertisingIdentifier }
        guard !advertiser.isEnabled, !(trains[set]?.isWanted ?? false) else { return .commandDisallowed }
        (advertisers[set], trains[set]) = (nil, nil)
        assert(brokenInvariant == nil, brokenInvariant ?? "")
        return .success
    }

    /// Removes all sets, unless one is in use (7.8.60).
    mutating func clear() -> HCIStatus {
        let isBusy = advertisers.values.contains(where: \.isEnabled) || trains.values.contains(where: \.isWanted)
        guard !isBusy else { return .commandDisallowed }
        self = AdvertisingSets()
        return .success
    }

    /// Stops all advertising at once.
    func stop() {
        for advertiser in advertisers.values { advertiser.stop() }
        for train in trains.values { train.stop() }
    }
}
