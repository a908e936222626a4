import EventLoops
import HCI
import LinkLayer

/// The estimated time of scanning or initiating: the windows that the host asked for, less what other uses take.
struct EstimatedScan {
    /// The windows on one PHY, in microseconds.
    private struct Windows {
        let phy: RadioPHY
        let interval: Int64
        let window: Int64

        var isContinuous: Bool { window >= interval }
        /// The share of time with windows, in thousandths.
        var share: Int64 { window * 1_000 / interval }

        /// Returns the time with windows in the first microseconds.
        func open(in microseconds: Int64) -> Int64 {
            let (whole, rest) = microseconds.quotientAndRemainder(dividingBy: interval)
            return whole * window + min(rest, window)
        }

        /// Creates windows from values in units of 0.625 ms; nil for values that make no sense.
        init?(_ phy: RadioPHY, interval: UInt16, window: UInt16) {
            guard interval > 0, window > 0 else { return nil }
            self.phy = phy
            self.interval = Int64(interval) * 625
            self.window = Int64(min(window, interval)) * 625
        }
    }

    private var windows: [Windows] = []
    private(set) var isActive = false
    /// The share of time in which there are windows, in thousandths.
    private var share: Int64 = 1_000
    private(set) var isEnabled = false
    /// When it was enabled, and the time since then that has been accounted for.
    private var start = Instant.zero
    private var settled: Int64 = 0
    /// The time and the number of events of other uses that have not been accounted for, in thousandths of windows.
    private var owed = (time: Int64(0), events: Int64(0))

    // MARK: Settings

    mutating func configure(_ command: LESetScanParameters) {
        windows = [Windows(.le1M, interval: command.scanInterval, window: command.scanWindow)].compactMap(\.self)
        isActive = command.kind == .active
    }

    mutating func configure(_ command: LESetExtendedScanParameters) {
        windows = [(RadioPHY.le1M, command.le1M), (.codedS8, command.coded)].compactMap { phy, parameters in
            parameters.flatMap { Windows(phy, interval: $0.scanInterval, window: $0.scanWindow) }
        }
        isActive = command.le1M?.kind == .active || command.coded?.kind == .active
    }

    mutating func configure(_ command: LECreateConnection) {
        windows = [Windows(.le1M, interval: command.scanInterval, window: command.scanWindow)].compactMap(\.self)
    }

    mutating func configure(_ command: LEExtendedCreateConnection) {
        windows = [(RadioPHY.le1M, command.le1M), (.codedS8, command.coded)].compactMap { phy, parameters in
            parameters.flatMap { Windows(phy, interval: $0.scanInterval, window: $0.scanWindow) }
        }
    }

    /// Starts or stops.
    ///
    /// - Parameters:
    ///   - duration: The time with windows in each period, in units of 10 ms; 0 for all of the time.
    ///   - period: The period, in units of 1.28 s.
    mutating func setEnabled(_ isEnabled: Bool, at now: Instant, duration: UInt16 = 0, period: UInt16 = 0) {
        self.isEnabled = isEnabled
        (start, settled, owed) = (now, 0, (0, 0))
        let isPaused = duration > 0 && period > 0
        share = isPaused ? min(Int64(duration) * 10_000 / (Int64(period) * 1_280), 1_000) : 1_000
    }

    // MARK: Time

    /// Returns what was spent since the last call.
    ///
    /// - Parameters:
    ///   - busy: The time that uses of higher priority took since the last call, in microseconds.
    ///   - events: The number of their events.
    mutating func settle(to now: Instant, besides busy: Int64, events: Int64) -> RadioTime {
        var time = RadioTime()
        guard isEnabled else { return time }
        let (before, after) = (settled, now.microseconds(since: start))
        settled = after
        for windows in windows {
            let count = after / windows.interval - before / windows.interval + (before == 0 && after > 0 ? 1 : 0)
            let listening = windows.open(in: after) - windows.open(in: before)
            time.listen(listening * share / 1_000, for: windows.phy, starts: count * share / 1_000)
            if !windows.isContinuous { time.events += count * share / 1_000 }
            owed.time += busy * windows.share
            owed.events += events * windows.share
        }
        if before == 0, after > 0, windows.allSatisfy(\.isContinuous) { time.events += 1 }
        giveWay(&time)
        return time
    }

    /// Takes off what other uses took.
    private mutating func giveWay(_ time: inout RadioTime) {
        guard let phy = windows.first?.phy else { return }
        let taken = min(owed.time / 1_000, time.air.listening)
        owed.time -= taken * 1_000
        let interruptions = owed.events / 1_000
        owed.events -= interruptions * 1_000
        time.listen(-taken, for: phy, starts: interruptions)
        time.events += interruptions
    }

    /// Returns what a scan request and the wait for its response cost beyond listening.
    static func request(on phy: RadioPHY) -> RadioTime {
        var time = RadioTime()
        let sending = phy.airTimeMicroseconds(octets: 2 + 12)
        time.send(sending, on: phy)
        time.listen(-sending, for: phy, starts: 2)
        return time
    }
}
