/// A device that scans passively, without filtering duplicates. It uses the three primary channels in turn, one in each
/// window (Core Vol 6 Part B 4.4.3), and receives a frame that starts within a window to its end, as the virtual
/// controller does.
struct CrowdObserver {
    let scan: ScanKind
    /// How far the first scan interval has advanced when the simulation starts, in microseconds.
    private let phase: Int64
    private(set) var reports = 0
    /// When each device was discovered, in microseconds; -1 if it was not.
    private(set) var discoveries: [Int64]

    init(_ scan: ScanKind, phase: Int64, devices: Int) {
        self.scan = scan
        self.phase = phase
        discoveries = [Int64](repeating: -1, count: devices)
    }

    /// Handles a frame on the channel with this index, 0 to 2, that nothing has disturbed.
    mutating func receive(_ frame: CrowdFrame, channel: Int) {
        let elapsed = frame.start + phase
        guard elapsed % scan.interval < scan.window, Int(elapsed / scan.interval % 3) == channel else { return }
        reports += 1
        if discoveries[frame.device] < 0 { discoveries[frame.device] = frame.end }
    }
}
