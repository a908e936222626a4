import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Privacy

/// One thing that this device advertises, for one purpose. Made by ``Advertiser/addSet()``.
///
/// On a controller with extended advertising it is one of the controller's sets; on another one, the only advertisement that
/// there can be at a time. Letting go of it, on the loop, takes it off the air.
package final class AdvertisingSet {
    /// Called when what was wanted is on the air.
    package var onStarted: (() -> Void)?
    /// Called when it is not and will not be; then nothing is wanted any more.
    package var onFailed: ((GAPError) -> Void)?
    /// Called when it has ended by itself; then nothing is wanted any more.
    package var onEnded: ((AdvertisingEnd) -> Void)?

    let number: UInt8
    private let advertiser: Advertiser
    private var machine = AdvertiserMachine()
    private var fastPhase: ScheduledTask?
    private var limit: ScheduledTask?
    private var addressChange: ScheduledTask?
    private var privateAddress: BluetoothAddress?
    private var privateKind: SharedAddress.Kind?
    /// What was shown last.
    private(set) var address: BluetoothAddress?
    /// What addresses have been asked for it; nil while nothing is wanted.
    private(set) var wish: AddressWish?

    /// What an advertisement needs of the addresses.
    struct AddressWish: Hashable {
        var address: Advertisement.Address
        var target: BluetoothAddress?
    }
    /// Raised with every reset, so that what is still on its way is not mistaken for what comes after.
    private var life = 0

    init(_ number: UInt8, of advertiser: Advertiser) {
        self.number = number
        self.advertiser = advertiser
        if advertiser.isPaused { _ = machine.handle(.pause) }
    }

    deinit {
        endTimers()
        endAddressChange()
        guard isOnAir else { return }
        let commands =
            advertiser.stopCommands(set: number)
            + advertiser.cleanUpCommands(set: number, hadPrivateAddress: privateAddress != nil)
        advertiser.host.send(inOrder: commands) { [advertiser] _ in advertiser.reviewPause() }
    }

    /// What is wanted on the air.
    package var wanted: Advertisement? { machine.wanted }

    /// Whether the controller advertises, or is about to, perhaps after a pause.
    var isActive: Bool { isOnAir || machine.isPaused && machine.wanted != nil }

    /// Whether it is off the air, and stays so until it is told otherwise.
    var isQuiet: Bool { machine.isPaused && !isOnAir }

    var isOnAir: Bool {
        switch machine.state {
        case .off, .blocked: false
        case .starting, .advertising, .stopping: true
        }
    }

    /// Whether somebody can connect to what is on the air.
    var isConnectable: Bool {
        if case .advertising(let advertisement) = machine.state { advertisement.kind.isConnectable } else { false }
    }

    /// Puts something on the air in the place of what was there before; nil for nothing. What the specification or the
    /// controller does not allow fails at once. Without a controller nothing happens but ``onFailed``.
    package func want(_ advertisement: Advertisement?) {
        if let advertisement {
            do throws(GAPError) {
                try advertiser.check(advertisement, for: self)
            } catch {
                ask(for: nil)
                handle(.want(nil))
                onFailed?(error)
                return
            }
        }
        ask(for: advertisement)
        handle(.want(advertisement))
    }

    /// What is to be advertised may need another address, which is set first.
    private func ask(for advertisement: Advertisement?) {
        let new = advertisement.map { AddressWish(address: $0.address, target: $0.kind.target) }
        guard wish != new else { return }
        wish = new
        advertiser.reviewWishes()
    }

    /// The controller is gone; nothing is wanted any more.
    func reset() {
        life += 1
        (privateAddress, privateKind, address, wish) = (nil, nil, nil, nil)
        endAddressChange()
        handle(.reset)
    }

    func handle(_ event: AdvertiserMachine.Event) {
        for action in machine.handle(event) { perform(action) }
    }

    private func perform(_ action: AdvertiserMachine.Action) {
        switch action {
        case .start(let advertisement, let phase): start(advertisement, phase)
        case .stop: stop()
        case .startTimers(let advertisement): startTimers(advertisement)
        case .endTimers: endTimers()
        case .startRetry: schedule(AdvertiserMachine.retryDelay, .tryAgain)
        case .reportStarted: onStarted?()
        case .reportFailed(let error):
            cleanUp()
            ask(for: machine.wanted)
            onFailed?(error)
        case .reportEnded(let end):
            cleanUp()
            ask(for: machine.wanted)
            onEnded?(end)
        case .reportPaused: advertiser.reviewPause()
        }
    }
}

