import EventLoops
import GAP
import HCI
import HCIHost

/// A controller with all that the host stack makes of it. It is made anew for each controller, and nothing of it is kept.
final class AttachedController {
    let device: GenericAccess
    /// All apps together advertise one thing (behaviour 7.30).
    let advertisement: AdvertisingSet
    let host: HCIHost
    let line: any HCITransport

    init(_ transport: any HCITransport, of system: BluetoothSystem) {
        line = transport
        host = HCIHost(
            transport: transport,
            loop: system.loop,
            happenings: system.observers.sink,
            memory: system.controllerMemory
        )
        device = GenericAccess(
            host: host,
            loop: system.loop,
            random: system.random,
            identity: system.identity,
            security: system.security,
            channels: system.channels,
            privateAddressInterval: system.configuration.privacyInterval,
            happenings: system.observers.sink
        )
        device.connector.settings = .apple
        advertisement = device.advertiser.addSet()
    }

    /// Closes the line. A controller that has to be silenced first keeps it, and this object, until then.
    func close() {
        host.whenSilent { [self] in line.close() }
    }
}

// MARK: - Controllers come and go

extension BluetoothSystem {
    func handle(_ event: PowerMachine.Event) {
        for action in power.handle(event) {
            switch action {
            case .open: open()
            case .startDevice: attached?.device.start()
            case .stopDevice: attached?.device.stop()
            case .discard:
                attached?.close()
                attached = nil
            case .resetDevice: resetDevice()
            case .tell(let state):
                hasWorked = hasWorked || state == .poweredOn
                setState(state)
                // Who advertised before goes on by himself (behaviour 1.14).
                if state == .poweredOn { advertising.apply() }
            case .reportFailure:
                let failure = lastFailure ?? .notRunning
                observers.tell(.state, .controllerFailed(failure))
                onFailure?(failure)
            case .startTimer(let pause):
                lookAgain = loop.schedule(after: pause) { [weak self] in
                    self?.lookAgain = nil
                    self?.handle(.lookAgain)
                }
            case .endTimer:
                if let lookAgain { loop.cancel(lookAgain) }
                lookAgain = nil
            }
        }
    }

    private func open() {
        guard let transport = controllers.next() else {
            recover(.absent)
            return handle(.noneThere)
        }
        let new = AttachedController(transport, of: self)
        attached = new
        let device = new.device
        device.openBonds = { [weak self] in self?.openBonds(for: $0) }
        device.onStateChange = { [weak self, weak device] state in
            // What a controller says that was let go of is of no interest.
            guard let self, let device, attached?.device === device else { return }
            deviceChanged(state)
        }
        device.onLink = { [weak self] in self?.connected($0) }
        device.watchConnections(for: self) { [weak self] result, peer in
            if case .failure(let error) = result, let peer { self?.connectionFailed(peer, error) }
        }
        new.advertisement.onStarted = { [weak self] in self?.advertising.started() }
        new.advertisement.onFailed = { [weak self] in self?.advertising.failed($0) }
        device.start()
    }

    private func deviceChanged(_ state: GenericAccess.State) {
        switch state {
        // Whoever switched it off knows.
        case .off: break
        case .starting:
            if let cause = attached?.host.resetCause {
                lastFailure = cause
                recover(.reset(cause))
            }
            handle(.starting)
        case .ready:
            handle(.ready)
            recover(.ready)
        case .failed(let error):
            lastFailure = error
            // One that is switched off is left alone until it is wanted.
            if case .attached = power.phase { recover(.failed(error)) }
        }
    }

    /// Before there is a controller nothing is asked for; what is wanted is asked for when there is one.
    func advertise(_ plan: AdvertisingPlan?) {
        guard let attached, case .ready = attached.device.state else { return }
        attached.advertisement.want(plan.map { GAP.Advertisement($0) })
    }
}
