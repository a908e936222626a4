import ServiceMessages
import Testing

@testable import ServiceProcess

@Suite struct ServiceLinkMachineTests {
    private let nobody = MessageLineError.unreachable(path: "/run/x", reason: "no such file")

    private func open() -> ServiceLinkMachine {
        var machine = ServiceLinkMachine()
        #expect(machine.handle(.begin) == [.connect])
        #expect(machine.handle(.connected) == [.sendHello])
        #expect(machine.handle(.accepted(version: Hello.version)) == [.open])
        return machine
    }

    @Test func aServiceThatIsThereIsGreetedAndThenUsed() {
        var machine = ServiceLinkMachine()
        #expect(machine.isConnecting)
        #expect(!machine.isOpen)
        _ = machine.handle(.begin)
        _ = machine.handle(.connected)
        #expect(machine.isConnecting)
        #expect(!machine.isOpen)
        _ = machine.handle(.accepted(version: Hello.version))
        #expect(machine.isOpen)
        #expect(!machine.isConnecting)
    }

    @Test("without a service, managers are unsupported at once; one that starts is found, with growing pauses")
    func aServiceIsWaitedForWithGrowingPauses() {
        var machine = ServiceLinkMachine()
        _ = machine.handle(.begin)
        let first = machine.handle(.failed(nobody))
        #expect(first == [.complain("\(nobody)"), .report(.unsupported), .wait(.milliseconds(100))])
        #expect(!machine.isConnecting)
        var pauses: [ServiceLinkMachine.Action] = []
        for _ in 0..<8 {
            #expect(machine.handle(.timeIsUp) == [.connect])
            pauses += machine.handle(.failed(nobody))
        }
        #expect(
            pauses == [200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000].map { .wait(.milliseconds($0)) }
        )
        #expect(machine.handle(.timeIsUp) == [.connect])
        #expect(machine.handle(.connected) == [.sendHello])
        #expect(machine.handle(.accepted(version: Hello.version)) == [.open])
    }

    @Test(
        "behaviour 10.15: a process whose service ends before it has connected waits for the next one without any event"
    )
    func aLaunchedProcessWaitsForTheNextService() {
        var machine = ServiceLinkMachine(isLaunched: true)
        _ = machine.handle(.begin)
        for _ in 1..<ServiceLinkMachine.failuresOfOneGone {
            #expect(machine.handle(.failed(nobody)) == [.wait(.milliseconds(50))])
            #expect(machine.handle(.timeIsUp) == [.connect])
        }
        #expect(machine.handle(.failed(nobody)).contains(.report(.unsupported)))
    }

    @Test(
        "a lost service is reported as resetting, and retried every 50 ms; after 3 s it is unsupported, and pauses grow"
    )
    func aServiceThatGoesAwayIsResetting() {
        var machine = open()
        #expect(machine.handle(.lost(.closedByPeer)) == [.report(.resetting), .wait(.milliseconds(50))])
        var (told, pauses, elapsed): ([ServiceLinkMachine.Action], [Duration], Duration) = ([], [], .milliseconds(50))
        while pauses.last != .seconds(5) {
            _ = machine.handle(.timeIsUp)
            for action in machine.handle(.failed(nobody)) {
                if case .wait(let pause) = action { pauses.append(pause) } else { told.append(action) }
            }
            #expect(told.isEmpty == (elapsed < .seconds(3)), "\(elapsed)")
            elapsed += pauses.last ?? .zero
        }
        #expect(told == [.complain("\(nobody)"), .report(.unsupported)])
        let (short, growing) = (pauses.prefix { $0 == .milliseconds(50) }, pauses.drop { $0 == .milliseconds(50) })
        #expect(short.count == 60)
        #expect(Array(growing) == [100, 200, 400, 800, 1_600, 3_200, 5_000].map { Duration.milliseconds($0) })
        // After a successful connection the pauses start over.
        _ = machine.handle(.timeIsUp)
        _ = machine.handle(.connected)
        _ = machine.handle(.accepted(version: Hello.version))
        #expect(machine.handle(.lost(.closedByPeer)) == [.report(.resetting), .wait(.milliseconds(50))])
        _ = machine.handle(.timeIsUp)
        #expect(machine.handle(.failed(nobody)) == [.wait(.milliseconds(50))])
    }

    @Test("a service that shuts down in good order is waited for too")
    func aServiceThatEndsIsWaitedFor() {
        var machine = open()
        let end = ServiceError(.operationCancelled, reason: "the service ends")
        #expect(machine.handle(.dismissed(end)) == [.close, .report(.resetting), .wait(.milliseconds(50))])
        #expect(machine.handle(.lost(.closedByPeer)) == [])
    }

    @Test("AB-G05: an app that finds the service full retries")
    func aFullService() {
        var machine = ServiceLinkMachine()
        _ = machine.handle(.begin)
        _ = machine.handle(.connected)
        let full = ServiceError(.outOfSpace, reason: "too many clients")
        let actions = machine.handle(.dismissed(full))
        #expect(actions.first == .close)
        #expect(actions.last == .wait(.milliseconds(100)))
        #expect(machine.handle(.timeIsUp) == [.connect])
    }

    @Test("a process that is refused, or of another release, does not retry")
    func refusedProcessesDoNotRetry() {
        let refusal = ServiceError(.operationNotSupported, reason: "for user 7")
        for event in [ServiceLinkMachine.Event.dismissed(refusal), .accepted(version: 99)] {
            var machine = ServiceLinkMachine()
            _ = machine.handle(.begin)
            _ = machine.handle(.connected)
            let actions = machine.handle(event)
            #expect(actions.count == 3 && actions[1] == .report(.unsupported) && actions[2] == .close)
            if case .complain(let text) = actions[0] {
                #expect(text.contains("for user 7") || text.contains("version 99") && text.contains("same release"))
            } else {
                Issue.record("nothing is said: \(actions)")
            }
            for more in [ServiceLinkMachine.Event.timeIsUp, .lost(.closedByPeer), .begin, .connected, .failed(nobody)] {
                #expect(machine.handle(more) == [])
            }
        }
    }

    @Test("a service that closes instead of welcoming is retried with growing pauses")
    func aServiceThatClosesAtOnceIsTriedLaterEachTime() {
        var machine = ServiceLinkMachine()
        _ = machine.handle(.begin)
        var pauses: [Duration] = []
        for _ in 0..<3 {
            _ = machine.handle(.connected)
            for case .wait(let pause) in machine.handle(.lost(.closedByPeer)) { pauses.append(pause) }
            _ = machine.handle(.timeIsUp)
        }
        #expect(pauses == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
    }
}
