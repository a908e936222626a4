import BluetoothService
import EventLoops

extension SimulatedDevice {
    /// Switches the device off and on again: all processes of apps end, the controller forgets everything, and the system begins
    /// anew with what is on the device's storage: bonds, what is kept of apps (behaviours 10.15, 10.18), what the person has said
    /// of apps. Installed apps are launched again when something occurs. Whoever was connected finds out by himself.
    ///
    /// - Parameter isLocked: Whether the device asks for a passcode after it: until ``SimulatedPerson/unlocks()`` the system launches no app
    ///   (behaviour 10.24).
    public func restart(isLocked: Bool = false) {
        let parts = parts
        world.loop.waitFor { parts.value.restart(isLocked: isLocked) }
    }
}

/// A launch of an app that may be over.
struct WeakProcess {
    weak var connection: InProcessConnection?
}

extension SimulatedDevice.Parts {
    /// Gives a new system those whom it asks and tells, and starts it.
    func begin() {
        attention.belongs(to: system)
        system.launcher = apps
        system.observers.add(.managers) { [weak self] observation in
            guard let self, case .appMoved(let phase) = observation.happening else { return }
            for watcher in appWatchers { watcher(observation.subject.app?.name ?? "", phase) }
        }
        system.start()
    }

    /// Notes a launch; those that are gone are forgotten.
    func note(_ connection: InProcessConnection) {
        processes.removeAll { $0.connection == nil }
        processes.append(WeakProcess(connection: connection))
    }

    /// See ``SimulatedDevice/restart(isLocked:)``.
    func restart(isLocked: Bool) {
        for process in processes { process.connection?.happened(.ended(.deviceRestarted)) }
        processes = []
        // Whatever still happens there launches nobody.
        system.launcher = nil
        // First of all: a controller without power says nothing to anybody.
        socket.unplug()
        system.stop()
        attention.forgetAll()
        system = makeSystem()
        system.isLocked = isLocked
        socket.plugIn()
        begin()
    }
}
