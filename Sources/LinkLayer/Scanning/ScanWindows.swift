import EventLoops

/// Scan windows: when the radio listens, and on which primary channel (Core Vol 6 Part B 4.4.3). Scanning and initiating
/// both keep to them.
struct ScanWindows: Hashable {
    /// From one window to the next, in microseconds.
    var interval: Int64
    /// How long the radio listens, in microseconds.
    var window: Int64
    /// The channel of the window: the three in turn.
    private(set) var channel: UInt8 = 37

    /// Windows in units of 0.625 ms.
    init(interval: UInt16, window: UInt16) {
        self.interval = Int64(interval) * 625
        self.window = Int64(window) * 625
    }

    /// Whether the radio listens all the time.
    var isContinuous: Bool { window >= interval }

    /// The next window has the next channel.
    mutating func advance() {
        channel = channel == 39 ? 37 : channel + 1
    }
}
