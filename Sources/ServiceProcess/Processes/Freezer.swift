import Logging

/// Freezes apps that are suspended, where the user's systemd runs them as units of their own. Nothing depends on it: what a suspended
/// app asks for and is told waits all the same. Lives on the loop.
package final class Freezer {
    /// The units of all apps that were launched as such.
    static let allUnits = LaunchCommand.unitPrefix + "*.service"

    /// Units that are frozen at a time; one more runs on (AB-G05).
    static let maximumUnits = 64

    private let manager: any UnitManager
    private let logger: Logger
    /// The units that are not simply thawed.
    private var machines: [String: FreezingMachine] = [:]

    /// A freezer. What a service before this one has left frozen is thawed. On the loop.
    package init(_ manager: any UnitManager, logger: Logger) {
        self.manager = manager
        self.logger = logger
        manager.perform(.thaw, on: Self.allUnits) { _ in }
    }

    /// The processes of a unit need not run.
    func freeze(_ unit: String) { handle(.suspended, unit) }

    /// They shall run.
    func thaw(_ unit: String) { handle(.resumed, unit) }

    private func handle(_ event: FreezingMachine.Event, _ unit: String) {
        guard machines[unit] != nil || machines.count < Self.maximumUnits else { return }
        var machine = machines[unit] ?? FreezingMachine()
        let wasStuck = machine.isStuck
        let verb = machine.handle(event)
        machines[unit] = machine.state == .thawed && !machine.isStuck ? nil : machine
        if machine.isStuck, !wasStuck {
            logger.error("\(unit) stays frozen; thaw it with `systemctl --user thaw \(unit)`, and do without --freeze")
        }
        guard let verb else { return }
        manager.perform(verb, on: unit) { [weak self] isDone in
            if !isDone { self?.logger.warning("systemd does not \(verb.rawValue) \(unit)") }
            self?.handle(.done(isDone: isDone), unit)
        }
    }
}
