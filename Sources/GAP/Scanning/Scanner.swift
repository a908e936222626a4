import BluetoothTypes
import EventLoops
import HCI
import Logging

/// Listens for advertisements with whichever commands the controller is to be driven with.
public final class Scanner {
    /// Takes what is heard.
    public var onSighting: ((Sighting) -> Void)?
    /// Called when the controller scans as it is wanted to.
    public var onStarted: (() -> Void)?
    /// Called when the time of a scan is over; nobody listens any more.
    public var onEnded: (() -> Void)?
    /// Called when the controller will not scan; nobody listens any more.
    public var onFailed: ((GAPError) -> Void)?

    private let host: HCIHost
    private let loop: any EventLoop
    private let logger: Logger
    private var machine = ScannerMachine()
    private var devices = DeviceTable()
    private var assembler = ReportAssembler()
    private var assemblyTimer: ScheduledTask?
    private var limit: ScheduledTask?
    private var ownAddress: OwnAddress?
    private var controller: ControllerInformation?
    /// Raised with every reset, so that what is still on its way is not mistaken for what comes after.
    private var life = 0

    /// A scanner that is off. It takes the advertising reports of `host`.
    public init(host: HCIHost, loop: any EventLoop, logger: Logger) {
        self.host = host
        self.loop = loop
        self.logger = logger
        host.onEvent(LEAdvertisingReport.self) { [weak self] in self?.receive($0.reports.compactMap { HeardPacket($0) }) }
        host.onEvent(LEDirectedAdvertisingReport.self) { [weak self] in
            self?.receive($0.reports.compactMap { HeardPacket($0) })
        }
        host.onEvent(LEExtendedAdvertisingReport.self) { [weak self] in self?.receive($0) }
        host.onEvent(LEScanTimeout.self) { [weak self] _ in self?.handle(.limitReached(hasStopped: true)) }
    }

    /// How the controller is wanted to listen.
    public var wanted: ScanSettings? { machine.wanted }

    /// The controller is ready.
    public func begin(_ address: OwnAddress, on controller: ControllerInformation) {
        ownAddress = address
        self.controller = controller
    }

    /// The controller is gone; nobody listens any more.
    public func reset() {
        ownAddress = nil
        controller = nil
        life += 1
        forget()
        endLimit()
        handle(.reset)
    }

    /// Listens like this, in the place of what was wanted before; nil when nobody wants to. What the specification or the
    /// controller does not allow fails at once. Without a controller nothing happens but ``onFailed``.
    public func want(_ settings: ScanSettings?) {
        guard settings != machine.wanted else { return }
        if let settings {
            do throws(GAPError) {
                try check(settings)
            } catch {
                handle(.want(nil))
                onFailed?(error)
                return
            }
        } else {
            forget()
        }
        handle(.want(settings))
    }

    /// Remembers what a device advertises, however many others there are, until ``release(_:)`` (AB-G02).
    public func keep(_ address: BluetoothAddress) {
        devices.keep(address)
    }

    /// Takes one ``keep(_:)`` back.
    public func release(_ address: BluetoothAddress) {
        devices.release(address)
    }

    private func check(_ settings: ScanSettings) throws(GAPError) {
        guard let controller else { throw .notReady }
        try settings.check(for: CommandGeneration(controller), acceptListSize: controller.acceptListSize)
    }

    private func forget() {
        devices.removeAll()
        assembler.removeAll()
    }
}

// MARK: - Commands

extension Scanner {
    private func handle(_ event: ScannerMachine.Event) {
        for action in machine.handle(event) {
            switch action {
            case .start(let settings): start(settings)
            case .stop: stop()
            case .startRetry:
                loop.schedule(after: ScannerMachine.retryDelay) { [weak self] in self?.handle(.retry) }
            case .reportStarted: onStarted?()
            case .reportFailed(let error): onFailed?(error)
            case .reportEnded: onEnded?()
            }
        }
    }

    private func commands(_ settings: ScanSettings) -> ScanCommands? {
        guard let ownAddress, let controller else { return nil }
        return ScanCommands(
            generation: CommandGeneration(controller),
            settings: settings,
            ownAddress: ownAddress
        )
    }

    private func start(_ settings: ScanSettings) {
        guard let commands = commands(settings) else { return handle(.failed(.notReady, isPassing: false)) }
        let life = life
        host.send(inOrder: commands.start) { [weak self] result in
            guard let self, self.life == life else { return }
            switch result {
            case .success:
                startLimit(commands)
                handle(.started)
            case .failure(let error):
                logger.warning("cannot scan: \(error)")
                handle(.failed(GAPError(error), isPassing: error.status?.isPassing ?? false))
            }
        }
    }

    private func stop() {
        endLimit()
        guard let commands = commands(.attentive) else { return handle(.stopped) }
        let life = life
        // Whatever the controller says, it does not scan afterwards.
        host.send(inOrder: commands.stop) { [weak self] _ in
            if self?.life == life { self?.handle(.stopped) }
        }
    }

    /// The extended commands tell the controller the time, and it tells when it is over, unless it is longer than the
    /// command can say.
    private func startLimit(_ commands: ScanCommands) {
        endLimit()
        guard let time = commands.settings.limit, !commands.isTimedByController else { return }
        limit = loop.schedule(after: time) { [weak self] in
            self?.limit = nil
            self?.handle(.limitReached(hasStopped: false))
        }
    }

    private func endLimit() {
        if let limit { loop.cancel(limit) }
        limit = nil
    }
}

// MARK: - Reports

extension Scanner {
    private func receive(_ packets: [HeardPacket]) {
        for packet in packets where machine.wanted != nil {
            if let sighting = devices.receive(packet) { onSighting?(sighting) }
        }
    }

    private func receive(_ event: LEExtendedAdvertisingReport) {
        guard machine.wanted != nil else { return }
        receive(event.reports.compactMap { assembler.receive($0, at: loop.now) })
        armAssemblyTimer()
    }

    /// One timer, set again when it finds a younger chain.
    private func armAssemblyTimer() {
        guard assemblyTimer == nil, let deadline = assembler.deadline else { return }
        assemblyTimer = loop.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            assemblyTimer = nil
            assembler.expire(at: loop.now)
            armAssemblyTimer()
        }
    }
}
