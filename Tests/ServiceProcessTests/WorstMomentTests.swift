import BluetoothSimulation
import BluetoothTypes
import EventLoops
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import ServiceProcess

/// Connections that fill up or close at any message of the service, inside the sending call or right after it.
@Suite struct WorstMomentTests {
    private static let moments: [MemoryLine.Moment] = [.afterwards, .inside]

    /// Opens managers, scans, queries and turns the power off and on: many reasons for the service to send.
    private func story(_ client: RawClient, in world: ClientWorld) -> [ServiceMessage] {
        client.send(Opening.app(Hello(AppIdentity(name: "busy"), declaring: .unmanaged)).encoded())
        for number in 1...3 as ClosedRange<UInt32> {
            client.send(.openManager(ManagerID(number), .central, ManagerOptions()))
            client.send(.request(ManagerID(number), .startScan(ScanRequest(services: nil, allowsDuplicates: true))))
            client.send(.query(ManagerID(number), number: number, .system))
        }
        world.world.run(for: .seconds(1))
        for isOn in [false, true] {
            world.phone.setPower(isOn)
            world.world.run(for: .seconds(1))
        }
        return client.take()
    }

    @Test(
        "AB-G05: nothing is lost or reordered on a connection that is full after each message",
        arguments: moments
    )
    func aLineThatIsAlwaysFull(moment: MemoryLine.Moment) {
        let world = ClientWorld(moment: moment)
        let messages = story(world.connect(), in: world)
        #expect(messages.first == .welcome(Welcome()))
        for number in 1...3 as ClosedRange<UInt32> {
            let states = messages.filter { message in
                if case .event(ManagerID(number), .stateChanged) = message { true } else { false }
            }
            let told = [.poweredOn, .poweredOff, .poweredOn].map {
                ServiceMessage.event(ManagerID(number), .stateChanged($0))
            }
            #expect(states == told)
            #expect(messages.contains { if case .reply(number, .success) = $0 { true } else { false } })
        }
    }

    @Test("AB-G05: a connection that ends at any message ends only its own app", arguments: moments)
    func aLineThatEndsWithAnyMessage(moment: MemoryLine.Moment) {
        var (count, isOver) = (0, false)
        while !isOver, count < 100 {
            count += 1
            let world = ClientWorld(moment: moment)
            let other = world.connect()
            other.greet("other")
            let client = world.connect(endingAfter: count)
            _ = story(client, in: world)
            isOver = !client.isClosed
            #expect(world.clients.with { $0.callers.count } == (isOver ? 2 : 1))
            #expect(world.with { $0.centrals.count } == (isOver ? 3 : 0))
            other.send(.query(.none, number: 9, .system))
            #expect(other.take().contains { if case .reply(9, .success) = $0 { true } else { false } })
        }
        // The welcome, three states, three replies, and the power states.
        #expect(count > 12)
        #expect(count < 100)
    }

    @Test(
        "AB-G05: a tool that monitors its own messages is notified of losses on a connection that is always full",
        arguments: moments
    )
    func aToolOnAFullLine(moment: MemoryLine.Moment) throws {
        let world = ClientWorld(moment: moment)
        let tool = RawTool(world)
        _ = try tool.greeting()
        tool.ask(1, .monitor(kinds: Observation.Kinds.messages.rawValue))
        let client = world.connect()
        _ = story(client, in: world)
        #expect(try tool.take().contains { if case .event = $0 { true } else { false } })
        tool.ask(2, .status)
        #expect(try tool.take().contains { if case .answer(2, .success) = $0 { true } else { false } })
    }
}