// MARK: - Commands

extension AdvertisingSet {
    private func start(_ advertisement: Advertisement, _ phase: AdvertisingTempo.Phase) {
        updatePrivateAddress(advertisement)
        guard let commands = commands(advertisement, phase) else { return handle(.failed(.notReady, isPassing: false)) }
        address = commands.address.address
        send(commands.start) { [weak self] result in
            switch result {
            case .success: self?.handle(.started)
            case .failure(let error): self?.failed(error)
            }
        }
    }

    private func commands(_ advertisement: Advertisement, _ phase: AdvertisingTempo.Phase) -> AdvertisingCommands? {
        advertiser.commands(advertisement, phase, set: number, privateAddress: privateAddress)
    }

    private func failed(_ error: HCICommandError) {
        guard !error.isOfHost else { return }
        advertiser.happenings.tell(AccessHappening.cannotAdvertise(error))
        guard case .refused(let opcode, let status) = error else {
            return handle(.failed(GAPError(error), isPassing: false))
        }
        // A controller makes a set with the first command, if it has room for another one (Core Vol 4 Part E 7.8.53).
        if opcode == LESetExtendedAdvertisingParameters.opcode, status == .memoryCapacityExceeded {
            return handle(.failed(.noAdvertisingSetLeft(maximum: advertiser.maximumSets), isPassing: false))
        }
        // With links open a controller may be unable to; it will be able to when one of them ends.
        let isEnable = opcode == LESetAdvertisingEnable.opcode || opcode == LESetExtendedAdvertisingEnable.opcode
        let isMended = advertiser.onTrouble?(.refused(error, uses: [])) ?? false
        handle(.failed(GAPError(error), isPassing: isMended || isEnable && status.isPassing))
    }

    /// Whatever the controller says, it does not advertise afterwards: it refuses to stop what has stopped by itself.
    private func stop() {
        send(advertiser.stopCommands(set: number)) { [weak self] _ in
            guard let self else { return }
            send(advertiser.cleanUpCommands(set: number, hadPrivateAddress: privateAddress != nil)) { [weak self] _ in
                self?.handle(.stopped)
            }
        }
    }

    /// Nothing is on the air, and nothing is to be: the controller may forget the set.
    private func cleanUp() {
        guard machine.state == .off else { return }
        send(advertiser.cleanUpCommands(set: number, hadPrivateAddress: privateAddress != nil)) { _ in }
    }

    private func send(_ commands: [any HCICommand], _ completion: @escaping (Result<Void, HCICommandError>) -> Void) {
        let life = life
        advertiser.host.send(inOrder: commands) { [weak self] result in
            if self?.life == life { completion(result) }
        }
    }
}

// MARK: - Time

extension AdvertisingSet {
    private func startTimers(_ advertisement: Advertisement) {
        endTimers()
        if advertisement.tempo.slow != nil {
            fastPhase = schedule(advertisement.tempo.fastPhase, .fastPhaseOver)
        }
        if let time = advertisement.limit { limit = schedule(time, .limitReached) }
    }

    private func endTimers() {
        for task in [fastPhase, limit].compactMap(\.self) { advertiser.loop.cancel(task) }
        (fastPhase, limit) = (nil, nil)
    }

    @discardableResult
    private func schedule(_ delay: Duration, _ event: AdvertiserMachine.Event) -> ScheduledTask {
        advertiser.loop.schedule(after: delay) { [weak self] in self?.handle(event) }
    }

    /// A private address is drawn when there is none, and when the one that there was has expired.
    private func updatePrivateAddress(_ advertisement: Advertisement) {
        let kind = advertiser.ownKind(of: advertisement)
        if kind != privateKind {
            endAddressChange()
            (privateAddress, privateKind) = (nil, kind)
        }
        guard let kind, privateAddress == nil else { return }
        privateAddress = advertiser.privacy?.drawAddress(kind) ?? .nonResolvablePrivate(advertiser.random)
        scheduleAddressChange()
    }

    /// Its resolvable private address; nil when it has none of its own.
    var resolvableAddress: BluetoothAddress? { privateKind == .resolvable ? privateAddress : nil }

    /// Goes on with a resolvable private address, as if it had drawn it now.
    func keep(_ address: BluetoothAddress) {
        endAddressChange()
        (privateAddress, privateKind) = (address, .resolvable)
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

    private func endAddressChange() {
        if let addressChange { advertiser.loop.cancel(addressChange) }
        addressChange = nil
    }
}
