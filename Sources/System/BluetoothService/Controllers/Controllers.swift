import BluetoothTypes
import EventLoops
import GAP
import HCI
import HCIHost
import Security
import ServiceMessages

/// A controller with the host stack on top of it. Each controller gets a new one, which inherits no state of the last.
final class AttachedController {
    let device: GenericAccess
    /// The advertisement that all apps share (behaviour 7.30).
    let advertisement: HostAdvertisingSet
    let host: HCIHost
    let line: any HCITransport

    fileprivate init(_ transport: any HCITransport, _ host: HCIHost, _ device: GenericAccess) {
        line = transport
        self.host = host
        self.device = device
        device.connector.settings = .apple
        advertisement = device.advertiser.addSet()
    }

    /// Closes the transport, once the controller is silenced. The transport and this object stay alive until then.
    fileprivate func close() {
        host.whenSilent { [self] in line.close() }
    }
}

/// The controllers of a system, which are attached one after the other: the user's switches, the host stack on the
/// current controller, and the recovery of one that fails. Used on the loop only.
package final class Controllers {
    /// The radio state, as reported to managers.
    package private(set) var state = ManagerState.unknown
    package private(set) var hasWorked = false
    /// Called when there is no working controller, with the last failure. Managers are then unsupported. The system
    /// continues when there is a controller again.
    package var onFailure: ((HCIHostError) -> Void)?
    /// The fallbacks in use for controllers that misbehaved.
    let memory = ControllerMemory()
    private(set) var attached: AttachedController?
    package private(set) var lastFailure: HCIHostError?

    var onAttach: ((AttachedController) -> Void)?
    /// Called when the user switches Bluetooth on or off, before the switch has any effect.
    var onSwitch: ((_ isOn: Bool, PowerSwitch) -> Void)?
    /// Called when airplane mode is switched and leaves Bluetooth alone.
    var onAirplaneMode: (() -> Void)?
    /// Called when the state of the radio has been determined, which may be the same as before.
    var onState: ((ManagerState, _ isNew: Bool) -> Void)?

    /// The deviations of the system's advertisements from those of Apple's devices.
    private let advertisingException: AdvertisingException
    private let makeDevice: (HCIHost) -> GenericAccess
    private let source: ControllerSource
    private let loop: any EventLoop
    private let observers: Observers
    private let tap: PacketTap
    private var waiting: [() -> Void] = []
    private(set) var power = PowerMachine()
    private var airplaneMode: AirplaneMode
    /// The switch with which the user has switched Bluetooth off; nil while it is on, or off by airplane mode.
    private(set) var switchedOffBy: PowerSwitch?
    private var retry: ScheduledTask?
    private(set) var recovery = RecoveryLadder()
    private var quietTime: ScheduledTask?
    /// The transport whose device is being reset, the number of that reset, and its timeout.
    private var resettingLine: (any HCITransport)?
    private var deviceResets: UInt64 = 0
    private var deviceResetTimer: ScheduledTask?

    init(
        _ source: ControllerSource,
        loop: any EventLoop,
        observers: Observers,
        tap: PacketTap,
        advertisingException: AdvertisingException,
        airplaneMode: AirplaneMode,
        makeDevice: @escaping (HCIHost) -> GenericAccess
    ) {
        self.source = source
        self.loop = loop
        self.observers = observers
        self.tap = tap
        self.advertisingException = advertisingException
        self.airplaneMode = airplaneMode
        self.makeDevice = makeDevice
        source.onArrival = { [weak self] in self?.arrived() }
    }

    var device: GenericAccess? { attached?.device }

    var readyInformation: ControllerInformation? {
        guard let device, case .ready = device.state else { return nil }
        return device.controllerInformation
    }

    /// The address that is visible to centrals, or nil while nothing is advertised.
    package var advertisedAddress: BluetoothAddress? { device?.advertiser.connectableAddress }

    /// Calls `body` once the state is known: at once, unless a controller is starting for the first time or after a reset.
    package func whenStateIsKnown(_ body: @escaping () -> Void) {
        if state.isKnown { body() } else { waiting.append(body) }
    }

    /// Changes the private address as soon as the controller is quiet, as at the end of its lifetime.
    package func changeAddress() { device?.privacy.handle(.need(.address)) }

    /// Applies an advertising plan, at once or when the controller is ready.
    func advertise(_ plan: AdvertisingPlan?) {
        guard let attached, case .ready = attached.device.state else { return }
        attached.advertisement.want(plan.map { AdvertisingConfiguration($0, except: advertisingException) })
    }
}

// MARK: - The user's switches

extension Controllers {
    func start() { handle(.start) }

    /// Stops for good, and cancels all recovery.
    func stop() {
        handle(.stop)
        if let quietTime = quietTime.take() { loop.cancel(quietTime) }
        if let deviceResetTimer = deviceResetTimer.take() { loop.cancel(deviceResetTimer) }
        resettingLine = nil
    }

