import EventLoops
import Logging
import SampleMessages
import Testing

@testable import ServiceProcess

/// A stand-in for systemd that the test controls, and that records its requests.
final class StubUnits: UnitManager {
    /// Requests that are not finished yet.
    private(set) var pending: [(verb: UnitVerb, unit: String, completion: (Bool) -> Void)] = []
    private(set) var asked: [String] = []

    func perform(_ verb: UnitVerb, on unit: String, completion: @escaping (_ isDone: Bool) -> Void) {
        asked.append("\(verb) \(unit)")
        pending.append((verb, unit, completion))
    }

    /// Completes the oldest request with success or failure.
    func finish(_ isDone: Bool = true) {
        guard !pending.isEmpty else { return }
        pending.removeFirst().completion(isDone)
    }

    func take() -> [String] {
        defer { asked = [] }
        return asked
    }
}

/// Whether the processes of suspended apps run.
@Suite struct FreezingTests {
    @Test("a unit is frozen with its app and thawed when the app resumes, one operation at a time")
    func oneAfterTheOther() {
        var machine = FreezingMachine()
        #expect(machine.handle(.resumed) == nil)
        #expect(machine.handle(.suspended) == .freeze)
        // The app is opened and left again before systemd has acted.
        #expect(machine.handle(.resumed) == nil)
        #expect(machine.handle(.suspended) == nil)
        #expect(machine.handle(.done(isDone: true)) == nil)
        #expect(machine.state == .frozen)
        #expect(machine.handle(.suspended) == nil)
        #expect(machine.handle(.resumed) == .thaw)
        #expect(machine.handle(.suspended) == nil)
        #expect(machine.handle(.done(isDone: true)) == .freeze)
        #expect(machine.handle(.resumed) == nil)
        #expect(machine.handle(.done(isDone: true)) == .thaw)
        #expect(machine.handle(.done(isDone: true)) == nil)
        #expect(machine.state == .thawed)
    }

    @Test(
        "a failed freeze is undone, and a unit that cannot be thawed is retried three times and never frozen again"
    )
    func failedFreezesAreUndone() {
        var machine = FreezingMachine()
        #expect(machine.handle(.suspended) == .freeze)
        #expect(machine.handle(.done(isDone: false)) == .thaw)
        #expect(machine.handle(.done(isDone: true)) == nil)
        #expect(machine.state == .thawed)
        #expect(!machine.isStuck)
        #expect(machine.handle(.suspended) == .freeze)
        #expect(machine.handle(.done(isDone: true)) == nil)
        #expect(machine.handle(.resumed) == .thaw)
        for _ in 1..<FreezingMachine.maximumAttempts { #expect(machine.handle(.done(isDone: false)) == .thaw) }
        #expect(machine.handle(.done(isDone: false)) == nil)
        #expect(machine.isStuck)
        #expect(machine.handle(.suspended) == nil)
        #expect(machine.handle(.resumed) == nil)
    }

    @Test(
        "in any order of events, one operation runs at a time, and the last request prevails"
    )
    func lastRequestPrevails() {
        let random = RandomSource(seed: 9)
        for _ in 0..<2_000 {
            var (machine, isWanted, isFrozen) = (FreezingMachine(), false, false)
            var pending: UnitVerb?
            func finish() {
                guard let verb = pending else { return }
                isFrozen = verb == .freeze
                pending = machine.handle(.done(isDone: true))
            }
            for _ in 0..<random.below(20) {
                guard random.below(3) > 0 else {
                    finish()
                    continue
                }
                isWanted = random.below(2) == 0
                let verb = machine.handle(isWanted ? .suspended : .resumed)
                #expect(verb == nil || pending == nil)
                pending = verb ?? pending
            }
            for _ in 0..<4 { finish() }
            #expect(pending == nil)
            #expect(isFrozen == isWanted)
        }
    }

    @Test("AB-G05: frozen units are bounded, and one that stays frozen is reported with advice")
    func frozenUnitsAreBounded() {
        let (units, log) = (StubUnits(), LogLines())
        let freezer = Freezer(units, logger: Logger(label: "test") { _ in log })
        // Units that a previous service left frozen.
        #expect(units.take() == ["thaw app-harald-*.service"])
        for number in 0...Freezer.maximumUnits { freezer.freeze("\(number)") }
        #expect(units.take().count == Freezer.maximumUnits)
        units.finish()
        units.finish()
        freezer.thaw("0")
        for _ in 0..<2 * Freezer.maximumUnits where !units.pending.isEmpty {
            units.finish(units.pending[0].unit != "0")
        }
        #expect(log.all.contains { $0.contains("0 could not be thawed; use `systemctl --user thaw 0`") })
        for number in 1...Freezer.maximumUnits { freezer.thaw("\(number)") }
        while !units.pending.isEmpty { units.finish() }
        _ = units.take()
        freezer.freeze("again")
        #expect(units.take() == ["freeze again"])
    }

    @Test("behaviour 10.15: a process that has ended but was not reaped does not count as running")
    func theBeginningOfAProcess() {
        func stat(_ state: String) -> String {
            "77 (a b) Z) \(state) 1 77 77 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 98765 1000 10 18446744073709551615"
        }
        for state in ["R", "S", "D", "T", "t"] { #expect(ProcessTable.beginning(inStat: stat(state)) == "98765") }
        for state in ["Z", "X"] { #expect(ProcessTable.beginning(inStat: stat(state)) == nil) }
        for text in ["", "77 (a) S 1", "77"] { #expect(ProcessTable.beginning(inStat: text) == nil) }
    }

    @Test("the unit of a process is the last part of its control group")
    func theUnitOfAProcess() {
        let path = "/user.slice/user-1000.slice/user@1000.service/app.slice/app-harald-com.example.one.service"
        #expect(ProcessTable.unit(inGroups: "1:name=systemd:/x\n0::\(path)\n") == "app-harald-com.example.one.service")
        for text in ["", "0::/", "0::", "1:freezer:/app.service\n"] {
            #expect(ProcessTable.unit(inGroups: text) == nil, "\(text)")
        }
    }
}
