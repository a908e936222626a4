import BondKillPoints
import EventLoops
import Security
import Testing

@Suite struct PowerLossTests {
    /// The outcomes of losing power at every call of a script.
    struct Losses {
        var points = 0
        var outcomes = 0
        /// Neither the state before nor the state after.
        var broken = 0
        /// The state before, although the operation had completed.
        var takenBack = 0
    }

    @Test("bonds survive a power loss at every system call")
    func bonds_survive_power_loss() throws {
        let losses = try lose(operations: 0..<100)
        #expect(losses.points >= 1000)
        #expect(losses.outcomes > losses.points)
        #expect(losses.broken == 0)
        #expect(losses.takenBack == 0)
    }

    @Test("a file of version 1 survives a power loss while it gets a secret")
    func version_1_survives_the_loss_of_power() throws {
        let losses = try lose(operations: Script.foreignOperations, from: ["bonds": Samples.version1])
        #expect(losses.points >= 20)
        #expect(losses.outcomes > losses.points)
        #expect(losses.broken == 0)
        #expect(losses.takenBack == 0)
    }

    @Test func the_model_notices_files_that_are_not_made_durable() throws {
        #expect(try lose(operations: 0..<10, negligence: .filesAreNotKept).broken > 0)
    }

    @Test func the_model_notices_names_that_are_not_made_durable() throws {
        #expect(try lose(operations: 0..<10, negligence: .namesAreNotKept).takenBack > 0)
    }

    @Test("records of apps and permissions survive a power loss at every system call")
    func recordsSurviveTheLossOfPower() throws {
        let losses = try lose(RecordScript(seed: 2), operations: 0..<100)
        #expect(losses.points >= 500)
        #expect(losses.outcomes > losses.points)
        #expect(losses.broken == 0)
        #expect(losses.takenBack == 0)
    }

    @Test func the_model_notices_records_that_are_not_made_durable() throws {
        let script = RecordScript(seed: 2)
        #expect(try lose(script, operations: 0..<10, negligence: .filesAreNotKept).broken > 0)
        #expect(try lose(script, operations: 0..<10, negligence: .namesAreNotKept).takenBack > 0)
    }

    private func lose(
        operations: Range<Int>,
        from first: [String: [UInt8]] = [:],
        negligence: ModelDirectory.Negligence = .none
    ) throws -> Losses {
        try lose(Script(seed: 2), operations: operations, from: first, negligence: negligence)
    }

    private func lose<Script: Operations>(
        _ script: Script,
        operations: Range<Int>,
        from first: [String: [UInt8]] = [:],
        negligence: ModelDirectory.Negligence = .none
    ) throws -> Losses {
        var losses = Losses()
        var files = first
        for number in operations {
            let old = try state(in: files, script)
            let new = try script.state(after: number, from: old)
            for lossAt in 0... {
                let directory = ModelDirectory(files, lossAt: lossAt, negligence: negligence)
                // A secret that is created again is a different one.
                let random = RandomSource(seed: UInt64(number << 16 | lossAt))
                try? script.perform(number, on: FileBondStorage(directory: directory, random: random))
                losses.points += 1
                for outcome in directory.outcomes {
                    losses.outcomes += 1
                    let found = Result { try state(in: outcome, script) }
                    switch found {
                    case .success(old): if !directory.isDead, old != new { losses.takenBack += 1 }
                    case .success(new): break
                    default: losses.broken += 1
                    }
                }
                if !directory.isDead {
                    files = directory.contents
                    break
                }
            }
        }
        return losses
    }

    private func state<Script: Operations>(in files: [String: [UInt8]], _ script: Script) throws -> Script.State {
        try script.state(in: FileBondStorage(directory: ModelDirectory(files), random: RandomSource(seed: 1)))
    }
}
