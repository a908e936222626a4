enum Shrinking {
    /// Removes elements that `fails` does not depend on: first halves, then ever smaller parts, until no single element
    /// can be removed (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002).
    static func shrunk<Element>(_ list: [Element], while fails: ([Element]) -> Bool) -> [Element] {
        var list = list
        var size = max(list.count / 2, 1)
        while !list.isEmpty {
            var (isShorter, start) = (false, 0)
            while start < list.count {
                let rest = Array(list[..<start] + list[min(start + size, list.count)...])
                if fails(rest) {
                    (list, isShorter) = (rest, true)
                } else {
                    start += size
                }
            }
            if size == 1, !isShorter { break }
            size = max(size / 2, 1)
        }
        return list
    }
}
