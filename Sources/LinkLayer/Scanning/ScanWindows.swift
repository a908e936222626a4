import EventLoops
import HCI

/// Scan windows on one PHY: when the radio listens, and on which primary channel (Core Vol 6 Part B 4.4.3). Scanning and
/// initiating both keep to them.
struct ScanWindows: Hashable {
    /// The PHY that is listened to: 1M or Coded.
    let phy: LEPHY
    /// From one window to the next, in microseconds.
    let interval: Int64
    /// How long the radio listens, in microseconds.
    let window: Int64
    /// How long after the beginning the first window opens, in microseconds.
    var delay: Int64 = 0
    /// The channel of the window: the three in turn.
    private(set) var channel: UInt8 = 37

    /// Windows in units of 0.625 ms.
    init(phy: LEPHY = .le1M, interval: UInt16, window: UInt16) {
        self.phy = phy
        self.interval = Int64(interval) * 625
        self.window = Int64(window) * 625
    }

    /// The windows on two PHYs: those of the second open behind those of the first, or take half of their time when
    /// there is no room for both.
    static func inTurn(_ first: ScanWindows, _ second: ScanWindows) -> [ScanWindows] {
        var second = second
        let fits = first.window + second.window <= first.interval
        second.delay = fits ? first.window : first.interval / 2
        return [first, second]
    }

    /// Whether the radio listens all the time.
    var isContinuous: Bool { window >= interval }

    /// The next window has the next channel.
    mutating func advance() {
        channel = channel == 39 ? 37 : channel + 1
    }
}
