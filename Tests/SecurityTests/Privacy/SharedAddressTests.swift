import BluetoothTypes
import EventLoops
import Testing

@testable import Security

@Suite struct SharedAddressTests {
    private func drawn(_ number: UInt64) -> SharedAddress.Drawn {
        SharedAddress.Drawn(address: OwnAddress(BluetoothAddress(number, kind: .randomDevice)), kind: .resolvable)
    }

    @Test func aControllerThatWasResetGetsTheAddressInUseAgain() {
        var shared = SharedAddress()
        shared.adopt(drawn(1))
        shared.planAgain()
        let planned = shared.takePlanned()
        #expect(planned?.address == drawn(1).address)
        let afterwards = shared.takePlanned()
        #expect(afterwards == nil)
    }

    @Test func anotherPlannedAddressTakesPrecedence() {
        var shared = SharedAddress()
        shared.adopt(drawn(1))
        shared.plan(drawn(2))
        shared.planAgain()
        let planned = shared.takePlanned()
        #expect(planned?.address == drawn(2).address)
    }

    // Core Vol 6 Part B 1.3.2: 46 random bits.
    @Test func randomAddressesUseAllTheirBits() {
        var (set, clear): (UInt64, UInt64) = (0, 0)
        for seed in 0..<64 as Range<UInt64> {
            let address = BluetoothAddress.staticRandom(RandomSource(seed: seed)).value
            set |= address
            clear |= ~address
        }
        let randomBits: UInt64 = (1 << 46) - 1
        #expect(set & randomBits == randomBits)
        #expect(clear & randomBits == randomBits)
    }
}
