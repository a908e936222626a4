import BluetoothService

/// Requests with a number that are under way to one peripheral. Each is settled once: by its answer, or when the connection ends
/// (behaviour 15.11).
struct RequestLedger {
    typealias Completion = @Sendable (Result<PeerEvent, any Error>) -> Void

    /// Requests under way at a time, as many as wait on a link.
    static let maximum = 1_024

    private var waiting: [UInt32: Completion] = [:]
    private var last: UInt32 = 0

    /// Enters a request, and gives its number; nil when there are too many.
    mutating func add(_ completion: @escaping Completion) -> UInt32? {
        guard waiting.count < Self.maximum else { return nil }
        repeat { last &+= 1 } while last == 0 || waiting[last] != nil
        waiting[last] = completion
        return last
    }

    /// Who waits for the answer with this number, and no longer.
    mutating func remove(_ number: UInt32) -> Completion? { waiting.removeValue(forKey: number) }

    /// All that wait, in the order of asking, and no longer.
    mutating func removeAll() -> [Completion] {
        defer { waiting = [:] }
        // The distance behind the last number: numbers begin again.
        return waiting.sorted { last &- $0.key > last &- $1.key }.map(\.value)
    }
}
