import Logging

/// Freezes suspended apps that run as units of the user's systemd. Nothing depends on it: the requests and events of a
/// suspended app are held back in any case. Used on the event loop.
package final class Freezer {
    /// A pattern that matches the units of all launched apps.
    static let allUnits = LaunchCommand.unitPrefix + "*.service"

    /// The maximum number of frozen units. Further apps are not frozen (AB-G05).
    static let maximumUnits = 64

    private let manager: any UnitManager
    private let logger: Logger
    /// The state of each unit that is not simply thawed.
    private var machines: [String: FreezingMachine] = [:]

    /// Creates a freezer, and thaws units that an earlier service left frozen. Call on the event loop.
    package init(_ manager: any UnitManager, logger: Logger) {
        self.manager = manager
        self.logger = logger
        manager.perform(.thaw, on: Self.allUnits) { _ in }
    }

    func freeze(_ unit: String) { handle(.suspended, unit) }

    func thaw(_ unit: String) { handle(.resumed, unit) }

    private func handle(_ event: FreezingMachine.Event, _ unit: String) {
        guard machines[unit] != nil || machines.count < Self.maximumUnits else { return }
        var machine = machines[unit] ?? FreezingMachine()
        let wasStuck = machine.isStuck
        let verb = machine.handle(event)
        machines[unit] = machine.state == .thawed && !machine.isStuck ? nil : machine
        if machine.isStuck, !wasStuck {
            logger.error(
                "\(unit) could not be thawed; use `systemctl --user thaw \(unit)`, and run the service without --freeze"
            )
        }
        guard let verb else { return }
        manager.perform(verb, on: unit) { [weak self] isDone in
            if !isDone { self?.logger.warning("systemd could not \(verb.rawValue) \(unit)") }
            self?.handle(.done(isDone: isDone), unit)
        }
    }
}
