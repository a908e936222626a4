import AppAdvice
import BluetoothService
import EventLoops
import ServiceMessages
import Synchronization
import Testing

/// The advisors of a world's devices.
final class WorldAdvice: Sendable {
    private struct State {
        var advisors: [String: Advisor] = [:]
        var devices: [String] = []
    }

    private let state = Mutex(State())
    private let listening = CallSites.Listening()

    /// Takes in an event of a device. Called on the loop.
    func add(_ observation: Observation, of device: String) {
        state.withLock { state in
            if state.advisors[device] == nil {
                state.advisors[device] = Advisor()
                state.devices.append(device)
            }
            state.advisors[device]?.accept(observation)
        }
    }

    /// Returns the advice at a time of the world, by device in the order in which they appeared.
    func all(at now: Instant) -> [Advice] {
        state.withLock { state in
            state.devices.flatMap { device in
                state.advisors[device]?.advance(to: now)
                return (state.advisors[device]?.advice ?? []).map { advice in
                    var advice = advice
                    advice.device = device
                    return advice
                }
            }
        }
    }
}

extension TestWorld {
    /// The good practices that apps have broken so far, by device and app: an advice for each cause.
    ///
    /// The rules are those of chapter 12 of Documentation/Behaviours.md. Accessories of the module Accessories are left
    /// out: their code is not the test's.
    public var advice: [Advice] {
        let (advisors, loop) = (advisors, simulation.loop)
        let others = simulation.devicesWithoutAdvice
        let all = loop.waitFor { advisors.all(at: loop.now) }.filter { !others.contains($0.device ?? "") }
        return all.withPlaces.map { advice in
            guard let device = advice.device, let energy = energy(of: device) else { return advice }
            var advice = advice
            advice.cost = energy.cost(of: advice)
            return advice
        }
    }

    /// Expects that no app, or not this one, has broken a good practice so far.
    ///
    /// - Parameters:
    ///   - app: The identifier of the app; nil for all.
    ///   - exceptions: Rules that apps may break in this test.
    ///   - includesHints: Whether rules count whose signs are weak (``Advice/isHint``).
    ///   - sourceLocation: The place in the test that an issue is reported at.
    /// - Returns: Whether there is no advice.
    @discardableResult
    public func expectNoAdvice(
        of app: String? = nil,
        except exceptions: Set<AdviceRule> = [],
        includesHints: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> Bool {
        let found = advice.filter {
            (includesHints || !$0.isHint) && !exceptions.contains($0.rule) && (app == nil || $0.app == app)
        }
        guard !found.isEmpty else { return true }
        let text = "\(app ?? "apps") could do better in \(found.count == 1 ? "one way" : "\(found.count) ways")"
        let names = Set(found.map(\.rule)).sorted { $0.rawValue < $1.rawValue }.map { ".\($0)" }
        let way = "To allow what is meant: except: [\(names.joined(separator: ", "))]"
        let lines = [text] + found.map(\.description) + [way]
        report(WorldIssue(text: lines.joined(separator: "\n"), place: sourceLocation))
        return false
    }
}