    /// Sets the user's Bluetooth switch (behaviours 1.9 to 1.14, 10.15, 10.16).
    package func setPower(_ isOn: Bool, by powerSwitch: PowerSwitch = .settings) {
        airplaneMode.bluetoothSwitched(isOn)
        switchedOffBy = isOn ? nil : powerSwitch
        switchPower(isOn, by: powerSwitch)
    }

    /// Sets the user's switch for all radios. If it affects Bluetooth, it has the effect of the switch in the settings
    /// (behaviours 10.15, 10.23).
    package func setAirplaneMode(_ isOn: Bool) {
        let isNew = isOn != airplaneMode.isOn
        if let isOn = airplaneMode.set(isOn, hasPower: power.isSwitchedOn) {
            switchPower(isOn, by: .settings)
        } else if isNew, power.isSwitchedOn {
            onAirplaneMode?()
        }
    }

    private func switchPower(_ isOn: Bool, by powerSwitch: PowerSwitch) {
        onSwitch?(isOn, powerSwitch)
        handle(.switched(isOn: isOn))
    }
}

// MARK: - Attaching and detaching

extension Controllers {
    private func handle(_ event: PowerMachine.Event) {
        for action in power.handle(event) {
            switch action {
            case .open: open()
            case .startDevice: attached?.device.start()
            case .stopDevice: attached?.device.stop()
            case .discard:
                attached?.close()
                attached = nil
            case .resetDevice: resetDevice()
            case .report(let state): updateState(state)
            case .reportFailure:
                let failure = lastFailure ?? .notRunning
                observers.report(.state, .controllerFailed(failure))
                onFailure?(failure)
            case .startTimer(let pause):
                retry = loop.schedule(after: pause) { [weak self] in
                    self?.retry = nil
                    self?.handle(.retry)
                }
            case .endTimer: if let retry = retry.take() { loop.cancel(retry) }
            }
        }
    }

    private func updateState(_ new: ManagerState) {
        hasWorked = hasWorked || new == .poweredOn
        let isNew = new != state
        state = new
        onState?(new, isNew)
        guard new.isKnown else { return }
        let ended = waiting
        waiting = []
        for body in ended { body() }
    }

    private func open() {
        guard let line = source.next() else {
            recover(.absent)
            return handle(.noneThere)
        }
        let transport = TappedTransport(line, tap)
        let stack = HCIHost(transport: transport, loop: loop, stackEvents: observers.sink, memory: memory)
        let new = AttachedController(transport, stack, makeDevice(stack))
        attached = new
        new.device.onStateChange = { [weak self, weak device = new.device] state in
            // Ignore a controller that has been discarded.
            guard let self, let device, attached?.device === device else { return }
            deviceChanged(state)
        }
        onAttach?(new)
        new.device.start()
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
}

// MARK: - Recovery: the ladder decides, and the power machine acts

extension Controllers {
    private func recover(_ event: RecoveryLadder.Event) {
        for action in recovery.handle(event) {
            switch action {
            case .apply(let remedy): handle(.failed(remedy))
            case .report(let report): observers.report(.state, .recovery(report))
            case .advise(let cause): observers.report(.controllerStaysBroken(cause))
            case .startQuietTime:
                quietTime = loop.schedule(after: RecoveryLadder.quietTime) { [weak self] in
                    self?.quietTime = nil
                    self?.recover(.quiet)
                }
            case .endQuietTime: if let quietTime = quietTime.take() { loop.cancel(quietTime) }
            }
        }
    }

    /// Called when a controller has arrived. If none was there, the ladder starts over, even if nothing noticed.
    private func arrived() {
        if case .missing = power.phase { recover(.absent) }
        handle(.retry)
    }

    /// Resets the device behind the transport, within ``RecoveryLadder/deviceResetTimeout``.
    private func resetDevice() {
        guard let line = attached?.line else { return }
        attached = nil
        deviceResets += 1
        let number = deviceResets
        // Keeps the transport alive until the reset is done.
        resettingLine = line
        deviceResetTimer = loop.schedule(after: RecoveryLadder.deviceResetTimeout) { [weak self] in
            self?.deviceReset(number, .failed(reason: "it timed out"))
        }
        line.resetDevice { [weak self, loop] result in
            // The result may be available at once, while the caller still has actions to perform.
            loop.execute { self?.deviceReset(number, result) }
        }
    }

    private func deviceReset(_ number: UInt64, _ result: DeviceReset) {
        guard resettingLine != nil, number == deviceResets else { return }
        resettingLine = nil
        if let deviceResetTimer = deviceResetTimer.take() { loop.cancel(deviceResetTimer) }
        if case .failed(let reason) = result { observers.trouble("the reset of the device failed: \(reason)") }
        guard case .repairing = power.phase else { return }
        recover(.deviceReset(result))
        handle(.deviceReset)
    }
}

/// The control with which the user switches Bluetooth on and off.
public enum PowerSwitch: Hashable, Sendable {
    /// The settings. The preserved state of apps that are not running is discarded (behaviour 10.16).
    case settings
    /// Control Centre. Apps see the radio off, and preserved state stays (behaviours 1.17, 10.15).
    case controlCentre
}

extension ManagerState {
    fileprivate var isKnown: Bool { self != .unknown && self != .resetting }
}
