/// Assigns numbers to controllers. A controller's address follows from its number.
///
/// Bonds belong to an address, so a controller that reconnects needs its former number. Released numbers are therefore
/// reused before new ones.
struct ControllerNumbers {
    /// How often each number has been assigned.
    private var uses: [Int] = []
    private var taken: Set<UInt64> = []

    /// Assigns the lowest free number, from 1. `use` counts its assignments, including this one.
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
