import EventLoops
import GAP
import HCI
import HCIHost

/// A controller with the host stack on top of it. Each controller gets a new one, which inherits no state of the last.
final class AttachedController {
    let device: GenericAccess
    /// The advertisement that all apps share (behaviour 7.30).
    let advertisement: HostAdvertisingSet
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
            deviceSecurity: system.security,
            channels: system.channels,
            privateAddressInterval: system.configuration.privacyInterval,
            happenings: system.observers.sink
        )
        device.connector.settings = .apple
        advertisement = device.advertiser.addSet()
    }

    /// Closes the transport. If the controller has to be silenced first, the transport and this object stay alive until
    /// then.
    func close() {
        host.whenSilent { [self] in line.close() }
    }
}

// MARK: - Attaching and detaching

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
                // Advertising resumes without a new request of the apps (behaviour 1.14).
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
            // Ignore a controller that has been discarded.
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
        // Switching off is initiated here, so it needs no reaction.
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
            // Recovery leaves a controller alone that is switched off.
            if case .attached = power.phase { recover(.failed(error)) }
        }
    }

    /// Applies an advertising plan if the controller is ready. Otherwise the plan is applied once there is a ready
    /// controller.
    func advertise(_ plan: AdvertisingPlan?) {
        guard let attached, case .ready = attached.device.state else { return }
        attached.advertisement.want(plan.map { AdvertisingConfiguration($0) })
    }
}
