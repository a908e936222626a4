import BondKillPoints
import Bonds
import Testing

@Suite struct PowerLossTests {
    /// What came of losing the power at every call of a script.
    struct Losses {
        var points = 0
        var outcomes = 0
        /// Neither the state before nor the one after.
        var broken = 0
        /// The state before, although the operation had come to its end.
        var takenBack = 0
    }

    @Test func what_is_kept_survives_the_loss_of_power_at_every_system_call() throws {
        let losses = try lose(operations: 100, negligence: .none)
        #expect(losses.points >= 1000)
        #expect(losses.outcomes > losses.points)
        #expect(losses.broken == 0)
        #expect(losses.takenBack == 0)
    }

    @Test func the_model_notices_files_that_are_not_made_durable() throws {
        #expect(try lose(operations: 10, negligence: .filesAreNotKept).broken > 0)
    }

    @Test func the_model_notices_names_that_are_not_made_durable() throws {
        #expect(try lose(operations: 10, negligence: .namesAreNotKept).takenBack > 0)
    }

    private func lose(operations: Int, negligence: ModelDirectory.Negligence) throws -> Losses {
        let script = Script(seed: 2)
        var losses = Losses()
        var file: [UInt8]?
        for number in 0..<operations {
            let old = try state(in: file)
            let new = try script.state(after: number, from: old)
            for lossAt in 0... {
                let directory = ModelDirectory(bonds: file, lossAt: lossAt, negligence: negligence)
                try? script.perform(number, on: FileBondStorage(directory: directory))
                losses.points += 1
                for outcome in directory.outcomes {
                    losses.outcomes += 1
                    if outcome == file {
                        if !directory.isDead, old != new { losses.takenBack += 1 }
                    } else if (try? state(in: outcome)) != new {
                        losses.broken += 1
                    }
                }
                if !directory.isDead {
                    file = directory.bonds
                    break
                }
            }
        }
        return losses
    }

    private func state(in file: [UInt8]?) throws -> StoredBonds? {
        try FileBondStorage(directory: ModelDirectory(bonds: file)).load()
    }
}
