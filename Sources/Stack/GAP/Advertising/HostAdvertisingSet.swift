import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Security

/// An advertising set. Created by ``HostAdvertiser/addSet()``.
///
/// With extended advertising this is one of the controller's sets; otherwise it is the only advertisement possible at a
/// time. Releasing the object, on the loop, stops the set.
package final class HostAdvertisingSet {
    package var onStarted: (() -> Void)?
    /// Called when the wanted advertisement failed. It is discarded.
    package var onFailed: ((GAPError) -> Void)?
    /// Called when the advertisement has ended by itself. It is discarded.
    package var onEnded: ((AdvertisingEnd) -> Void)?

    let number: UInt8
    private let advertiser: HostAdvertiser
    private var machine = AdvertiserMachine()
    private var fastPhase: ScheduledTask?
    private var addressChange: ScheduledTask?
    /// The set's own resolvable private address; nil if it has none.
    private(set) var privateAddress: BluetoothAddress?
    private(set) var address: BluetoothAddress?
    /// The generation, incremented by every reset, so that late command results are ignored.
    private var epoch = 0

    init(_ number: UInt8, of advertiser: HostAdvertiser) {
        self.number = number
        self.advertiser = advertiser
        if advertiser.isPaused { _ = machine.handle(.pause) }
    }

    deinit {
        if let fastPhase = fastPhase.take() { advertiser.loop.cancel(fastPhase) }
        if let addressChange = addressChange.take() { advertiser.loop.cancel(addressChange) }
        guard isOnAir else { return }
        let commands = advertiser.stopCommands(set: number) + advertiser.cleanUpCommands(set: number)
        advertiser.host.send(inOrder: commands) { [advertiser] _ in advertiser.reviewPause() }
    }

    /// The advertisement that the set sends, or will send when it can; nil for none.
    package var wanted: AdvertisingConfiguration? { machine.wanted }

    /// Whether the set is advertising or about to, possibly after a pause.
    var isActive: Bool { isOnAir || machine.isPaused && machine.wanted != nil }

    var isQuiet: Bool { machine.isPaused && !isOnAir }

    var isOnAir: Bool {
        switch machine.state {
        case .off, .blocked: false
        case .starting, .running, .stopping: true
        }
    }

    var isConnectable: Bool {
        if case .running(let advertisement) = machine.state { advertisement.kind.isConnectable } else { false }
    }

    /// Replaces the current advertisement; nil stops the set. An advertisement that the specification or the controller
    /// does not allow fails at once, and so does any advertisement without a controller: only ``onFailed`` is called.
    package func want(_ advertisement: AdvertisingConfiguration?) {
        if let advertisement {
            do throws(GAPError) {
                try advertiser.check(advertisement, for: self)
            } catch {
                handle(.want(nil))
                onFailed?(error)
                return
            }
        }
        handle(.want(advertisement))
    }

    /// Called when the controller is gone. Discards the wanted advertisement.
    func reset() {
        epoch += 1
        (privateAddress, address) = (nil, nil)
        if let addressChange = addressChange.take() { advertiser.loop.cancel(addressChange) }
        handle(.reset)
    }

    func handle(_ event: AdvertiserMachine.Event) {
        for action in machine.handle(event) { perform(action) }
        assert(brokenInvariant == nil, brokenInvariant ?? "")
    }

    private var brokenInvariant: String? {
        machine.wanted != nil || fastPhase == nil ? nil : "a timer runs for an advertisement that has ended"
    }

    private func perform(_ action: AdvertiserMachine.Action) {
        switch action {
        case .start(let advertisement, let phase): start(advertisement, phase)
        case .stop: stop()
        case .startTimers(let advertisement): startTimers(advertisement)
        case .endTimers: if let fastPhase = fastPhase.take() { advertiser.loop.cancel(fastPhase) }
        case .startRetry: schedule(AdvertiserMachine.retryDelay, .tryAgain)
        case .reportStarted: onStarted?()
        case .reportFailed(let error):
            cleanUp()
            onFailed?(error)
        case .reportEnded(let end):
            cleanUp()
            onEnded?(end)
        case .reportPaused: advertiser.reviewPause()
        }
    }
}

// MARK: - Commands

