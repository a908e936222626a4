import BluetoothTypes
import EventLoops
import Testing

@testable import SMP

@Suite struct BackOffTests {
    static let device = BluetoothAddress(1, kind: .publicDevice)

    @Test func AB_S12_each_failure_doubles_the_wait_up_to_the_longest() {
        var table = PairingBackOff()
        var now = Instant.zero
        #expect(table.mayPair(Self.device, now: now))
        var waits: [Duration] = []
        for _ in 0..<40 {
            table.failed(Self.device, now: now)
            let wait = table.wait(of: Self.device, now: now)
            #expect(!table.mayPair(Self.device, now: now + wait - .nanoseconds(1)))
            now = now + wait
            #expect(table.mayPair(Self.device, now: now))
            waits.append(wait)
        }
        #expect(waits.prefix(5) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(16)])
        #expect(waits.last == PairingBackOff.longestWait && waits == waits.sorted())
        // Another device does not wait.
        #expect(table.mayPair(BluetoothAddress(2, kind: .publicDevice), now: now))
        table.forget(Self.device)
        #expect(table.mayPair(Self.device, now: now) && table.count == 0)
    }

    @Test func failures_are_forgotten_after_a_long_quiet() {
        var table = PairingBackOff()
        for _ in 0..<10 { table.failed(Self.device, now: .zero) }
        let later = Instant.zero + .seconds(100_000)
        table.failed(Self.device, now: later)
        #expect(table.wait(of: Self.device, now: later) == PairingBackOff.firstWait)
    }

    @Test func AB_S12_the_table_is_bounded_and_forgets_who_waits_least() {
        var table = PairingBackOff()
        for _ in 0..<8 { table.failed(Self.device, now: .zero) }
        for number in 2...2_000 as ClosedRange<UInt64> {
            table.failed(BluetoothAddress(number, kind: .randomDevice), now: .zero)
            #expect(table.count <= PairingBackOff.maximumDevices)
        }
        #expect(!table.mayPair(Self.device, now: .zero + .seconds(100)))
        #expect(!table.mayPair(BluetoothAddress(2_000, kind: .randomDevice), now: .zero))
    }

    @Test(arguments: SecuringTests.both)
    func AB_S12_who_may_not_pair_now_is_turned_away_before_anything_begins(role: PairingRole) {
        let bench = SecuringTests.bench()
        bench[role].isPermitted = false
        let outcome = bench.secure(.encrypted)
        #expect(bench.central.prompts.isEmpty && bench.peripheral.prompts.isEmpty)
        #expect(outcome.error == (role == .initiator ? .notAllowed : .pairing(.refusedByPeer(.repeatedAttempts))))
        #expect(bench[role].failures == [.notAllowed])
        #expect(bench.peripheral.takeSent() == (role == .initiator ? [] : [.failed(PairingFailed(.repeatedAttempts))]))
        #expect(bench.central.takeSent().isEmpty == (role == .initiator))
        // Later it may.
        bench[role].isPermitted = true
        #expect(bench.secure(.encrypted).isSuccess)
    }

    @Test func what_counts_as_an_attempt_that_failed() {
        let failed: [SecurityError] = [
            .pairing(.timedOut), .pairing(.refused(.confirmValueFailed)), .pairing(.refusedByPeer(.dhKeyCheckFailed)),
            .refusedByPerson, .keysRefused,
        ]
        let others: [SecurityError] = [
            .pairing(.linkLost), .linkLost, .peerLostKey, .encryptionTimedOut, .encryptionFailed, .notAllowed, .tooWeak,
            .cancelled,
        ]
        #expect(failed.allSatisfy(\.isFailedAttempt) && !others.contains(where: \.isFailedAttempt))
        #expect(Set((failed + others).map(\.description)).count == failed.count + others.count)
    }
}
