import HeapModule

/// The timers of a loop: a heap ordered by deadline, then by order of scheduling.
package struct TaskQueue {
    private struct Entry: Comparable {
        var deadline: Instant
        /// The number of tasks scheduled before this one.
        var order: UInt64
        var task: ScheduledTask

        static func < (a: Entry, b: Entry) -> Bool {
            a.deadline == b.deadline ? a.order < b.order : a.deadline < b.deadline
        }
    }

    /// A task with its deadline.
    ///
    /// This is a struct because Swift wraps a closure inside an optional, a tuple or a collection into another closure,
    /// which costs an allocation.
    package struct WaitingTask {
        package let deadline: Instant
        package let run: () -> Void
    }

    /// Storage for a task. The generation distinguishes successive tasks in the same slot.
    private struct Slot {
        var task: WaitingTask?
        var generation: UInt64 = 0
    }

    /// The low bits of a task's number are its slot, the others the slot's generation.
    private static let slotBits: UInt64 = 24

    private var heap = Heap<Entry>()
    // Cancelling frees the task's slot at once. The heap entry goes when it reaches the top.
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var scheduled: UInt64 = 0

    package init() {}

    package var count: Int { slots.count - freeSlots.count }

    package mutating func add(at deadline: Instant, _ task: @escaping () -> Void) -> ScheduledTask {
        let slot = freeSlots.popLast() ?? slots.count
        precondition(slot >> Self.slotBits == 0, "more than 2^24 pending timers")
        if slot == slots.count { slots.append(Slot()) }
        slots[slot].task = WaitingTask(deadline: deadline, run: task)
        let name = ScheduledTask(id: slots[slot].generation << Self.slotBits | UInt64(slot))
        heap.insert(Entry(deadline: deadline, order: scheduled, task: name))
        scheduled += 1
        return name
    }

    /// Removes a task if it is still pending.
    ///
    /// - Returns: The removed task. Releasing it may run deinitializers that cancel other tasks, so release it outside
    ///   of any access to this queue.
    @discardableResult
    package mutating func cancel(_ task: ScheduledTask) -> WaitingTask? {
        guard let body = take(task) else { return nil }
        // Long timers that are set and cancelled continually (ATT's 30 s) must not accumulate in the heap.
        if heap.count > 64, heap.count > count * 4 {
            heap = Heap(heap.unordered.filter { slot(of: $0.task) != nil })
        }
        return body
    }

    package mutating func nextDeadline() -> Instant? {
        while let entry = heap.min {
            if slot(of: entry.task) != nil { return entry.deadline }
            heap.removeMin()
        }
        return nil
    }

    /// Returns the deadline of the task after `task`, the latest instant if there is none; nil if `task` is not the next
    /// one. Without `task`, that of the next one.
    package mutating func deadline(behind task: ScheduledTask?) -> Instant? {
        guard let task else { return nextDeadline() ?? Instant(nanoseconds: .max) }
        guard nextDeadline() != nil, let first = heap.min, first.task == task else { return nil }
        heap.removeMin()
        defer { heap.insert(first) }
        return nextDeadline() ?? Instant(nanoseconds: .max)
    }

    /// Removes and returns the next task if it is due at `limit` or before.
    package mutating func popNext(dueBy limit: Instant) -> WaitingTask? {
        guard let deadline = nextDeadline(), deadline <= limit, let entry = heap.popMin() else { return nil }
        return take(entry.task)
    }

    /// Returns the slot of a pending task; nil if the task has run or was cancelled.
    private func slot(of task: ScheduledTask) -> Int? {
        let slot = Int(truncatingIfNeeded: task.id & (1 << Self.slotBits - 1))
        guard slot < slots.count, slots[slot].generation == task.id >> Self.slotBits, slots[slot].task != nil else {
            return nil
        }
        return slot
    }

    /// Removes a task from its slot; nil if it has run or was cancelled.
    private mutating func take(_ task: ScheduledTask) -> WaitingTask? {
        guard let slot = slot(of: task) else { return nil }
        let body = slots[slot].task
        slots[slot].task = nil
        // The generation wraps around after 2^40 tasks in one slot.
        slots[slot].generation = (slots[slot].generation + 1) & (1 << (64 - Self.slotBits) - 1)
        freeSlots.append(slot)
        return body
    }
}
