import L2CAP
import StateExplorer
import Testing

@testable import ATT

/// Both ends of a link, each of which wants enhanced bearers at any time.
private struct ExploredBearers: Explorable {
    enum Move: Hashable {
        case want(isCentral: Bool), deliver(isToCentral: Bool), due
    }

    enum Message: Hashable {
        case request(Int), opened(Int), refused
    }

    struct End {
        var machine: EnhancedBearerMachine
        var inbox: [Message] = []
        var open = 0
        /// The bearers that this end has requested.
        var requested = 0
        var hasAsked = false
        var isWaiting = false
        var outcomes: [ChannelOpenError?] = []
    }

    private var central = End(machine: EnhancedBearerMachine(role: .central))
    private var peripheral = End(machine: EnhancedBearerMachine(role: .peripheral))
    private let wanted: (central: Int, peripheral: Int)
    private let room: Int

    init(wanted: (central: Int, peripheral: Int), room: Int) {
        (self.wanted, self.room) = (wanted, room)
    }

    private subscript(isCentral: Bool) -> End {
        get { isCentral ? central : peripheral }
        set { if isCentral { central = newValue } else { peripheral = newValue } }
    }

    var moves: [Move] {
        var moves: [Move] = []
        for isCentral in [true, false] {
            if !self[isCentral].hasAsked { moves.append(.want(isCentral: isCentral)) }
            if !self[isCentral].inbox.isEmpty { moves.append(.deliver(isToCentral: isCentral)) }
        }
        // The wait is longer than the way of a request and its answer (Vol 3 Part G 5.4).
        if peripheral.isWaiting, central.inbox.isEmpty, peripheral.inbox.isEmpty { moves.append(.due) }
        return moves
    }

    mutating func perform(_ move: Move) {
        switch move {
        case .want(let isCentral):
            self[isCentral].hasAsked = true
            let count = isCentral ? wanted.central : wanted.peripheral
            handle(.want(count, open: self[isCentral].open), isCentral)
        case .due:
            peripheral.isWaiting = false
            handle(.due(open: peripheral.open), false)
        case .deliver(let isCentral): receive(self[isCentral].inbox.removeFirst(), isCentral)
        }
    }

    private mutating func receive(_ message: Message, _ isCentral: Bool) {
        switch message {
        case .request(let count):
            // An end counts its own request against its room.
            let isAccepted = self[isCentral].open + self[isCentral].requested + count <= room
            if isAccepted { self[isCentral].open += count }
            self[!isCentral].inbox.append(isAccepted ? .opened(count) : .refused)
        case .opened(let count):
            self[isCentral].requested = 0
            self[isCentral].open += count
            handle(.answered(nil, open: self[isCentral].open), isCentral)
        case .refused:
            self[isCentral].requested = 0
            handle(.answered(.refused(.insufficientResources), open: self[isCentral].open), isCentral)
        }
    }

    private mutating func handle(_ event: EnhancedBearerMachine.Event, _ isCentral: Bool) {
        for action in self[isCentral].machine.handle(event) {
            switch action {
            case .request(let count):
                self[isCentral].requested = count
                self[!isCentral].inbox.append(.request(count))
            case .wait: self[isCentral].isWaiting = true
            case .finished(let error): self[isCentral].outcomes.append(error)
            }
        }
    }

    var key: String { wholeDescription((central, peripheral)) }

    var fault: String? {
        if central.open > room || peripheral.open > room { return "there are more bearers than room" }
        guard moves.isEmpty else { return nil }
        if central.machine.isBusy || peripheral.machine.isBusy { return "an end waits for ever" }
        if central.outcomes.count != 1 || peripheral.outcomes.count != 1 { return "a request has no outcome, or two" }
        if central.open != peripheral.open { return "the ends have different numbers of bearers" }
        return central.open < min(room, max(wanted.central, wanted.peripheral)) ? "bearers are missing" : nil
    }
}

@Suite struct EnhancedBearerExplorationTests {
    @Test(
        "in all orders of requests and answers, two ends that want bearers get as many as there is room for, and agree",
        arguments: [(2, 2), (5, 5), (1, 3), (4, 2)]
    )
    func theCollisionEnds(central: Int, peripheral: Int) {
        let room = max(central, peripheral)
        let found = Exploration(limit: 10_000) {
            ExploredBearers(wanted: (central, peripheral), room: room)
        }
        print("bearers \(central), \(peripheral): \(found.summary)")
        #expect(found.isComplete)
        #expect(found.ends > 0)
        for fault in found.faults { Issue.record("\(fault)") }
    }
}
