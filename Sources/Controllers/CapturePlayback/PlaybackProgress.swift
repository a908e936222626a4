import HCI

/// How far a playback has come: which steps have happened and when, and which of the host are still expected.
struct PlaybackProgress: Sendable {
    /// The PDUs of a channel, or the commands of an opcode.
    enum Group: Hashable, Sendable {
        case commands(Opcode)
        case channel(link: Int, UInt16)
    }

    /// When each step has happened, in nanoseconds.
    private(set) var done: [Int64?]
    /// The last step of each lane that has happened.
    private(set) var last: [Lane: Int] = [:]
    /// The step that has happened last, on any lane.
    private(set) var latest: Int?
    /// The packets of the host that have not come, in their order.
    private(set) var expected: [Group: [Int]] = [:]
    /// Those that have come.
    private(set) var matched: [Group: [Int]] = [:]
    /// The place of each step in its lane.
    let places: [Int]
    /// The commands that start an activity and have not come.
    private(set) var starts: [CommandFamily: [Int]] = [:]

    init(_ script: CaptureScript) {
        done = Array(repeating: nil, count: script.steps.count)
        var places = Array(repeating: 0, count: script.steps.count)
        for steps in script.lanes.values { for (place, step) in steps.enumerated() { places[step] = place } }
        self.places = places
        for (index, step) in script.steps.enumerated() {
            guard let sent = step.sent else { continue }
            expected[Self.group(of: sent, step.lane), default: []].append(index)
            guard case .command(let opcode) = sent.content, let family = CommandFamily(opcode) else { continue }
            if family.starts(sent.packet) { starts[family, default: []].append(index) }
        }
    }

    static func group(of sent: CaptureScript.Sent, _ lane: Lane) -> Group {
        switch (sent.content, lane) {
        case (.command(let opcode), _): .commands(opcode)
        case (.pdu(let pdu), .link(let link)): .channel(link: link, pdu.channel)
        case (.pdu(let pdu), .device): .channel(link: -1, pdu.channel)
        }
    }

    /// Records that a packet of the host has come. Returns whether a later one of its group came before.
    mutating func match(_ step: Int, in group: Group) -> Bool {
        expected[group]?.removeAll { $0 == step }
        let isLate = (matched[group] ?? []).contains { $0 > step }
        matched[group, default: []].append(step)
        return isLate
    }

    mutating func happened(_ step: Int, _ lane: Lane, at time: Int64) {
        done[step] = time
        latest = step
        last[lane] = max(last[lane] ?? step, step)
        for family in starts.keys { starts[family]?.removeAll { $0 == step } }
    }
}
