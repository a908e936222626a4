import Accessories
import AppAdvice
import BluetoothService
import BluetoothSimulation
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import Synchronization

/// A world with an accessory and a phone, whose app performs steps, in virtual time.
struct StepWorld {
    private static let margin = Duration.seconds(120)

    let accessory: Accessory
    let steps: DeviceSteps
    var capture: (@Sendable ([UInt8]) -> Void)?

    /// Performs the steps. `note` receives each result as soon as it is known.
    func run(note: @escaping @Sendable (StepResult) -> Void) -> (results: [StepResult], story: [StoryEvent]) {
        let world = SimulatedWorld(seed: steps.seed)
        let story = StepStory()
        world.watch(StoryEvent.kinds) { device, event in
            story.add(event, of: device, at: world.now)
        }
        let simulated = world.addAccessory(accessory, at: Position(x: 1))
        let phone = world.addDevice(named: "Phone", capture: capture)
        phone.person.behaves(.agrees(lookingAt: [simulated.device]))
        let results = Mutex<[StepResult]?>(nil)
        let subject = subject(simulated, world, story)
        let steps = steps
        let verb: DeviceClient.Verb = { client in
            let all = await StepRunner(client, subject).run(steps, note: note)
            results.withLock { $0 = all }
        }
        let aborts = AsyncStream<ToolError>.makeStream()
        let silent = ToolReport(json: false) { _ in }
        phone.launch("test") { app in
            app.task {
                let facts = DeviceFacts(known: [])
                _ = await DeviceClient.perform(verb, facts: facts, report: silent, aborts: aborts.stream)
            }
        }
        world.run(for: limit) { results.withLock { $0 != nil } }
        // Without the events of the end.
        let events = story.events
        world.end()
        return (results.withLock { $0 } ?? [], events)
    }

    /// The longest time that the steps can take.
    private var limit: Duration {
        steps.steps.reduce(Self.margin) { sum, step in
            // To find the device, to connect, and to discover its table.
            let own = step.limit + step.limit + Self.margin
            switch step.action {
            case .wait(let duration), .silence(_, let duration): return sum + own + duration
            default: return sum + own
            }
        }
    }

    private func subject(
        _ simulated: SimulatedAccessory,
        _ world: SimulatedWorld,
        _ story: StepStory
    ) -> StepSubject {
        let name = accessory.name
        var subject = StepSubject(
            find: { client, seconds async throws(ToolError) in
                try await Self.find(client, within: .seconds(seconds), name: name)
            },
            now: { world.now }
        )
        subject.accessory = accessory
        subject.set = { simulated.player.setValue($1, of: $0) }
        subject.fault = { $1 ? simulated.begin($0) : simulated.end($0) }
        subject.storyLength = { story.length }
        return subject
    }

    /// Finds the only other device of the world.
    private static func find(
        _ client: DeviceClient,
        within limit: Duration,
        name: String
    ) async throws(ToolError) -> FoundDevice {
        let central = client.central
        let cancel = central.callBack(after: limit) { central.stopScan() }
        defer { cancel() }
        do {
            for try await discovery in central.scan() where discovery.content.isConnectable {
                let peripheral = discovery.peripheral
                let candidate = DeviceCandidate(identifier: peripheral.identifier, names: [name])
                return FoundDevice(peripheral: peripheral, candidate: candidate)
            }
        } catch {
            throw ToolError(error, doing: "searching", with: name)
        }
        throw .incomplete("the accessory was not found within \(limit.shortSeconds), or does not accept connections")
    }
}

/// The events of a world, in words.
final class StepStory: Sendable {
    /// The number of events that are kept. Later ones are dropped.
    private static let maximumEvents = 100_000

    private struct State {
        var events: [StoryEvent] = []
        var words = WorldWords()
    }

    private let state = Mutex(State())

    var events: [StoryEvent] { state.withLock { $0.events } }
    var length: Int { state.withLock { $0.events.count } }

    func add(_ event: WorldEvent, of device: String, at time: Duration) {
        state.withLock { state in
            guard state.events.count < Self.maximumEvents else { return }
            state.events.append(state.words.event(event, of: device, at: time))
        }
    }
}
