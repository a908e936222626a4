import BluetoothTypes
import EventLoops
import HCI

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Carries out the procedures of a link's schedule: waits for each subevent, uses the radio for its length, and then
/// measures if the peer did the same.
///
/// The steps are not frames on the simulated air, whose channels are wider. The two ends meet in ``SoundingMeeting``
/// instead, and the results follow from the radio's geometry.
final class Sounder: RadioClaimant {
    /// The results of a subevent.
    struct Report {
        var startEvent: UInt16
        var procedure: UInt16
        var progress: LESoundingProgress
        var referencePower: Int8
        var antennaPaths: UInt8
        var steps: [LESoundingStep]
    }

    let schedule: SoundingSchedule
    private unowned let link: Link
    private let arbiter: RadioArbiter
    private let loop: any EventLoop
    private let onReport: (Report) -> Void
    private let onEnd: (SoundingRandom) -> Void
    private var random: SoundingRandom
    private var plan: SoundingPlan
    private var steps: [SoundingPlan.Step] = []
    private var timer: ScheduledTask?
    private(set) var procedure: UInt16 = 0
    private var startEvent: UInt16 = 0
    private var start = Instant.zero
    private var hasRadio = false
    let share: RadioShare
    let priority = RadioPriority.periodic

    init(
        _ schedule: SoundingSchedule,
        of link: Link,
        arbiter: RadioArbiter,
        loop: any EventLoop,
        share: RadioShare,
        onReport: @escaping (Report) -> Void,
        onEnd: @escaping (SoundingRandom) -> Void
    ) {
        (self.schedule, self.link, self.arbiter, self.loop) = (schedule, link, arbiter, loop)
        (self.share, self.onReport, self.onEnd) = (share, onReport, onEnd)
        random = schedule.random
        plan = Self.plan(schedule, random)
        startEvent = schedule.indication.event
        prepare()
    }

    private static func plan(_ schedule: SoundingSchedule, _ random: SoundingRandom) -> SoundingPlan {
        let channels = SoundingState.channels(of: schedule.settings.channelMap)
        return SoundingPlan(schedule.settings, channels: channels, paths: schedule.antennas.paths.count, random: random)
    }

    private var role: LESoundingRole { schedule.settings.role }
    private var length: UInt32 { schedule.indication.subevents.length }

    /// Stops at once.
    func stop() {
        if let timer = timer.take() { loop.cancel(timer) }
        if hasRadio { leave() }
        arbiter.remove(self)
    }

    /// Leaves the subevent in progress, so that the peer has no result either. The results of one that has ended stay for
    /// the peer, whose clock may be behind.
    private func leave() {
        hasRadio = false
        arbiter.node.radio.leaveSounding(link.parameters.data.accessAddress, role)
    }

    // MARK: Subevents

    /// Waits for the next subevent, which follows the anchor point of ``startEvent``.
    private func prepare() {
        let ahead = Int(Int16(bitPattern: startEvent &- link.counter))
        start = link.anchor + link.interval * ahead + .microseconds(Int64(schedule.indication.offset))
        arbiter.reserve(self, at: start)
        timer = loop.schedule(at: start) { [unowned self] in
            timer = nil
            begin()
        }
    }

    private func begin() {
        arbiter.reserve(self, at: nil)
        steps = plan.nextSubevent(length: length)
        hasRadio = arbiter.claim(self)
        if hasRadio {
            let presence = SoundingPresence(
                node: arbiter.node,
                power: link.parameters.transmitPower,
                drift: link.parameters.drift,
                key: random.key,
                subevent: plan.subevents,
                procedure: procedure
            )
            arbiter.node.radio.joinSounding(link.parameters.data.accessAddress, role, presence)
        }
        timer = loop.schedule(after: .microseconds(Int64(length))) { [unowned self] in
            timer = nil
            finish()
        }
    }

    private func finish() {
        let peer = arbiter.node.radio.sounding(link.parameters.data.accessAddress, role.opposite)
        let isMet = peer?.key == random.key && peer?.subevent == plan.subevents && peer?.procedure == procedure
        let isLast = plan.isDone || isOutOfTime
        var progress = LESoundingProgress(procedure: isLast ? .complete : .partial, subevent: .complete)
        var (results, power): ([LESoundingStep], Int8) = ([], 127)
        if hasRadio, isMet, let peer, let meter = SoundingMeter(self.presence, peer, schedule.antennas, as: role) {
            countRadioTime()
            results = steps.map { meter.measure($0) }
            power = meter.reportedStrength
        } else {
            progress.subevent = .aborted
            progress.abortReason = hasRadio ? LESoundingProgress.noSync : LESoundingProgress.conflict
        }
        if hasRadio { arbiter.release(self) }
        hasRadio = false
        let report = Report(
            startEvent: startEvent,
            procedure: procedure,
            progress: progress,
            referencePower: power,
            antennaPaths: UInt8(schedule.antennas.paths.count),
            steps: results
        )
        isLast ? endProcedure() : next(after: max(schedule.indication.subevents.eventInterval, 1))
        onReport(report)
    }

    private var presence: SoundingPresence? {
        arbiter.node.radio.sounding(link.parameters.data.accessAddress, role)
    }

    /// Whether another subevent would exceed the maximum length of a procedure.
    private var isOutOfTime: Bool {
        let events = Int64(plan.subevents + 1) * Int64(max(schedule.indication.subevents.eventInterval, 1))
        return events * link.control.timing.intervalMicroseconds > Int64(schedule.maxProcedureLength) * 625
    }

    private func next(after events: UInt16) {
        startEvent &+= events
        prepare()
    }

    /// Ends a procedure, and waits for the next one if there is any.
    private func endProcedure() {
        let used = UInt16(plan.subevents - 1) * max(schedule.indication.subevents.eventInterval, 1)
        procedure &+= 1
        random.advance()
        guard schedule.procedureCount == 0 || procedure < schedule.procedureCount else { return onEnd(random) }
        plan = Self.plan(schedule, random)
        // An interval that is too short begins with the first event that is free.
        next(after: max(schedule.procedureInterval, used + 1) - used)
    }

    private func countRadioTime() {
        let paths = schedule.antennas.paths.count
        let sending = steps.reduce(0) { $0 + SoundingPlan.sending(in: $1.mode, paths: paths, as: role) }
        let listening = steps.reduce(0) { $0 + SoundingPlan.sending(in: $1.mode, paths: paths, as: role.opposite) }
        arbiter.node.countSounding(sending: sending, listening: listening, power: link.parameters.transmitPower)
        arbiter.settle(share)
    }

    // MARK: The radio

    func radioSent() {}
    func radioDetectedStart() {}
    func radioReceived(_ frame: ReceivedFrame) {}
    func radioFree() {}

    func radioLost() { leave() }
}
