import EventLoops
import LinkLayer

/// A simulation of a crowd, from which the statistics are taken.
struct CrowdSimulation {
    private(set) var observers: [CrowdObserver] = []
    /// The number of events of each device.
    private(set) var events: [Int]
    /// The number of PDUs of each device that nothing has disturbed, on all channels and on the first one.
    private(set) var survivors: [Int]
    private(set) var firstSurvivors: [Int]

    private let groups: [AdvertiserGroup]
    private var membership: [Int] = []
    /// The start of the next event of each device, in microseconds.
    private var starts: [Int64] = []
    private var wheel: EventWheel
    private var channels = [ChannelSweep](repeating: ChannelSweep(), count: 3)
    private let random: RandomSource
    private let duration: Int64

    init(_ configuration: CrowdConfiguration, scans: [ScanKind]) {
        groups = configuration.groups
        duration = Int64(configuration.seconds) * 1_000_000
        random = RandomSource(seed: configuration.seed)
        let devices = groups.reduce(0) { $0 + $1.count }
        events = [Int](repeating: 0, count: devices)
        survivors = events
        firstSurvivors = events
        let longest = groups.map(\.interval).max() ?? 0
        wheel = EventWheel(devices: devices, longest: longest + Int64(LegacyEventTiming.maximumDelay))
        for (number, group) in groups.enumerated() {
            for _ in 0..<group.count {
                let start = group.firstEvent(random.unit())
                wheel.schedule(starts.count, at: start)
                starts.append(start)
                membership.append(number)
            }
        }
        for scan in scans {
            for _ in 0..<configuration.observers {
                let phase = Int64(random.below(UInt64(scan.interval) * 3))
                observers.append(CrowdObserver(scan, phase: phase, devices: devices))
            }
        }
    }

    mutating func run() {
        var due: [Int] = []
        for slot in stride(from: 0, to: duration, by: Int(EventWheel.slot)) {
            due.removeAll(keepingCapacity: true)
            wheel.remove(at: slot, into: &due)
            for device in due { advertise(device) }
            settle(before: slot + EventWheel.slot)
        }
        // No further event starts. The last frames on channels 38 and 39 are beyond the last slot.
        settle(before: .max)
        for channel in 0..<3 {
            if let frame = channels[channel].finish() { receive(frame, channel) }
        }
    }

    private mutating func advertise(_ device: Int) {
        let group = groups[membership[device]]
        let start = starts[device]
        for channel in 0..<3 {
            let begin = start + Int64(channel) * group.timing.spacing
            channels[channel].add(CrowdFrame(start: begin, end: begin + group.timing.airTime, device: device))
        }
        events[device] += 1
        starts[device] = start + group.interval + Int64(random.below(LegacyEventTiming.maximumDelay))
        wheel.schedule(device, at: starts[device])
    }

    private mutating func settle(before limit: Int64) {
        for channel in 0..<3 {
            for frame in channels[channel].settle(before: limit) { receive(frame, channel) }
        }
    }

    private mutating func receive(_ frame: CrowdFrame, _ channel: Int) {
        survivors[frame.device] += 1
        if channel == 0 { firstSurvivors[frame.device] += 1 }
        for index in observers.indices { observers[index].receive(frame, channel: channel) }
    }
}
