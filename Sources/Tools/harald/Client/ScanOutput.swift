import BluetoothTypes
import Foundation

/// The contents of a scan's output, and its duration.
struct ScanPlan: Sendable {
    var seconds: Double
    var until: DeviceSelector?
    /// Prints devices that advertise one of these services only. All, if it is empty.
    var services: [BluetoothUUID] = []
    var isRaw = false
}

/// Prints the advertisements of a scan whenever they change.
struct ScanOutput {
    private enum Sender: Hashable {
        case identifier(UUID)
        /// An advertising set, by its address and number. An anonymous one has no address.
        case set(BluetoothAddress?, UInt8?)
    }

    /// The number of senders whose last advertisement is remembered. Repetitions of further ones are printed.
    private static let maximumRemembered = 1_000

    let report: ToolReport
    private let plan: ScanPlan
    private var last: [Sender: ShownAdvertisement] = [:]
    private var heard = ScannedDevices()

    init(_ plan: ScanPlan, _ report: ToolReport) {
        self.plan = plan
        self.report = report
    }

    /// Prints an advertisement unless its sender repeats it. Returns whether the scan stops at its device.
    mutating func show(_ advertisement: ShownAdvertisement) -> Bool {
        let device = advertisement.sender
        let sender = device.identifier.map { Sender.identifier($0) } ?? .set(device.address, advertisement.packet?.set)
        guard !advertisement.says(theSameAs: last[sender]) else { return false }
        if last.count < Self.maximumRemembered { last[sender] = advertisement }
        report.show(advertisement, as: advertisement.line(isRaw: plan.isRaw))
        heard.add(device)
        return plan.until?.fit(device) != nil
    }

    /// Throws ``ToolError/noSuchDevice(_:_:seconds:found:)`` if the scan was to stop at a device, as its time is over.
    func end() throws(ToolError) {
        if let until = plan.until { throw .noSuchDevice(until, .scan, seconds: plan.seconds, found: heard) }
    }
}
