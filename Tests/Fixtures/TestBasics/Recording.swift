import Synchronization

/// A file that is written to memory, such as a capture.
package final class Recording: Sendable {
    private let octets = Mutex<[UInt8]>([])

    package init() {}

    package var bytes: [UInt8] { octets.withLock { $0 } }

    @Sendable package func add(_ bytes: [UInt8]) {
        octets.withLock { $0 += bytes }
    }
}
