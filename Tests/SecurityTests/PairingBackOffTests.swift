import BluetoothTypes
import EventLoops
import Foundation
import Testing

@testable import Security

/// The time that a peer has to wait after failed pairings (Core Vol 3 Part H 2.3.6).
@Suite struct PairingBackOffTests {
    private let peer = BluetoothAddress(0xC0FF_EE00_0001, kind: .publicDevice)

    @Test("AB-S12: the wait after failed pairings doubles up to its limit")
    func theWaitDoublesUpToItsLimit() {
        var backOff = PairingBackOff()
        var now = Instant.zero
        #expect(backOff.mayTry(peer, at: now))
        for expected in [1, 2, 4, 8, 16, 32, 64, 128, 256, 256] {
            backOff.failed(peer, at: now)
            #expect(!backOff.mayTry(peer, at: now + .seconds(expected) - .milliseconds(1)))
            now = now + .seconds(expected)
            #expect(backOff.mayTry(peer, at: now))
        }
    }

    @Test("AB-S12: the failed pairings of one peer do not delay another")
    func othersDoNotWait() {
        var backOff = PairingBackOff()
        backOff.failed(peer, at: .zero)
        #expect(backOff.mayTry(BluetoothAddress(1, kind: .publicDevice), at: .zero))
        #expect(backOff.mayTry(BluetoothAddress(peer.value, kind: .randomDevice), at: .zero))
    }

    @Test("AB-S12: a successful pairing clears earlier failures")
    func successForgives() {
        var backOff = PairingBackOff()
        for _ in 0..<5 { backOff.failed(peer, at: .zero) }
        backOff.succeeded(peer)
        #expect(backOff.mayTry(peer, at: .zero))
        backOff.failed(peer, at: .zero)
        #expect(backOff.mayTry(peer, at: .zero + .seconds(1)))
    }

    @Test("AB-S12: failed pairings expire")
    func timeForgives() {
        var backOff = PairingBackOff()
        for _ in 0..<8 { backOff.failed(peer, at: .zero) }
        let later = Instant.zero + PairingBackOff.memory + .seconds(1)
        backOff.failed(peer, at: later)
        #expect(backOff.mayTry(peer, at: later + .seconds(1)))
    }

    @Test("AB-S12: the table of failed pairings is bounded")
    func theTableIsBounded() {
        var backOff = PairingBackOff()
        for value in 0..<1_000 as Range<UInt64> {
            backOff.failed(BluetoothAddress(value, kind: .randomDevice), at: .zero + .milliseconds(Int(value)))
        }
        #expect(backOff.count == PairingBackOff.maximumPeers)
        #expect(!backOff.mayTry(BluetoothAddress(999, kind: .randomDevice), at: .zero + .seconds(1)))
    }

    /// An hour without a failure resets the wait; and no matter how many failures, the wait does not exceed its limit.
    @Test("AB-S12: failed pairings expire after an hour, and the wait has a limit")
    func anHourForgivesAndTheLongestWaitStays() {
        for (seconds, wait) in [(3_600, 256), (3_601, 1)] {
            var backOff = PairingBackOff()
            for _ in 0..<200 { backOff.failed(peer, at: .zero) }
            #expect(!backOff.mayTry(peer, at: .zero + .milliseconds(255_999)))
            #expect(backOff.mayTry(peer, at: .zero + .seconds(256)))
            let later = Instant.zero + .seconds(seconds)
            backOff.failed(peer, at: later)
            #expect(!backOff.mayTry(peer, at: later + .seconds(wait) - .milliseconds(1)))
            #expect(backOff.mayTry(peer, at: later + .seconds(wait)))
        }
    }

    private func random(_ value: UInt64) -> BluetoothAddress { BluetoothAddress(value, kind: .randomDevice) }

