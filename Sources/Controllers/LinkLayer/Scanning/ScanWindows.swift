import EventLoops
import HCI

/// The scan windows on one PHY: when the radio listens, and on which primary channel (Core Vol 6 Part B 4.4.3). Used
/// for scanning and initiating.
struct ScanWindows: Hashable {
    /// The PHY: 1M or Coded.
    let phy: LEPHY
    /// The scan interval, in microseconds.
    let interval: Int64
    /// The scan window, in microseconds.
    let window: Int64
    /// The delay of the first window after the start, in microseconds.
    var delay: Int64 = 0
    /// The channel of the window. The windows use the three channels in turn.
    private(set) var channel: UInt8 = 37

    /// Creates windows from values in units of 0.625 ms.
    init(phy: LEPHY = .le1M, interval: UInt16, window: UInt16) {
        self.phy = phy
        self.interval = Int64(interval) * 625
        self.window = Int64(window) * 625
    }

    /// Arranges the windows on two PHYs. Those of the second PHY follow those of the first or, if both do not fit into
    /// the interval, take half of their time. Nil stands for a PHY that is not used.
    static func inTurn(_ first: ScanWindows?, _ second: ScanWindows?) -> [ScanWindows] {
        guard let first, var second else { return [first, second].compactMap(\.self) }
        let fits = first.window + second.window <= first.interval
        second.delay = fits ? first.window : first.interval / 2
        return [first, second]
    }

    /// Whether the window covers the whole interval.
    var isContinuous: Bool { window >= interval }

    /// Moves on to the channel of a later window.
    mutating func advance(_ count: Int) {
        channel = 37 + (channel - 37 + UInt8(count % 3)) % 3
    }
}