extension HostAdvertisingSet {
    private func start(_ advertisement: AdvertisingConfiguration, _ phase: AdvertisingTempo.Phase) {
        updatePrivateAddress()
        guard let commands = commands(advertisement, phase) else { return handle(.failed(.notReady, isPassing: false)) }
        address = commands.address.address
        send(commands.start) { [weak self] result in
            switch result {
            case .success: self?.handle(.started)
            case .failure(let error): self?.failed(error)
            }
        }
    }

    private func commands(_ advertisement: AdvertisingConfiguration, _ phase: AdvertisingTempo.Phase)
        -> AdvertisingCommands?
    {
        advertiser.commands(advertisement, phase, set: number, privateAddress: privateAddress)
    }

    private func failed(_ error: HCICommandError) {
        guard !error.isOfHost else { return }
        advertiser.stackEvents.report(AccessEvent.cannotAdvertise(error))
        guard case .refused(let opcode, let status) = error else {
            return handle(.failed(GAPError(error), isPassing: false))
        }
        // The first command creates the set, if the controller has room for it (Core Vol 4 Part E 7.8.53).
        if opcode == LESetExtendedAdvertisingParameters.opcode, status == .memoryCapacityExceeded {
            return handle(.failed(.noAdvertisingSetLeft(maximum: advertiser.maximumSets), isPassing: false))
        }
        // With links open a controller may be unable to advertise until one of them ends.
        let isEnable = opcode == LESetAdvertisingEnable.opcode || opcode == LESetExtendedAdvertisingEnable.opcode
        let isMended = advertiser.onTrouble?(.refused(error, uses: [])) ?? false
        handle(.failed(GAPError(error), isPassing: isMended || isEnable && status.isPassing))
    }

    /// Stops the set. An error is ignored: the controller refuses to stop a set that has stopped by itself.
    private func stop() {
        send(advertiser.stopCommands(set: number)) { [weak self] _ in
            guard let self else { return }
            send(advertiser.cleanUpCommands(set: number)) { [weak self] _ in
                self?.handle(.stopped)
            }
        }
    }

    /// Lets the controller remove the set once it is off for good.
    private func cleanUp() {
        guard machine.state == .off else { return }
        send(advertiser.cleanUpCommands(set: number)) { _ in }
    }

    private func send(_ commands: [any HCICommand], _ completion: @escaping (Result<Void, HCICommandError>) -> Void) {
        let epoch = epoch
        advertiser.host.send(inOrder: commands) { [weak self] result in
            if self?.epoch == epoch { completion(result) }
        }
    }
}

// MARK: - Timers

extension HostAdvertisingSet {
    private func startTimers(_ advertisement: AdvertisingConfiguration) {
        if let fastPhase = fastPhase.take() { advertiser.loop.cancel(fastPhase) }
        if advertisement.tempo.slow != nil {
            fastPhase = schedule(advertisement.tempo.fastPhase, .fastPhaseOver)
        }
    }

    @discardableResult
    private func schedule(_ delay: Duration, _ event: AdvertiserMachine.Event) -> ScheduledTask {
        advertiser.loop.schedule(after: delay) { [weak self] in self?.handle(event) }
    }

    /// Generates a private address if there is none or the previous one has expired.
    private func updatePrivateAddress() {
        guard advertiser.setsHaveAddresses else {
            if let addressChange = addressChange.take() { advertiser.loop.cancel(addressChange) }
            privateAddress = nil
            return
        }
        guard privateAddress == nil else { return }
        privateAddress = advertiser.privacy?.drawAddress()
        scheduleAddressChange()
    }

    /// Keeps using a resolvable private address, as if it had just been generated.
    func keep(_ address: BluetoothAddress) {
        if let addressChange = addressChange.take() { advertiser.loop.cancel(addressChange) }
        privateAddress = address
        scheduleAddressChange()
    }

    private func scheduleAddressChange() {
        let interval = advertiser.privacy?.interval ?? GAPTimer.privateAddressInterval
        addressChange = advertiser.loop.schedule(after: interval) { [weak self] in
            self?.privateAddress = nil
            self?.addressChange = nil
            self?.handle(.addressExpired)
        }
    }
}
