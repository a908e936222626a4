import BluetoothService
import EventLoops
import ServiceMessages

extension SimulatedDevice {
    /// Switches the device off and on again.
    ///
    /// All processes of apps end, and the controller loses its state. The system starts anew with the contents of the
    /// device's storage: bonds, the preserved state of apps, and their permissions (behaviours 10.15, 10.18). Installed
    /// apps are launched again for the events that they were preserved for. Connected devices get no notice: their
    /// links time out.
    ///
    /// The call returns when the system has started. May be called from any thread.
    ///
    /// - Parameter isLocked: Whether the device asks for a passcode. Then the system launches no app until
    ///   ``SimulatedPerson/unlocks()`` (behaviour 10.24).
    public func restart(isLocked: Bool = false) {
        let parts = parts
        world.loop.waitFor { parts.value.restart(isLocked: isLocked) }
    }
}

/// A launch of an app that may have ended.
struct WeakProcess {
    weak var connection: InProcessConnection?
}

extension SimulatedDevice.Parts {
    /// Connects a new system to the parts that outlast it, and starts it.
    func begin() {
        attention.belongs(to: system)
        system.launcher = apps
        system.observers.add(.managers) { [weak self] observation in
            guard let self, case .appMoved(let phase) = observation.happening else { return }
            for watcher in appWatchers { watcher(observation.subject.app?.name ?? "", phase) }
        }
        system.start()
    }

    /// Records a launch, and drops those that have ended.
    func note(_ connection: InProcessConnection) {
        processes.removeAll { $0.connection == nil }
        processes.append(WeakProcess(connection: connection))
    }

    /// See ``SimulatedDevice/restart(isLocked:)``.
    func restart(isLocked: Bool) {
        for process in processes { process.connection?.happened(.ended(.deviceRestarted)) }
        processes = []
        // The old system launches no app any more.
        system.launcher = nil
        // First of all, since a controller without power sends nothing.
        socket.unplug()
        system.stop()
        attention.forgetAll()
        system = makeSystem()
        system.isLocked = isLocked
        socket.plugIn()
        begin()
    }
}
