import BluetoothTypes
import EventLoops
import HCI
import Logging

/// Advertises with the legacy commands of the controller (Core Vol 4 Part E 7.8.5 to 7.8.9).
public final class Advertiser {
    /// Called when what was wanted is on the air.
    public var onStarted: (() -> Void)?
    /// Called when it is not and will not be; then nothing is wanted any more.
    public var onFailed: (() -> Void)?

    private let host: HCIHost
    private let loop: any EventLoop
    private let logger: Logger
    private var machine = AdvertiserMachine()
    private var ownAddress: OwnAddress?
    private var fastPhase: ScheduledTask?

    /// An advertiser that is off.
    public init(host: HCIHost, loop: any EventLoop, logger: Logger) {
        self.host = host
        self.loop = loop
        self.logger = logger
    }

    /// What is wanted on the air.
    public var wanted: AdvertisingPlan? { machine.wanted }

    /// The controller is ready.
    public func begin(_ address: OwnAddress) {
        ownAddress = address
    }

    /// The controller is gone; nothing is wanted any more.
    public func reset() {
        ownAddress = nil
        perform(machine.handle(.reset))
    }

    /// Puts a plan on the air in the place of the one before; nil for none. Before ``begin(_:)`` nothing happens.
    public func want(_ plan: AdvertisingPlan?) {
        guard ownAddress != nil else { return }
        perform(machine.handle(.want(plan)))
    }

    /// A central has connected, so the controller has stopped advertising.
    public func centralConnected() {
        perform(machine.handle(.centralConnected))
    }

    /// A link has ended, so there may be room to advertise.
    public func linkEnded() {
        perform(machine.handle(.tryAgain))
    }

    private func perform(_ actions: [AdvertiserMachine.Action]) {
        for action in actions {
            switch action {
            case .start(let plan, let pace): start(plan, pace)
            case .stop:
                host.send(LESetAdvertisingEnable(isEnabled: false)) { [weak self] _ in self?.handle(.stopped) }
            case .startFastPhase: startFastPhase()
            case .endFastPhase: endFastPhase()
            case .startRetry:
                loop.schedule(after: AdvertisingPace.retryDelay) { [weak self] in self?.handle(.tryAgain) }
            case .reportStarted: onStarted?()
            case .reportFailed: onFailed?()
            }
        }
    }

    private func handle(_ event: AdvertiserMachine.Event) {
        perform(machine.handle(event))
    }

    private func start(_ plan: AdvertisingPlan, _ pace: AdvertisingPace) {
        guard let ownAddress else { return }
        host.send(
            LESetAdvertisingParameters(
                intervalMin: pace.interval,
                intervalMax: pace.interval,
                kind: .connectableScannable,
                ownAddressKind: ownAddress.kind,
                peerAddress: .none,
                channels: .all,
                filterPolicy: .everybody
            )
        ) { [weak self] in self?.note($0) }
        host.send(LESetAdvertisingData(data: plan.advertisement.encoded)) { [weak self] in self?.note($0) }
        host.send(LESetScanResponseData(data: plan.scanResponse.encoded)) { [weak self] in self?.note($0) }
        host.send(LESetAdvertisingEnable(isEnabled: true)) { [weak self] result in
            switch result {
            case .success: self?.handle(.started)
            case .failure(let error): self?.failed(error)
            }
        }
    }

    /// A controller that refuses data or parameters will not advertise either, or advertises the ones before.
    private func note(_ result: Result<StatusOnly, HCICommandError>) {
        if case .failure(let error) = result { logger.warning("cannot set up advertising: \(error)") }
    }

    private func failed(_ error: HCICommandError) {
        guard !error.isOfHost else { return }
        logger.warning("cannot advertise: \(error)")
        // With links open a controller may be unable to; it will be able to when one of them ends.
        let passing: [HCIStatus] = [
            .commandDisallowed, .connectionLimitExceeded, .memoryCapacityExceeded, .rejectedForLimitedResources,
            .controllerBusy,
        ]
        handle(.failed(isPassing: error.status.map(passing.contains) ?? false))
    }

    private func startFastPhase() {
        endFastPhase()
        fastPhase = loop.schedule(after: AdvertisingPace.fastPhase) { [weak self] in
            self?.fastPhase = nil
            self?.handle(.fastPhaseOver)
        }
    }

    private func endFastPhase() {
        if let fastPhase { loop.cancel(fastPhase) }
        fastPhase = nil
    }
}
