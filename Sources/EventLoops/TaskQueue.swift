import HeapModule

/// The timers of a loop: a heap by deadline, and by order of scheduling among equal deadlines.
public struct TaskQueue {
    private struct Entry: Comparable {
        var deadline: Instant
        var id: UInt64

        static func < (a: Entry, b: Entry) -> Bool {
            a.deadline == b.deadline ? a.id < b.id : a.deadline < b.deadline
        }
    }

    private var heap = Heap<Entry>()
    // A cancelled task leaves this table at once and its heap entry when that comes to the top.
    private var tasks: [UInt64: () -> Void] = [:]
    private var nextID: UInt64 = 0

    /// An empty queue.
    public init() {}

    /// Tasks that wait.
    public var count: Int { tasks.count }

    /// Adds a task.
    public mutating func add(at deadline: Instant, _ task: @escaping () -> Void) -> ScheduledTask {
        let id = nextID
        nextID += 1
        tasks[id] = task
        heap.insert(Entry(deadline: deadline, id: id))
        return ScheduledTask(id: id)
    }

    /// Drops a task if it is still there.
    public mutating func cancel(_ task: ScheduledTask) {
        guard tasks.removeValue(forKey: task.id) != nil else { return }
        // Long timers that are set and cancelled all the time (ATT's 30 s) must not pile up in the heap.
        if heap.count > 64, heap.count > tasks.count * 4 {
            heap = Heap(heap.unordered.filter { tasks[$0.id] != nil })
        }
    }

    /// When the next task is due.
    public mutating func nextDeadline() -> Instant? {
        while let entry = heap.min {
            if tasks[entry.id] != nil { return entry.deadline }
            heap.removeMin()
        }
        return nil
    }

    /// Takes the next task if it is due at `limit` or before.
    public mutating func popNext(dueBy limit: Instant) -> (deadline: Instant, task: () -> Void)? {
        guard let deadline = nextDeadline(), deadline <= limit, let entry = heap.popMin() else { return nil }
        guard let task = tasks.removeValue(forKey: entry.id) else { return nil }
        return (deadline, task)
    }
}
