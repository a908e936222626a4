import BluetoothTypes
import HCI

/// What controllers refuse and fail to do, and what comes of scanning, advertising and connecting.
extension CaptureStory {
    /// The time in which a controller answers a command, in microseconds, with much to spare.
    private static let commandTimeout: Int64 = 1_000_000
    private static let commandSection = "Core Vol 4 Part E 4.4"
    /// The times after which nothing is expected any more, in microseconds: from a request to connect, from scanning,
    /// and from connectable advertising.
    private static let attemptTimeout: Int64 = 1_000_000
    private static let openAttemptTimeout: Int64 = 5_000_000
    private static let scanTimeout: Int64 = 2_000_000
    private static let advertisingTimeout: Int64 = 10_000_000

    mutating func activity(_ adapter: UInt32, _ body: (inout AdapterActivity, StoryMoment) -> Void) {
        guard adapters[adapter] != nil || adapters.count < StoryLimits.adapters else { return }
        let moment = moment
        body(&adapters[adapter, default: Adapter()].activity, moment)
    }

    private func failure(
        _ weight: StoryFailure.Weight,
        _ attempted: String,
        _ cause: StoryEvidence,
        _ redemption: StoryFailure.Redemption,
        peer: BluetoothAddress? = nil
    ) -> StoryFailure {
        var failure = StoryFailure(weight: weight, attempted: attempted, cause: cause, redemption: redemption)
        (failure.peer, failure.progress) = (peer, deeds.progress)
        return failure
    }

    // MARK: Commands

    mutating func sent(_ opcode: Opcode, _ adapter: UInt32) {
        if opcode == Reset.opcode { giveUpCommand(adapter) }
        activity(adapter) { activity, moment in
            activity.wait(for: opcode, at: moment)
            switch opcode {
            case LECreateConnection.opcode, LEExtendedCreateConnection.opcode: activity.isAttempting = true
            default: break
            }
        }
    }

    /// Notes a command that the controller has not answered before the host resets it, or the capture ends.
    private mutating func giveUpCommand(_ adapter: UInt32) {
        var given: AdapterActivity.Pending?
        activity(adapter) { given = $0.giveUp(after: Self.commandTimeout, at: $1.time) }
        guard let given, totals.drops == 0 else { return }
        let name = Self.name(given.opcode)
        let text = "the controller did not respond to \(name) for \(StoryWords.time(now &- given.moment.time))"
        let cause = StoryEvidence(text, at: given.moment, section: Self.commandSection)
        failures.add(failure(.controller, "using the controller", cause, .progress))
    }

    mutating func finished(_ opcode: Opcode, _ status: UInt8, _ adapter: UInt32) {
        activity(adapter) { activity, _ in activity.answered(opcode) }
        guard status != 0 else { return succeeded(opcode, adapter) }
        guard !Self.isLate(opcode, HCIStatus(rawValue: status)) else { return }
        let name = Self.name(opcode)
        addError("\(name) fails", status)
        switch opcode {
        case LECreateConnection.opcode, LEExtendedCreateConnection.opcode:
            attemptFailed(HCIStatus(rawValue: status), adapter)
        default: refused(opcode, HCIStatus(rawValue: status), adapter)
        }
    }

    /// Whether a command was only too late: a link that is to end has ended, or an attempt to connect has.
    private static func isLate(_ opcode: Opcode, _ status: HCIStatus) -> Bool {
        switch opcode {
        case Disconnect.opcode, LECreateConnectionCancel.opcode:
            status == .unknownConnection || status == .commandDisallowed
        default: false
        }
    }

    private mutating func succeeded(_ opcode: Opcode, _ adapter: UInt32) {
        if !failures.isEmpty { failures.redeem(.command(opcode.rawValue)) }
        switch opcode {
        case Reset.opcode: reset(adapter)
        case LESetAdvertisingEnable.opcode, LESetExtendedAdvertisingEnable.opcode:
            if adapters[adapter]?.advertisingSince != nil { deeds.advertisements += 1 }
        default: break
        }
    }

    /// Ends the links of a controller, of which a reset tells nothing else.
    private mutating func reset(_ adapter: UInt32) {
        activity(adapter) { activity, moment in activity.reset(at: moment) }
        for key in open.keys where key.adapter == adapter && !key.isAir {
            guard let number = open[key]?.number else { continue }
            current = number
            addEntry(.disconnected, "ended by the reset of the controller", section: "Core Vol 4 Part E 7.3.2")
            failures.follow(nil, evidence("the reset of the controller ended the connection", nil)) {
                $0.weight == .controller
            }
            close(key, .reset)
        }
        current = nil
    }

