import BluetoothTypes
import EventLoops
import HCI

/// The controller of a synchronizer, which accepts connection requests in subevents.
protocol SynchronizerOwner: AnyObject {
    /// Whether a connection request in a subevent is for this device and can be accepted (AB-L03).
    func canAccept(_ request: ConnectIndication) -> Bool
    /// Called when AUX_CONNECT_RSP has been sent, in response to a request that ended at `end`.
    func accept(_ request: ConnectIndication, at end: Instant, of follower: PeriodicFollower)
}

/// Synchronizes with periodic advertising trains, and owns the followers (Core Vol 6 Part B 4.4.3.4, 4.3.5).
final class Synchronizer {
    /// The maximum number of trains to follow at the same time.
    static let maximumTrains = 8
    /// The capacity of the periodic advertiser list, in sets.
    static let listSize = 16

    /// An advertiser's advertising set.
    struct Entry: Hashable {
        var advertiser: BluetoothAddress
        var sid: UInt8
    }

    /// The reason for which a train is followed, which determines the event that reports the outcome.
    enum Reason: Hashable {
        /// The host has requested it.
        case asked
        /// A peer has transferred it.
        case transferred(ConnectionHandle, serviceData: UInt16)
    }

    private var list: [Entry] = []
    /// The host's pending command; nil if none is pending.
    private(set) var wanted: LEPeriodicAdvertisingCreateSync?
    private var followers: [UInt16: (follower: PeriodicFollower, reason: Reason)] = [:]
    private var lastHandle: UInt16 = 0
    private let host: HostPort
    private let arbiter: RadioArbiter
    private let loop: any EventLoop
    private let power: Double
    private let accuracy: ClockAccuracy
    /// Whether the controller supports trains with responses as a scanner.
    private let supportsResponses: Bool
    private unowned let owner: any SynchronizerOwner

    init(
        host: HostPort,
        arbiter: RadioArbiter,
        loop: any EventLoop,
        power: Double,
        accuracy: ClockAccuracy,
        supportsResponses: Bool,
        owner: any SynchronizerOwner
    ) {
        self.host = host
        self.arbiter = arbiter
        self.loop = loop
        self.power = power
        self.accuracy = accuracy
        self.supportsResponses = supportsResponses
        self.owner = owner
    }

    /// Returns the follower with this handle, if its synchronization is established.
    func follower(_ handle: UInt16) -> PeriodicFollower? {
        guard let follower = followers[handle]?.follower, follower.isEstablished else { return nil }
        return follower
    }

    /// Whether a set is being followed, established or not.
    func isFollowing(_ entry: Entry) -> Bool {
        followers.values.contains { $0.follower.entry == entry }
    }

    var count: Int { followers.count }

    /// Stops everything and clears the list.
    func reset() {
        for entry in followers.values { entry.follower.stop() }
        followers = [:]
        list = []
        wanted = nil
    }

    /// Adds a set to the periodic advertiser list, which the caller knows not to be in use (Core Vol 4 Part E 7.8.70).
    func addToList(_ entry: Entry) -> HCIStatus {
        guard !list.contains(entry) else { return .invalidParameters }
        guard list.count < Self.listSize else { return .memoryCapacityExceeded }
        list.append(entry)
        return .success
    }

    /// Removes a set from the list, which the caller knows not to be in use (7.8.71).
    func removeFromList(_ entry: Entry) -> HCIStatus {
        guard let index = list.firstIndex(of: entry) else { return .unknownAdvertisingIdentifier }
        list.remove(at: index)
        return .success
    }

    /// Clears the list (7.8.72).
    func clearList() -> HCIStatus {
        guard wanted == nil else { return .commandDisallowed }
        list = []
        return .success
    }

    func search(for command: LEPeriodicAdvertisingCreateSync) {
        wanted = command
    }

    /// Cancels the pending command. Returns false if none is pending.
    func cancel() -> Bool {
        guard wanted != nil else { return false }
        for (handle, entry) in followers where entry.reason == .asked && !entry.follower.isEstablished {
            remove(handle)
        }
        wanted = nil
        return true
    }

    func remove(_ handle: UInt16) {
        followers.removeValue(forKey: handle)?.follower.stop()
    }

    /// Handles a train announced in an AUX_ADV_IND.
    func receive(_ train: PeriodicTrain) {
        let entry = Entry(advertiser: train.advertiser.device, sid: train.sid)
        guard let wanted, let train = followable(train), !isFollowing(entry), !isUnderWay else { return }
        let isMeant =
            wanted.options.contains(.usesList)
            ? list.contains(entry) : Entry(advertiser: wanted.address.device, sid: wanted.sid) == entry
        guard isMeant else { return }
        let timeout = Duration.milliseconds(Int64(wanted.timeout) * 10)
        let rules = PeriodicRules(
            skip: wanted.skip,
            timeout: timeout,
            reports: !wanted.options.contains(.withoutReports)
        )
        follow(train, rules, .asked)
    }

