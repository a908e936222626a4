import BluetoothTypes
import CoreBluetooth
import EventLoops
import Foundation
import HostileClients
import ServiceMessages

@testable import BluetoothService
@testable import BluetoothSimulation
@testable import ServiceProcess

/// A service with hostile processes of four users, and modest ones, in virtual time. Each hour starts with a busy time,
/// after which the hostile processes end; then nothing of them may be left.
final class HostileMonth {
    /// A failure that a modest process noticed; `what` is empty if there is none.
    struct Complaint: CustomStringConvertible {
        let hour: Int
        let what: String

        var description: String { "hour \(hour): \(what)" }
    }

    private static let users: [UInt32] = [ClientWorld.owner, 2_000, 2_001, 2_002]
    private static let hostileProcesses = 21
    /// The rounds of a busy time, of 100 ms each.
    private static let rounds = 100
    private static let round = Duration.milliseconds(100)

    private let clients: ClientWorld
    private let random: RandomSource
    private let sensor: ModestSensor
    private let advertiser: CBPeripheralManager
    private let follower: ModestFollower
    private let process: ClientProcess
    private let manager: CBCentralManager
    private let clerk: RawClient
    private var hostile: [HostileProcess] = []
    private var queries: UInt32 = 0
    private(set) var complaints: [Complaint] = []

    init(seed: UInt64) {
        let (clients, sensor, follower) = (
            ClientWorld(seed: seed, admitsOtherUsers: true), ModestSensor(), ModestFollower()
        )
        let process = ClientProcess(in: clients, named: "follower", user: Self.users[0])
        self.clients = clients
        self.sensor = sensor
        self.follower = follower
        self.process = process
        random = RandomSource(seed: seed)
        advertiser = clients.world.addDevice(named: "sensor").launch("sensor") { _ in sensor.start() }
        manager = ServiceLocator.$current.withValue(process.connection) {
            CBCentralManager(delegate: follower, queue: DispatchQueue(label: "follower"))
        }
        clerk = clients.connect(user: Self.users[1])
        clerk.greet("clerk")
        clients.world.run(for: .seconds(1))
    }

    /// Runs for a number of hours.
    func run(hours: Int) {
        for hour in 1...hours {
            let start = clients.world.now
            busyTime(hour)
            clients.world.run(for: .seconds(3_600) - (clients.world.now - start))
            rest(hour)
        }
    }

    private func busyTime(_ hour: Int) {
        let (before, sent) = (follower.values, sensor.count)
        hostile = (0..<Self.hostileProcesses).map { number in
            HostileProcess(number, user: Self.users[number % Self.users.count], random.split(UInt64(number)), clients)
        }
        sensor.setAdvertising(true)
        follower.follow(manager)
        for _ in 0..<Self.rounds {
            for process in hostile { process.act() }
            sensor.notify()
            ask(hour)
            clients.world.run(for: Self.round)
        }
        for process in hostile { process.end() }
        hostile = []
        clients.world.run(for: .seconds(5))
        check(hour, follower.values > before, "no value came")
        check(hour, follower.last == sensor.count - 1, "the last value is \(follower.last as Any) of \(sensor.count)")
        check(
            hour,
            follower.values - before == Int(sensor.count - sent),
            "of \(sensor.count - sent) values \(follower.values - before) came"
        )
        follower.leave(manager)
        sensor.setAdvertising(false)
        clients.world.run(for: .seconds(30))
    }

    /// A modest process sends a query, and must get the reply in the same round.
    private func ask(_ hour: Int) {
        queries += 1
        let number = queries
        clerk.post([AppMessage.query(.none, number: number, .system).encoded()])
        clients.world.run(for: .milliseconds(1))
        let isAnswered = clerk.take().contains { if case .reply(number, .success) = $0 { true } else { false } }
        check(hour, isAnswered, "question \(number) was not answered at once")
    }

    /// Checks that processes that ended have left nothing behind.
    private func rest(_ hour: Int) {
        check(hour, follower.gaps.isEmpty, "values are missing: \(follower.gaps)")
        check(hour, follower.disconnections == 0, "the link was lost \(follower.disconnections) times")
        check(hour, clients.clients.with { $0.callers.count } == 2, "hostile processes are still connected")
        let left = clients.with { system in
            (system.apps.running.count, system.centrals.count + system.peripherals.count, system.links.all.count)
        }
        check(hour, left.0 == 2, "\(left.0) apps run")
        check(hour, left.2 == 0, "\(left.2) links are left")
        let kept = clients.with { $0.apps.preservation.ordered.reduce(0) { $0 + $1.managers.count } }
        check(hour, left.1 == 1 + kept, "\(left.1) managers are left, \(kept) of them kept")
    }

    private func check(_ hour: Int, _ isTrue: Bool, _ complaint: @autoclosure () -> String) {
        if !isTrue { complaints.append(Complaint(hour: hour, what: complaint())) }
    }
}

/// A hostile process that reconnects at will.
private final class HostileProcess {
    private let user: UInt32
    private let number: Int32
    private let clients: ClientWorld
    private let random: RandomSource
    private var grammar: HostileGrammar
    private var client: RawClient
    private var rest = 0

    init(_ number: Int, user: UInt32, _ random: RandomSource, _ clients: ClientWorld) {
        self.user = user
        self.number = Int32(100 + number)
        self.clients = clients
        self.random = random
        grammar = HostileGrammar(name: "hostile \(number)", random: random)
        client = clients.connect(user: user, process: self.number)
    }

    /// Performs a few steps, unless it rests.
    func act() {
        for message in client.take() { learn(message) }
        if client.isClosed { connect() }
        guard rest == 0 else { return rest -= 1 }
        for _ in 0...random.below(4) { perform(grammar.next()) }
    }

    private func perform(_ step: HostileGrammar.Step) {
        switch step {
        case .send(let messages): client.post(messages)
        case .sendRaw(let octets): client.post([PacketBuffer(octets)])
        case .wait(let time): rest = Int(time / .milliseconds(100))
        case .read(let isReading): client.setRoom(isReading)
        case .reconnect:
            client.die()
            connect()
        }
    }

    private func connect() {
        grammar.disconnected()
        client = clients.connect(user: user, process: number)
    }

    private func learn(_ message: ServiceMessage) {
        guard case .event(_, let event) = message, let peer = event.peer else { return }
        grammar.learn(withUnsafeBytes(of: peer.uuid) { Array($0) })
    }

    func end() {
        client.setRoom(true)
        client.die()
    }
}
