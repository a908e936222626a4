import EventLoops
import Foundation
import HCI

/// Counts a device's HCI packets and, if asked to, writes them as a btsnoop file.
final class PacketLog {
    private(set) var toController = 0
    private(set) var toHost = 0
    private let writer: BTSnoopWriter
    private let write: (@Sendable ([UInt8]) -> Void)?

    init(calendarStart: TimeInterval, write: (@Sendable ([UInt8]) -> Void)?) {
        writer = BTSnoopWriter(unixMicrosecondsAtZero: Int64(calendarStart * 1_000_000))
        self.write = write
        write?(writer.header)
    }

    func record(_ packet: HCIPacket, _ direction: HCIDirection, _ instant: Instant) {
        switch direction {
        case .hostToController: toController += 1
        case .controllerToHost: toHost += 1
        }
        write?(writer.record(packet, direction, at: instant))
    }
}