    /// Returns a train in the form in which it can be followed; nil if it cannot. A controller without support for
    /// responses follows the first subevent only.
    func followable(_ train: PeriodicTrain) -> PeriodicTrain? {
        var train = train
        if !supportsResponses { train.responses = nil }
        let isUsable = train.responses?.timing.isUsable(within: train.sync.interval) ?? true
        return isUsable && train.sync.isUsable ? train : nil
    }

    private var isUnderWay: Bool {
        followers.values.contains { $0.reason == .asked && !$0.follower.isEstablished }
    }

    /// Starts to follow a train, unless the maximum number is being followed.
    func follow(_ train: PeriodicTrain, _ rules: PeriodicRules, _ reason: Reason) {
        guard followers.count < Self.maximumTrains else { return }
        repeat {
            lastHandle = lastHandle >= ConnectionHandle.maximum.rawValue ? 0 : lastHandle + 1
        } while followers[lastHandle] != nil
        let follower = PeriodicFollower(
            train,
            rules,
            handle: lastHandle,
            arbiter: arbiter,
            loop: loop,
            power: power,
            accuracy: accuracy,
            owner: self
        )
        followers[lastHandle] = (follower, reason)
        follower.start()
    }
}

extension Synchronizer: PeriodicFollowerOwner {
    func followerEstablished(_ follower: PeriodicFollower) {
        reportOutcome(.success, follower)
    }

    func followerLost(_ follower: PeriodicFollower) {
        if follower.isEstablished {
            remove(follower.handle)
            host.send(LEPeriodicAdvertisingSyncLost(sync: follower.handle))
        } else {
            reportOutcome(.connectionFailedToBeEstablished, follower)
            remove(follower.handle)
        }
    }

    private var reportsSubevents: Bool { host.isWanted(LEPeriodicAdvertisingReportV2.self) }

    var reportSize: Int { reportsSubevents ? 244 : 247 }

    func follower(
        _ follower: PeriodicFollower,
        reports report: LEPeriodicAdvertisingReport,
        event: UInt16,
        subevent: UInt8?
    ) {
        guard reportsSubevents else { return host.send(report) }
        let number = subevent ?? LEPeriodicAdvertisingReportV2.noSubevent
        host.send(LEPeriodicAdvertisingReportV2(report, event: event, subevent: number))
    }

    func follower(_ follower: PeriodicFollower, canAccept request: ConnectIndication) -> Bool {
        owner.canAccept(request)
    }

    func follower(_ follower: PeriodicFollower, accepts request: ConnectIndication, at end: Instant) {
        owner.accept(request, at: end, of: follower)
    }

    /// Reports the outcome of a synchronization to the host.
    private func reportOutcome(_ status: HCIStatus, _ follower: PeriodicFollower) {
        guard let reason = followers[follower.handle]?.reason else { return }
        let train = follower.train
        let timing = train.responses?.timing ?? LESubeventTiming()
        switch reason {
        case .asked:
            wanted = nil
            send(
                LEPeriodicAdvertisingSyncEstablished {
                    $0.status = status
                    $0.sync = follower.handle
                    $0.sid = train.sid
                    $0.address = train.advertiser
                    $0.phy = train.phy
                    $0.interval = train.sync.interval
                    $0.accuracy = LEClockAccuracy(rawValue: train.sync.accuracy.code)
                },
                timing
            )
        case .transferred(let handle, let serviceData):
            send(
                LEPeriodicAdvertisingSyncTransferReceived {
                    $0.status = status
                    $0.handle = handle
                    $0.serviceData = serviceData
                    $0.sync = follower.handle
                    $0.sid = train.sid
                    $0.address = train.advertiser
                    $0.phy = train.phy
                    $0.interval = train.sync.interval
                    $0.accuracy = LEClockAccuracy(rawValue: train.sync.accuracy.code)
                },
                timing
            )
        }
    }

    /// Sends the event, as version 2 if the host has enabled that (Core Vol 4 Part E 7.7.65.14).
    func send(_ event: LEPeriodicAdvertisingSyncEstablished, _ timing: LESubeventTiming) {
        guard host.isWanted(LEPeriodicAdvertisingSyncEstablishedV2.self) else {
            return host.send(event)
        }
        host.send(LEPeriodicAdvertisingSyncEstablishedV2(v1: event, timing: timing))
    }

    private func send(_ event: LEPeriodicAdvertisingSyncTransferReceived, _ timing: LESubeventTiming) {
        guard host.isWanted(LEPeriodicAdvertisingSyncTransferReceivedV2.self) else {
            return host.send(event)
        }
        host.send(LEPeriodicAdvertisingSyncTransferReceivedV2(v1: event, timing: timing))
    }
}

extension PeriodicFollower {
    /// The advertising set of the train.
    var entry: Synchronizer.Entry { .init(advertiser: train.advertiser.device, sid: train.sid) }
}
