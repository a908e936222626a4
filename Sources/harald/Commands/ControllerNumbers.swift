/// The numbers of controllers, which are their addresses. Bonds belong to an address: who comes back has to find his, and so a
/// number that is given back is given out before a new one.
struct ControllerNumbers {
    /// How often each number has been given out.
    private var uses: [Int] = []
    private var taken: Set<UInt64> = []

    /// The lowest free number, from 1, and how often it has been given out by now.
    mutating func take() -> (number: UInt64, use: Int) {
        let index = uses.indices.first { !taken.contains(UInt64($0) + 1) } ?? uses.endIndex
        if index == uses.endIndex { uses.append(0) }
        uses[index] += 1
        taken.insert(UInt64(index) + 1)
        return (UInt64(index) + 1, uses[index])
    }

    mutating func giveBack(_ number: UInt64) {
        taken.remove(number)
    }
}