    private mutating func refused(_ opcode: Opcode, _ status: HCIStatus, _ adapter: UInt32) {
        let purpose = adapters[adapter]?.activity.purpose(of: opcode)
        activity(adapter) { activity, _ in activity.refused(opcode) }
        let name = Self.name(opcode)
        let cause = evidence(
            "the controller refused \(name): \(status)",
            StoryWords.section(of: status.rawValue)
        )
        if let purpose { return failures.add(failure(.attempt, purpose, cause, .command(opcode.rawValue))) }
        // Hosts ask controllers for more than they support. That matters if nothing else works, either.
        var failure = failure(.refused, "setting up the controller", cause, .progress)
        if status == .unknownCommand || status == .unsupportedFeatureOrParameter { failure.progress = 0 }
        failures.add(failure)
    }

    private static func name(_ opcode: Opcode) -> String {
        HCICommandRegistry.type(for: opcode)?.name ?? "the command \(opcode)"
    }

    mutating func hardwareFailed(_ code: UInt8) {
        let section = "Core Vol 4 Part E 7.7.16"
        addEntry(.error, "the controller reports a hardware error", section: section)
        let cause = evidence("the controller reported a hardware error, code \(code)", section)
        var failure = failure(.controller, "using the controller", cause, .progress)
        if let link = open.keys.first(where: { !$0.isAir }).flatMap({ open[$0] }) {
            failure.attempted = "keeping the connection to"
            (failure.connection, failure.peer, failure.progress) = (link.number, link.peer, deeds.links)
        }
        failures.add(failure)
    }

    /// A link of BR/EDR, which the story leaves out.
    mutating func connectedClassic(_ data: PacketBuffer, _ adapter: UInt32) {
        guard data.octet(at: 0) == 0, let handle = data.word(at: 1) else { return }
        let key = OpenLinks.Key(adapter: adapter, number: UInt32(handle & 0xFFF), isAir: false)
        if !open.contains(key) { ended.set(true, for: key) }
    }

    // MARK: Attempts to connect

    mutating func attemptFailed(_ status: HCIStatus, _ adapter: UInt32) {
        activity(adapter) { activity, _ in activity.isAttempting = false }
        let text =
            status == .connectionFailedToBeEstablished
            ? "the peer did not respond to the connection request" : "the controller reported an error"
        let cause = evidence("\(text): \(status)", StoryWords.section(of: status.rawValue))
        let peer = adapters[adapter]?.attempt?.peer
        failures.add(failure(.attempt, "connecting to", cause, .connection, peer: peer))
    }

    mutating func attemptCancelled(_ adapter: UInt32) {
        activity(adapter) { activity, _ in activity.isAttempting = false }
        guard let attempt = adapters[adapter]?.attempt, now &- attempt.time >= Self.attemptTimeout else { return }
        addFruitless(attempt, end: "this device gave up")
    }

    private mutating func addFruitless(
        _ attempt: (peer: BluetoothAddress?, time: Int64, count: Int, packet: Int),
        end: String
    ) {
        let text = "no response for \(StoryWords.time(now &- attempt.time)), then \(end)"
        let cause = StoryEvidence(
            text,
            at: StoryMoment(packet: attempt.packet, time: attempt.time),
            section: "Core Vol 4 Part E 7.8.12"
        )
        failures.add(failure(.fruitless, "connecting to", cause, .connection, peer: attempt.peer))
    }

    // MARK: The end of the capture

    mutating func finishAdapters() {
        for (number, adapter) in adapters.sorted(by: { $0.key < $1.key }) {
            giveUpCommand(number)
            let activity = adapter.activity
            if totals.events == 0, let pending = activity.pending {
                let text = "the controller did not respond to any command"
                let cause = StoryEvidence(text, at: pending.moment, section: Self.commandSection)
                failures.add(failure(.fruitless, "using the controller", cause, .progress))
            }
            if activity.isAttempting, let attempt = adapter.attempt, now &- attempt.time >= Self.openAttemptTimeout {
                addFruitless(attempt, end: "the capture ended")
            }
            finish(activity)
        }
        // A controller that went on works, and other links take the place of one that no device answered.
        let (progress, links) = (deeds.progress, deeds.links)
        let redeemed = failures.remove {
            switch $0.redemption {
            case .progress: $0.progress < ($0.connection == nil ? progress : links)
            case .connection: $0.weight == .fruitless && $0.connection == nil && $0.peer == nil && links > 0
            default: false
            }
        }
        deeds.recover(redeemed)
    }

    private mutating func finish(_ activity: AdapterActivity) {
        guard deeds.links == 0 else { return }
        if let first = activity.scanning.first, deeds.reports == 0 {
            let time = activity.scanning.total(at: now)
            guard time >= Self.scanTimeout else { return }
            let text = "no advertisement was received in \(StoryWords.time(time))"
            let cause = StoryEvidence(text, at: first, section: "Core Vol 4 Part E 7.8.11")
            failures.add(failure(.fruitless, "scanning", cause, .command(0)))
        }
        if let first = activity.advertising.first {
            let time = activity.advertising.total(at: now)
            guard time >= Self.advertisingTimeout else { return }
            let text = "no device connected in \(StoryWords.time(time))"
            let cause = StoryEvidence(text, at: first, section: "Core Vol 3 Part C 9.3.4")
            failures.add(failure(.fruitless, "advertising for connections", cause, .command(0)))
        }
    }
}
