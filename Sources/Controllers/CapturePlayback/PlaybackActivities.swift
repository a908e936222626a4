/// The activities of the host during a playback: scanning, advertising and connecting.
struct PlaybackActivities: Sendable {
    /// How early a host may end a scan, in nanoseconds. The reports of the capture until then are not told as left out,
    /// since the times of a playback are never quite those of the capture.
    private static let tolerance: Int64 = 1_000_000_000

    private var active: Set<CommandFamily> = []
    private var stopped: [CommandFamily: Int64] = [:]
    /// The steps that came while the host had stopped their activity.
    private var held: [CommandFamily: [Int]] = [:]
    /// Those that came soon after that.
    private var tolerated: Set<Int> = []
    /// How far the steps of each activity have been played.
    private var places: [CommandFamily: Int] = [:]

    func isActive(_ family: CommandFamily) -> Bool { active.contains(family) }

    /// Starts an activity. Returns the steps that have waited for it.
    mutating func start(_ family: CommandFamily) -> [Int] {
        active.insert(family)
        return held.removeValue(forKey: family) ?? []
    }

    mutating func stop(_ family: CommandFamily, at time: Int64) {
        if active.remove(family) != nil { stopped[family] = time }
    }

    /// Keeps a step until the host starts its activity again.
    mutating func hold(_ step: Int, of family: CommandFamily, at time: Int64) {
        held[family, default: []].append(step)
        if family == .scan, let stop = stopped[family], time - stop <= Self.tolerance { tolerated.insert(step) }
    }

    /// Whether a step came so soon after the end of its activity that the difference is one of time alone.
    func isTolerated(_ step: Int) -> Bool { tolerated.contains(step) }

    /// Returns the next of an activity's steps that is still to come.
    mutating func next(_ family: CommandFamily, in steps: [Int], where isOpen: (Int) -> Bool) -> Int? {
        var place = places[family] ?? 0
        while place < steps.count, !isOpen(steps[place]) { place += 1 }
        places[family] = place
        return place < steps.count ? steps[place] : nil
    }
}