    @Test("AB-S12: the 65th peer replaces the one whose failure is oldest")
    func theNextPeerTakesThePlaceOfTheOneThatFailedLongestAgo() {
        var backOff = PairingBackOff()
        for value: UInt64 in 1...64 { backOff.failed(random(value), at: .zero) }
        #expect((1...64).allSatisfy { !backOff.mayTry(random($0), at: .zero) })
        backOff.failed(random(65), at: .zero)
        #expect(backOff.mayTry(random(1), at: .zero))
        #expect((2...65).allSatisfy { !backOff.mayTry(random($0), at: .zero) })
        // A renewed failure evicts no entry, and becomes the latest one.
        backOff.failed(random(2), at: .zero)
        #expect((2...65).allSatisfy { !backOff.mayTry(random($0), at: .zero) })
        backOff.failed(random(66), at: .zero)
        #expect(!backOff.mayTry(random(2), at: .zero))
        #expect(backOff.mayTry(random(3), at: .zero))
    }

    @Test("AB-S12: no failed pairing expires early")
    func failuresDoNotExpireEarly() {
        var backOff = PairingBackOff()
        for _ in 0..<8 { backOff.failed(peer, at: .zero) }
        let later = Instant.zero + PairingBackOff.memory
        backOff.failed(peer, at: later)
        #expect(!backOff.mayTry(peer, at: later + .seconds(255)))
    }

    @Test("AB-S12: the success of one peer clears no failures of others")
    func successForgivesNobodyElse() {
        var backOff = PairingBackOff()
        for value: UInt64 in 1...3 { backOff.failed(random(value), at: .zero) }
        backOff.succeeded(random(2))
        #expect((1...3).map { backOff.mayTry(random($0), at: .zero) } == [false, true, false])
    }
    // MARK: Strangers

    @Test("AB-S18: strangers under ever new addresses share a burst of pairings, and then one a minute")
    func strangersShareABudget() {
        var backOff = PairingBackOff()
        var now = Instant.zero
        for _ in 0..<PairingBackOff.strangerBurst { #expect(backOff.strangerBegins(at: now) == true) }
        #expect(backOff.strangerBegins(at: now) == false)
        // However often they try, a minute gives one more.
        var begun = 0
        for _ in 0..<3_600 {
            now = now + .seconds(1)
            if backOff.strangerBegins(at: now) { begun += 1 }
        }
        #expect(begun == 60)
        // Idle time gives no more than a burst.
        now = now + .seconds(1_000_000)
        begun = (0..<100).count { _ in backOff.strangerBegins(at: now) }
        #expect(begun == PairingBackOff.strangerBurst)
    }

    @Test("AB-S18: a pairing that succeeds costs strangers nothing")
    func successIsNotCounted() {
        var backOff = PairingBackOff()
        for _ in 0..<1_000 {
            #expect(backOff.strangerBegins(at: .zero) == true)
            backOff.strangerSucceeded()
        }
        for _ in 0..<PairingBackOff.strangerBurst { #expect(backOff.strangerBegins(at: .zero) == true) }
        #expect(backOff.strangerBegins(at: .zero) == false)
    }

    @Test("AB-S18: a year of guesses is more likely to fail than to succeed")
    func aYearOfGuesses() {
        let year = 365.0 * 24 * 3_600
        let interval = Double(PairingBackOff.strangerInterval.components.seconds)
        let guesses = Double(PairingBackOff.strangerBurst) + year / interval
        #expect(1 - pow(1 - 1e-6, guesses) < 0.5)
    }

    @Test("AB-S16, AB-S18: a stranger that fails under a peer's address does not slow down the peer's own pairing")
    func anImpostorSlowsNobodyDown() {
        var backOff = PairingBackOff()
        for _ in 0..<8 { backOff.failed(peer, isStranger: true, at: .zero) }
        #expect(!backOff.mayTry(peer, isStranger: true, at: .zero + .seconds(60)))
        #expect(backOff.mayTry(peer, at: .zero))
        backOff.failed(peer, at: .zero)
        #expect(!backOff.mayTry(peer, at: .zero))
        #expect(backOff.mayTry(peer, at: .zero + .seconds(1)))
        #expect(backOff.count == 2)
        backOff.succeeded(peer)
        #expect(backOff.count == 0)
    }
}
