import EventLoops
import Security

/// Records in memory whose changes can be held.
final class HeldRecords: RecordStorage {
    private let inner = MemoryRecordStorage()
    private var isHeld = false
    private var waiting: [() -> Void] = []

    func load(_ slot: RecordSlot) throws(RecordError) -> [UInt8]? { inner.load(slot) }
    func save(_ octets: [UInt8], in slot: RecordSlot) throws(RecordError) { try inner.save(octets, in: slot) }
    func remove(_ slot: RecordSlot) throws(RecordError) { try inner.remove(slot) }

    func change(
        _ slot: RecordSlot,
        _ content: @escaping RecordContent,
        on loop: any EventLoop,
        completion: @escaping (RecordError?) -> Void
    ) {
        guard isHeld else { return inner.change(slot, content, on: loop, completion: completion) }
        waiting.append { [inner] in inner.change(slot, content, on: loop, completion: completion) }
    }

    /// Holds changes from now on.
    func hold() { isHeld = true }

    /// Performs the held changes, and holds no more.
    func letGo() {
        isHeld = false
        let waiting = waiting
        self.waiting = []
        for change in waiting { change() }
    }
}
