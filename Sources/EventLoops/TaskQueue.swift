import HeapModule

/// The timers of a loop: a heap by deadline, and by order of scheduling among equal deadlines.
package struct TaskQueue {
    private struct Entry: Comparable {
        var deadline: Instant
        /// How many tasks were scheduled before.
        var order: UInt64
        var task: ScheduledTask

        static func < (a: Entry, b: Entry) -> Bool {
            a.deadline == b.deadline ? a.order < b.order : a.deadline < b.deadline
        }
    }

    /// A task with its time. A struct: a closure within an optional, a tuple or a collection is wrapped into another one, at
    /// the cost of an allocation.
    package struct WaitingTask {
        /// When it is due.
        package let deadline: Instant
        /// What is to be done.
        package let run: () -> Void
    }

    /// A place for a task. The generation tells those that have it one after the other apart.
    private struct Slot {
        var task: WaitingTask?
        var generation: UInt64 = 0
    }

    /// The lower bits of a task's number are its slot, the others the slot's generation.
    private static let slotBits: UInt64 = 24

    private var heap = Heap<Entry>()
    // A cancelled task leaves its slot at once and its heap entry when that comes to the top.
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var scheduled: UInt64 = 0

    /// An empty queue.
    package init() {}

    /// Tasks that wait.
    package var count: Int { slots.count - freeSlots.count }

    /// Adds a task.
    package mutating func add(at deadline: Instant, _ task: @escaping () -> Void) -> ScheduledTask {
        let slot = freeSlots.popLast() ?? slots.count
        precondition(slot >> Self.slotBits == 0, "sixteen million timers are a loop that never ends")
        if slot == slots.count { slots.append(Slot()) }
        slots[slot].task = WaitingTask(deadline: deadline, run: task)
        let name = ScheduledTask(id: slots[slot].generation << Self.slotBits | UInt64(slot))
        heap.insert(Entry(deadline: deadline, order: scheduled, task: name))
        scheduled += 1
        return name
    }

    /// Drops a task if it is still there.
    ///
    /// - Returns: The task. With it goes what it held, whose end may cancel other tasks: let go of it when the queue is
    ///   free for that.
    @discardableResult
    package mutating func cancel(_ task: ScheduledTask) -> WaitingTask? {
        guard let body = take(task) else { return nil }
        // Long timers that are set and cancelled all the time (ATT's 30 s) must not pile up in the heap.
        if heap.count > 64, heap.count > count * 4 {
            heap = Heap(heap.unordered.filter { slot(of: $0.task) != nil })
        }
        return body
    }

    /// When the next task is due.
    package mutating func nextDeadline() -> Instant? {
        while let entry = heap.min {
            if slot(of: entry.task) != nil { return entry.deadline }
            heap.removeMin()
        }
        return nil
    }

    /// Takes the next task if it is due at `limit` or before.
    package mutating func popNext(dueBy limit: Instant) -> WaitingTask? {
        guard let deadline = nextDeadline(), deadline <= limit, let entry = heap.popMin() else { return nil }
        return take(entry.task)
    }

    /// Where a task waits; nil when it has run or was dropped.
    private func slot(of task: ScheduledTask) -> Int? {
        let slot = Int(truncatingIfNeeded: task.id & (1 << Self.slotBits - 1))
        guard slot < slots.count, slots[slot].generation == task.id >> Self.slotBits, slots[slot].task != nil else {
            return nil
        }
        return slot
    }

    /// Takes a task out of its slot; nil when it has run or was dropped.
    private mutating func take(_ task: ScheduledTask) -> WaitingTask? {
        guard let slot = slot(of: task) else { return nil }
        let body = slots[slot].task
        slots[slot].task = nil
        // A slot comes round after a million millions of tasks.
        slots[slot].generation = (slots[slot].generation + 1) & (1 << (64 - Self.slotBits) - 1)
        freeSlots.append(slot)
        return body
    }
}
