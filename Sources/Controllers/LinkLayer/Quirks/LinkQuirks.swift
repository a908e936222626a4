/// How often the link layer has misbehaved on purpose. The quirks of the transport are added by ``QuirkLine``.
struct LinkQuirks {
    /// The number of additional version indications per link.
    static let repeatedVersions = 3
    /// The time between two version indications.
    static let versionPause = Duration.milliseconds(100)

    private var versionsRepeated = 0
    /// The number of connection requests due, and how many of them were lost on purpose.
    private var requests = (made: 0, lost: 0)

    /// The number of times for each quirk that has shown itself.
    var shown: [ControllerQuirk: Int] {
        var shown: [ControllerQuirk: Int] = [:]
        if versionsRepeated > 0 { shown[.versionRepeated] = versionsRepeated }
        if requests.lost > 0 { shown[.connectionsFail] = requests.lost }
        return shown
    }

    /// Counts a version indication, although the specification allows only one (Core Vol 6 Part B 5.1.5).
    mutating func noteRepeatedVersion() {
        versionsRepeated += 1
    }

    /// Whether the connection request that is due is lost: with ``ControllerQuirk/connectionsFail``, the first of every
    /// ten.
    mutating func losesRequest() -> Bool {
        defer { requests.made += 1 }
        guard requests.made.isMultiple(of: 10) else { return false }
        requests.lost += 1
        return true
    }
}
