/// Shortens a list that fails (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002).
public enum StepReduction {
    /// Removes elements that the failure does not depend on: first halves, then ever smaller parts, until no single
    /// element can be removed.
    ///
    /// - Parameters:
    ///   - list: A list that fails.
    ///   - width: The number of candidates to try at once.
    ///   - firstFailing: Returns the index of the first of several lists that fails; nil if none does.
    public static func reduced<Element>(
        _ list: [Element],
        width: Int = 1,
        _ firstFailing: ([[Element]]) async throws -> Int?
    ) async rethrows -> [Element] {
        var list = list
        var size = max(list.count / 2, 1)
        while !list.isEmpty {
            var (isShorter, start) = (false, 0)
            while start < list.count {
                let starts = Array(stride(from: start, to: list.count, by: size).prefix(width))
                let candidates = starts.map { Array(list[..<$0] + list[min($0 + size, list.count)...]) }
                if let index = try await firstFailing(candidates) {
                    // What was before the removed part is still there.
                    (list, isShorter, start) = (candidates[index], true, start + index * size)
                } else {
                    start += size * starts.count
                }
            }
            if size == 1, !isShorter { break }
            size = max(size / 2, 1)
        }
        return list
    }
}
