import BluetoothTypes
import EventLoops
import HCI
import Radio

/// Finds trains and keeps those that are followed (Core Vol 6 Part B 4.4.3.4, 4.3.5).
final class Synchronizer {
    /// Trains that are followed at the same time, at most.
    static let maximumTrains = 8
    /// Sets on the periodic advertiser list, at most.
    static let listSize = 16

    /// A set of an advertiser.
    struct Entry: Hashable {
        var advertiser: BluetoothAddress
        var sid: UInt8
    }

    /// Why a train is followed, and so what the host is told of the beginning.
    enum Reason: Hashable {
        /// The host has asked for it.
        case asked
        /// A peer has told of it.
        case told(ConnectionHandle, serviceData: UInt16)
    }

    /// The periodic advertiser list.
    var list: [Entry] = []
    /// What is looked for.
    private(set) var wanted: LEPeriodicAdvertisingCreateSync?
    private var followers: [UInt16: (follower: PeriodicFollower, reason: Reason)] = [:]
    private var lastHandle: UInt16 = 0
    private unowned let controller: VirtualController

    init(_ controller: VirtualController) {
        self.controller = controller
    }

    /// The train with this handle, once it has been heard.
    func follower(_ handle: UInt16) -> PeriodicFollower? {
        guard let follower = followers[handle]?.follower, follower.isEstablished else { return nil }
        return follower
    }

    /// Whether a set is followed, or about to be.
    func isFollowing(_ entry: Entry) -> Bool {
        followers.values.contains { $0.follower.entry == entry }
    }

    /// How many trains are followed.
    var count: Int { followers.count }

    /// What a reset leaves.
    func reset() {
        for entry in followers.values { entry.follower.stop() }
        followers = [:]
        list = []
        wanted = nil
    }

    /// Looks for a train from now on.
    func look(for command: LEPeriodicAdvertisingCreateSync) {
        wanted = command
    }

    /// Looks no longer. False when nothing was looked for.
    func cancel() -> Bool {
        guard wanted != nil else { return false }
        for (handle, entry) in followers where entry.reason == .asked && !entry.follower.isEstablished {
            remove(handle)
        }
        wanted = nil
        return true
    }

    /// Follows a train no longer.
    func remove(_ handle: UInt16) {
        followers.removeValue(forKey: handle)?.follower.stop()
    }

    /// AUX_ADV_IND tells of a train.
    func heard(_ train: PeriodicTrain) {
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

    /// A train as it can be followed; nil when it cannot. A controller that knows nothing of responses follows the first subevent.
    func followable(_ train: PeriodicTrain) -> PeriodicTrain? {
        var train = train
        if !controller.configuration.features.contains(.periodicResponsesScanner) { train.responses = nil }
        let isUsable = train.responses?.timing.isUsable(within: train.sync.interval) ?? true
        return isUsable && train.sync.isUsable ? train : nil
    }

    private var isUnderWay: Bool {
        followers.values.contains { $0.reason == .asked && !$0.follower.isEstablished }
    }

    /// Begins to follow a train. What there is no room for is not followed.
    func follow(_ train: PeriodicTrain, _ rules: PeriodicRules, _ reason: Reason) {
        guard followers.count < Self.maximumTrains else { return }
        repeat {
            lastHandle = lastHandle >= ConnectionHandle.maximum.rawValue ? 0 : lastHandle + 1
        } while followers[lastHandle] != nil
        let follower = PeriodicFollower(
            train,
            rules,
            handle: lastHandle,
            arbiter: controller.arbiter,
            loop: controller.loop,
            power: controller.power,
            accuracy: ClockAccuracy(code: controller.configuration.clockAccuracy.rawValue),
            owner: self
        )
        followers[lastHandle] = (follower, reason)
        follower.start()
    }
}

extension Synchronizer: PeriodicFollowerOwner {
    func followerEstablished(_ follower: PeriodicFollower) {
        tell(.success, follower)
    }

    func followerLost(_ follower: PeriodicFollower) {
        if follower.isEstablished {
            remove(follower.handle)
            controller.host.send(LEPeriodicAdvertisingSyncLost(sync: follower.handle))
        } else {
            tell(.connectionFailedToBeEstablished, follower)
            remove(follower.handle)
        }
    }

    private var tellsOfSubevents: Bool { controller.host.isWanted(LEPeriodicAdvertisingReportV2.self) }

    var reportSize: Int { tellsOfSubevents ? 244 : 247 }

    func follower(
        _ follower: PeriodicFollower,
        reports report: LEPeriodicAdvertisingReport,
        event: UInt16,
        subevent: UInt8?
    ) {
        guard tellsOfSubevents else { return controller.host.send(report) }
        let number = subevent ?? LEPeriodicAdvertisingReportV2.noSubevent
        controller.host.send(LEPeriodicAdvertisingReportV2(report, event: event, subevent: number))
    }

    func follower(_ follower: PeriodicFollower, canAccept request: ConnectIndication) -> Bool {
        controller.canAccept(request)
    }

    func follower(_ follower: PeriodicFollower, accepts request: ConnectIndication, at end: Instant) {
        controller.accept(request, at: end, of: follower)
    }

    /// Tells the host how the beginning has come out.
    private func tell(_ status: HCIStatus, _ follower: PeriodicFollower) {
        guard let reason = followers[follower.handle]?.reason else { return }
        let train = follower.train
        let timing = train.responses?.timing ?? LESubeventTiming()
        switch reason {
        case .asked:
            wanted = nil
            send(
                LEPeriodicAdvertisingSyncEstablished(
                    status: status,
                    sync: follower.handle,
                    sid: train.sid,
                    address: train.advertiser,
                    phy: train.phy,
                    interval: train.sync.interval,
                    accuracy: LEClockAccuracy(rawValue: train.sync.accuracy.code)
                ),
                timing
            )
        case .told(let handle, let serviceData):
            send(
                LEPeriodicAdvertisingSyncTransferReceived(
                    status: status,
                    handle: handle,
                    serviceData: serviceData,
                    sync: follower.handle,
                    sid: train.sid,
                    address: train.advertiser,
                    phy: train.phy,
                    interval: train.sync.interval,
                    accuracy: LEClockAccuracy(rawValue: train.sync.accuracy.code)
                ),
                timing
            )
        }
    }

    /// The second versions take the place of the first for a host that wants them (Core Vol 4 Part E 7.7.65.14).
    func send(_ event: LEPeriodicAdvertisingSyncEstablished, _ timing: LESubeventTiming) {
        guard controller.host.isWanted(LEPeriodicAdvertisingSyncEstablishedV2.self) else {
            return controller.host.send(event)
        }
        controller.host.send(LEPeriodicAdvertisingSyncEstablishedV2(v1: event, timing: timing))
    }

    private func send(_ event: LEPeriodicAdvertisingSyncTransferReceived, _ timing: LESubeventTiming) {
        guard controller.host.isWanted(LEPeriodicAdvertisingSyncTransferReceivedV2.self) else {
            return controller.host.send(event)
        }
        controller.host.send(LEPeriodicAdvertisingSyncTransferReceivedV2(v1: event, timing: timing))
    }
}

extension PeriodicFollower {
    /// Whose train it is.
    var entry: Synchronizer.Entry { .init(advertiser: train.advertiser.device, sid: train.sid) }
}
