import HCI

/// The steps of a procedure, subevent by subevent (Core Vol 6 Part H 4). Both devices make the same plan.
struct SoundingPlan {
    /// A step before it is carried out.
    struct Step: Hashable {
        var mode: UInt8
        var channel: UInt8
        /// The number of the step in its procedure.
        var number: UInt16
        /// Whether a tone is sent in the extension slot: by the initiator, and by the reflector.
        var extensions: [Bool] = []
        /// The order of the antenna paths.
        var permutation: UInt8 = 0
    }

    /// The maximum number of steps of a subevent and of a procedure (4.2).
    static let maximumSubeventSteps = 160
    static let maximumProcedureSteps = 256
    /// The maximum number of subevents of a procedure.
    static let maximumSubevents = 32

    private let configuration: LESoundingConfiguration
    private let channels: [UInt8]
    /// The number of antenna paths.
    private let paths: Int
    private var random: SoundingRandom
    private var rest: [UInt8] = []
    private var mode0Rest: [UInt8] = []
    private var repetitions: Int
    private var mainUntilSub: Int?
    /// The channels of the last main mode steps.
    private var last: [UInt8] = []
    private(set) var count: UInt16 = 0
    private(set) var subevents = 0

    init(_ configuration: LESoundingConfiguration, channels: [UInt8], paths: Int, random: SoundingRandom) {
        self.configuration = configuration
        (self.channels, self.paths) = (channels, paths)
        self.random = random
        repetitions = Int(configuration.mapRepetition)
    }

    /// Whether all channels have been used as often as configured, or a limit is reached.
    var isDone: Bool {
        rest.isEmpty && repetitions == 0 || Int(count) >= Self.maximumProcedureSteps
            || subevents >= Self.maximumSubevents
    }

    /// Returns the steps of the next subevent, as many as fit its length in microseconds.
    mutating func nextSubevent(length: UInt32) -> [Step] {
        var (steps, time) = ([Step](), Int(length))
        for _ in 0..<configuration.mode0Steps { add(0, mode0Channel(), to: &steps, &time) }
        if subevents > 0 {
            for channel in last.suffix(Int(configuration.mainModeRepetition)) {
                add(configuration.mainMode, channel, to: &steps, &time)
            }
        }
        while let mode = nextMode, time >= Self.duration(of: mode, paths: paths),
            steps.count < Self.maximumSubeventSteps,
            Int(count) < Self.maximumProcedureSteps
        {
            let channel = nextChannel()
            add(mode, channel, to: &steps, &time)
            note(mode, channel)
        }
        subevents += 1
        return steps
    }

    private mutating func add(_ mode: UInt8, _ channel: UInt8, to steps: inout [Step], _ time: inout Int) {
        var step = Step(mode: mode, channel: channel, number: count)
        if mode >= 2 {
            let bits = random.octet(.extensionSlots, step: count)
            step.extensions = [bits & 0x80 != 0, bits & 0x40 != 0]
            let permutations = (1...paths).reduce(1, *)
            step.permutation = random.number(below: UInt8(permutations), .antennaPaths, step: count)
        }
        steps.append(step)
        time -= Self.duration(of: mode, paths: paths)
        count += 1
    }

    /// The mode of the next step after those of mode 0; nil if no channel is left.
    private var nextMode: UInt8? {
        guard !rest.isEmpty || repetitions > 0 else { return nil }
        return mainUntilSub == 0 ? configuration.subMode : configuration.mainMode
    }

    private mutating func note(_ mode: UInt8, _ channel: UInt8) {
        if mainUntilSub != 0 { last = last.suffix(2) + [channel] }
        guard configuration.subMode != LESoundingConfiguration.noSubMode else { return }
        if let left = mainUntilSub, left > 0 {
            mainUntilSub = left - 1
        } else {
            let span = configuration.maxMainModeSteps - configuration.minMainModeSteps + 1
            let more = random.number(below: span, .subMode, step: count)
            mainUntilSub = Int(configuration.minMainModeSteps + more)
        }
    }

    /// Draws the next channel: algorithm #3b.
    private mutating func nextChannel() -> UInt8 {
        if rest.isEmpty {
            rest = random.shuffled(channels, .channels, step: count)
            repetitions -= 1
        }
        return rest.removeFirst()
    }

    private mutating func mode0Channel() -> UInt8 {
        if mode0Rest.isEmpty { mode0Rest = random.shuffled(channels, .mode0Channels, step: count) }
        return mode0Rest.removeFirst()
    }

    // MARK: Times (4.3), in microseconds

    /// The times that every controller supports: to hop, between the packets, between the tones, and of a tone.
    static let (fcs, ip1, ip2, pm) = (150, 145, 145, 40)
    /// Their places in the lists of times.
    static let times = SoundingTimes(ip1: 7, ip2: 7, fcs: 9, pm: 2)
    private static let (sync, ramp, guardTime, calibration) = (44, 5, 10, 80)

    /// Returns the duration of a step, whose tones have an extension slot, on LE 1M. Switching antennas takes no time.
    static func duration(of mode: UInt8, paths: Int) -> Int {
        let packets = 2 * (sync + ramp) + ip1
        let tones = 2 * ((paths + 1) * pm + ramp) + ip2
        switch mode {
        case 0: return fcs + packets + guardTime + calibration
        case 1: return fcs + packets
        case 2: return fcs + tones
        default: return fcs + packets + 2 * guardTime + tones
        }
    }

    /// Returns how long one device sends in a step; the other one listens meanwhile.
    static func sending(in mode: UInt8, paths: Int, as role: LESoundingRole) -> Int64 {
        switch mode {
        case 0: Int64(sync + (role == .reflector ? calibration : 0))
        case 1: Int64(sync)
        case 2: Int64((paths + 1) * pm)
        default: Int64(sync + (paths + 1) * pm)
        }
    }
}
