import EventLoops
import Security

/// A storage of records whose changes wait until the test ends them, as those of a slow disk do.
final class HeldStorage: RecordStorage {
    private struct Change {
        let slot: RecordSlot
        let content: RecordContent
        let completion: (RecordError?) -> Void
    }

    private(set) var slots: [RecordSlot: [UInt8]] = [:]
    private var changes: [Change] = []

    var isChanging: Bool { !changes.isEmpty }

    func load(_ slot: RecordSlot) throws(RecordError) -> [UInt8]? { slots[slot] }

    func save(_ octets: [UInt8], in slot: RecordSlot) throws(RecordError) { slots[slot] = octets }

    func remove(_ slot: RecordSlot) throws(RecordError) { slots[slot] = nil }

    func change(
        _ slot: RecordSlot,
        _ content: @escaping RecordContent,
        on loop: any EventLoop,
        completion: @escaping (RecordError?) -> Void
    ) {
        changes.append(Change(slot: slot, content: content, completion: completion))
    }

    func finish(within time: Duration) -> Bool { changes.isEmpty }

    /// Ends the oldest change.
    func endChange(_ succeeds: Bool) {
        guard !changes.isEmpty else { return }
        let change = changes.removeFirst()
        guard succeeds else { return change.completion(.unavailable(reason: "the disk is full")) }
        write(change)
        change.completion(nil)
    }

    /// The computer stops. Each change that was in progress has reached the disk, or none has.
    func crash(afterWriting isWritten: Bool) {
        if isWritten { changes.forEach(write) }
        changes = []
    }

    private func write(_ change: Change) {
        if let content = try? change.content() { slots[change.slot] = content } else { slots[change.slot] = nil }
    }
}
