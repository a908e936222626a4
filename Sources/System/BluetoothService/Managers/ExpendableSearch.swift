/// Finds the oldest expendable element of a queue.
///
/// The search continues where the last one ended, so that a full queue is not searched again for each element. The
/// owner of the queue reports removals.
struct ExpendableSearch {
    /// The number of elements at the head of the queue that are known not to be expendable.
    private(set) var searched = 0

    /// Returns the index of the oldest expendable element, or nil if there is none. Indices begin at 0.
    mutating func first<Queue: RandomAccessCollection>(
        in queue: Queue,
        where isExpendable: (Queue.Element) -> Bool
    ) -> Int? where Queue.Index == Int {
        while searched < queue.count {
            if isExpendable(queue[searched]) { return searched }
            searched += 1
        }
        return nil
    }

    mutating func removed(at index: Int) {
        if index < searched { searched -= 1 }
    }

    /// Called after elements were removed at the end of the queue, before any other is appended.
    mutating func shortened(to count: Int) {
        searched = min(searched, count)
    }

    /// Called after elements were removed anywhere in the queue.
    mutating func restart() {
        searched = 0
    }
}
