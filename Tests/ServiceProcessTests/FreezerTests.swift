import EventLoops
import Logging
import SampleMessages
import Testing

@testable import ServiceProcess

/// The attempts and units that a freezer gives up.
@Suite struct FreezerTests {
    @Test("a unit that cannot be thawed is tried three times from the first one on, and again after it was thawed once")
    func attempts() {
        var machine = FreezingMachine()
        #expect(machine.handle(.suspended) == .freeze)
        #expect(machine.handle(.done(isDone: true)) == nil)
        #expect(machine.handle(.resumed) == .thaw)
        #expect(machine.handle(.done(isDone: false)) == .thaw)
        #expect(machine.handle(.done(isDone: false)) == .thaw)
        #expect(machine.handle(.done(isDone: true)) == nil)
        #expect(!machine.isStuck)
        #expect(machine.handle(.suspended) == .freeze)
        #expect(machine.handle(.done(isDone: true)) == nil)
        #expect(machine.handle(.resumed) == .thaw)
        #expect(machine.handle(.done(isDone: false)) == .thaw)
        #expect(machine.handle(.done(isDone: false)) == .thaw)
        #expect(machine.handle(.done(isDone: false)) == nil)
        #expect(machine.isStuck)
    }

    @Test("an app that is suspended while its unit is thawed is frozen afterwards, also if the first attempt fails")
    func suspendedMeanwhile() {
        var machine = FreezingMachine()
        #expect(machine.handle(.suspended) == .freeze)
        #expect(machine.handle(.done(isDone: true)) == nil)
        #expect(machine.handle(.resumed) == .thaw)
        #expect(machine.handle(.suspended) == nil)
        #expect(machine.handle(.done(isDone: false)) == .thaw)
        #expect(machine.handle(.done(isDone: true)) == .freeze)
        #expect(machine.handle(.done(isDone: true)) == nil)
        #expect(machine.state == .frozen)
        // One that is opened again between the attempts is not.
        #expect(machine.handle(.resumed) == .thaw)
        #expect(machine.handle(.suspended) == nil)
        #expect(machine.handle(.done(isDone: false)) == .thaw)
        #expect(machine.handle(.resumed) == nil)
        #expect(machine.handle(.done(isDone: true)) == nil)
        #expect(machine.state == .thawed)
    }

    @Test("what systemd does not do is in the log, and a unit that stays frozen is told of once")
    func failuresOfSystemdAreLogged() {
        let (units, log) = (StubUnits(), LogLines())
        let freezer = Freezer(units, logger: Logger(label: "test") { _ in log })
        units.finish()
        freezer.freeze("a")
        units.finish()
        #expect(log.all.isEmpty)
        freezer.thaw("a")
        for _ in 0..<3 { units.finish(false) }
        #expect(units.pending.isEmpty)
        #expect(log.all.count { $0.hasPrefix("warning: systemd could not thaw a") } == 3)
        #expect(log.all.count { $0.hasPrefix("error: a could not be thawed") } == 1)
        // It is left alone from now on.
        _ = units.take()
        freezer.freeze("a")
        freezer.thaw("a")
        #expect(units.take().isEmpty)
        #expect(log.all.count { $0.hasPrefix("error") } == 1)
    }

    @Test("AB-G05: a unit that runs again makes room for another one, and those that are known go on")
    func room() {
        let (units, log) = (StubUnits(), LogLines())
        let freezer = Freezer(units, logger: Logger(label: "test") { _ in log })
        units.finish()
        for number in 0..<Freezer.maximumUnits { freezer.freeze("\(number)") }
        while !units.pending.isEmpty { units.finish() }
        _ = units.take()
        freezer.freeze("one more")
        #expect(Freezer.maximumUnits == 64)
        #expect(units.take().isEmpty)
        freezer.thaw("7")
        #expect(units.take() == ["thaw 7"])
        units.finish()
        freezer.freeze("one more")
        #expect(units.take() == ["freeze one more"])
    }

    @Test("the systemd of the user is asked by its tool, and a tool that does not end is ended after five seconds")
    func theTool() {
        let loop = VirtualEventLoop()
        let programs = StubPrograms(loop: loop)
        let units = UserUnits(loop: loop, programs: programs, path: "/bin/ctl")
        var done: [Bool] = []
        units.perform(.freeze, on: "a.service") { done.append($0) }
        loop.run(for: .zero)
        let program = programs.runs.first?.program
        #expect(program?.path == "/bin/ctl")
        #expect(program?.output == .discarded)
        #expect(program?.arguments == ["--user", "--quiet", "freeze", "--", "a.service"])
        programs.end(.exited(status: 0))
        #expect(done == [true])
        loop.run(for: .seconds(10))
        #expect(programs.signals.isEmpty)
        units.perform(.thaw, on: "a.service") { done.append($0) }
        loop.run(for: .milliseconds(4_999))
        #expect(programs.signals.isEmpty)
        loop.run(for: .milliseconds(1))
        #expect(programs.signals == [15])
        #expect(done == [true])
        programs.end(.killed(signal: 15))
        #expect(done == [true, false])
        programs.refusal = 2
        units.perform(.thaw, on: "a.service") { done.append($0) }
        loop.run(for: .zero)
        #expect(done == [true, false, false])
    }
}
