import ServiceMessages

/// The pending numbered requests to one peripheral. Each is completed once: by its response, or when the connection
/// ends (behaviour 15.11).
struct RequestLedger {
    typealias Completion = @Sendable (Result<PeerEvent, any Error>) -> Void

    /// The maximum number of pending requests, the same as on a link.
    static let maximum = 1_024

    private var waiting: [UInt32: Completion] = [:]
    private var last: UInt32 = 0

    /// Adds a request and returns its number, or nil if there are too many.
    mutating func add(_ completion: @escaping Completion) -> UInt32? {
        guard waiting.count < Self.maximum else { return nil }
        repeat { last &+= 1 } while last == 0 || waiting[last] != nil
        waiting[last] = completion
        return last
    }

    /// Removes the request with this number and returns its completion.
    mutating func remove(_ number: UInt32) -> Completion? { waiting.removeValue(forKey: number) }

    /// Removes all requests and returns their completions in the order of asking.
    mutating func removeAll() -> [Completion] {
        defer { waiting = [:] }
        // Sorted by the distance behind the last number, since numbers wrap around.
        return waiting.sorted { last &- $0.key > last &- $1.key }.map(\.value)
    }
}
