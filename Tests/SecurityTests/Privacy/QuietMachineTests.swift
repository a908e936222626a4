import Testing

@testable import Security

@Suite struct QuietMachineTests {
    private func machine(hasSetAddresses: Bool) -> QuietMachine {
        var machine = QuietMachine()
        #expect(machine.handle(.begin(hasSetAddresses: hasSetAddresses)) == [])
        return machine
    }

    @Test func setsWithAddressesOfTheirOwnGoOnWhileTheSharedOneChanges() {
        var machine = machine(hasSetAddresses: true)
        #expect(machine.handle(.need(.address)) == [.startTimer, .pause(.connector), .pause(.scanner)])
        #expect(machine.handle(.quiet(.scanner)) == [])
        #expect(machine.handle(.quiet(.connector)) == [.endTimer, .work([.address])])
        #expect(machine.handle(.done) == [.resume(.scanner), .resume(.connector)])
        #expect(machine.state == .running)
    }

    @Test(arguments: [QuietMachine.Job.address, .list])
    func allUsersPauseForSharedJobs(job: QuietMachine.Job) {
        var machine = machine(hasSetAddresses: job == .list)
        #expect(
            machine.handle(.need(job)) == [.startTimer, .pause(.connector), .pause(.scanner), .pause(.advertiser)]
        )
        for user in [QuietMachine.User.connector, .advertiser] { #expect(machine.handle(.quiet(user)) == []) }
        #expect(machine.handle(.quiet(.scanner)) == [.endTimer, .work([job])])
        #expect(machine.handle(.done) == QuietMachine.User.allCases.map { .resume($0) })
    }

    @Test func jobsNeededMeanwhileRunBeforeResuming() {
        var machine = machine(hasSetAddresses: true)
        _ = machine.handle(.need(.address))
        #expect(machine.handle(.need(.list)) == [.pause(.advertiser)])
        for user in [QuietMachine.User.connector, .advertiser] { #expect(machine.handle(.quiet(user)) == []) }
        #expect(machine.handle(.quiet(.scanner)) == [.endTimer, .work([.address, .list])])
        // While that work is in progress.
        #expect(machine.handle(.need(.list)) == [])
        #expect(machine.handle(.done) == [.work([.list])])
        #expect(machine.handle(.done) == QuietMachine.User.allCases.map { .resume($0) })
    }

    @Test func aControllerThatDoesNotFallSilentIsTriedAllTheSame() {
        var machine = machine(hasSetAddresses: true)
        _ = machine.handle(.need(.address))
        _ = machine.handle(.quiet(.scanner))
        #expect(machine.handle(.timeOver) == [.endTimer, .work([.address])])
        // It falls silent at last.
        #expect(machine.handle(.quiet(.connector)) == [])
        #expect(machine.handle(.done) == [.resume(.scanner), .resume(.connector)])
    }

    @Test func jobsRequireAController() {
        var machine = QuietMachine()
        #expect(machine.handle(.need(.address)) == [])
        #expect(machine.handle(.begin(hasSetAddresses: true)).count == 3)
        #expect(machine.handle(.reset) == [.endTimer])
        for event in [QuietMachine.Event.quiet(.scanner), .done, .timeOver] { #expect(machine.handle(event) == []) }
    }
}
