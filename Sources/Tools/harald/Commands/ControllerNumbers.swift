/// Assigns numbers to controllers. A controller's address follows from its number.
///
/// Bonds belong to an address, so a controller that reconnects needs its former number. Released numbers are therefore
/// reused before new ones.
struct ControllerNumbers {
    private var taken: Set<UInt64> = []

    /// Assigns the lowest free number, from 1.
    mutating func take() -> UInt64 {
        var number: UInt64 = 1
        while taken.contains(number) { number += 1 }
        taken.insert(number)
        return number
    }

    mutating func giveBack(_ number: UInt64) {
        taken.remove(number)
    }
}
