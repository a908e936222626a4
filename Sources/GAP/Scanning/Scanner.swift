import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Privacy

/// Listens for advertisements with whichever commands the controller is to be driven with.
package final class Scanner: RadioUser {
    /// Takes what is heard.
    package var onSighting: ((Sighting) -> Void)?
    /// Called when the controller scans as it is wanted to.
    package var onStarted: (() -> Void)?
    /// Called when the time of a scan is over; nobody listens any more.
    package var onEnded: (() -> Void)?
    /// Called when the controller will not scan; nobody listens any more.
    package var onFailed: ((GAPError) -> Void)?

    /// Asked when the controller refuses to scan, or seems to hear nothing: whether it is going to be driven otherwise, and the scan
    /// waits for that.
    var onTrouble: ((ControllerTrouble) -> Bool)?
    /// Called with the first packet that is heard since the controller was reset.
    var onFirstHeard: (() -> Void)?
    private var watch = ScanWatch()
    private var lastHeard: Instant?
    /// As long ago as an advertiser is silent that shows itself every 1.28 s and is missed now and then.
    private static let moment = Duration.seconds(4)
    private var watchTimer: ScheduledTask?
    private var holders = RadioHolders()

    private let host: HCIHost
    private let loop: any EventLoop
    private let happenings: HappeningSink
    private let privacy: DevicePrivacy?
    /// How the owner wants to listen.
    private var asked: ScanSettings?
    /// How to listen for bonded peers that are to be connected to.
    private var sought: ScanSettings?
    /// Takes the connectable packets of bonded peers while they are sought: who it is, and where.
    var onHeard: ((_ identity: BluetoothAddress, _ address: BluetoothAddress) -> Void)?
    /// Called when the controller will not listen for those who are sought.
    var onSeekFailed: ((GAPError) -> Void)?
    private var machine = ScannerMachine()
    private var devices = DeviceTable()
    private var assembler = ReportAssembler()
    private var assemblyTimer: ScheduledTask?
    private var limit: ScheduledTask?
    /// When the time of what was asked for is over, once it has begun.
    private var deadline: Instant?
    private var ownAddress: OwnAddress?
    private var controller: ControllerInformation?
    /// Raised with every reset, so that what is still on its way is not mistaken for what comes after.
    private var life = 0

    /// A scanner that is off. It takes the advertising reports of `host`.
    ///
    /// - Parameter privacy: What gives it its address and recognises bonded peers; nil for the address of ``begin(_:on:)``
    ///   and none to be recognised.
    package init(host: HCIHost, loop: any EventLoop, happenings: HappeningSink, privacy: DevicePrivacy? = nil) {
        self.host = host
        self.loop = loop
        self.happenings = happenings
        self.privacy = privacy
        privacy?.scanner = self
        host.onEvent(LEAdvertisingReport.self) { [weak self] in self?.receive($0.reports.compactMap { HeardPacket($0) })
        }
        host.onEvent(LEDirectedAdvertisingReport.self) { [weak self] in
            self?.receive($0.reports.compactMap { HeardPacket($0) })
        }
        host.onEvent(LEExtendedAdvertisingReport.self) { [weak self] in self?.receive($0) }
        host.onEvent(LEScanTimeout.self) { [weak self] _ in self?.handle(.limitReached(hasStopped: true)) }
    }

    /// How the controller is wanted to listen.
    package var wanted: ScanSettings? { asked }

    /// The controller is ready.
    package func begin(_ address: OwnAddress, on controller: ControllerInformation) {
        ownAddress = address
        self.controller = controller
        update()
    }

    /// The controller is another one than it seemed.
    func renewed(_ controller: ControllerInformation) { self.controller = controller }

    /// The controller is gone; nobody listens any more.
    package func reset() {
        (watch, lastHeard) = (ScanWatch(), nil)
        holders = RadioHolders()
        endWatch()
        ownAddress = nil
        controller = nil
        life += 1
        (asked, sought, deadline) = (nil, nil, nil)
        forget()
        endLimit()
        handle(.reset)
    }

    /// Listens like this, in the place of what was wanted before; nil when nobody wants to. What the specification or the
    /// controller does not allow fails at once. Without a controller nothing happens but ``onFailed``.
    package func want(_ settings: ScanSettings?) {
        guard settings != asked else { return }
        deadline = nil
        if let settings {
            do throws(GAPError) {
                try check(settings)
            } catch {
                asked = nil
                update()
                onFailed?(error)
                return
            }
        } else {
            forget()
        }
        asked = settings
        update()
    }

    /// Listens for bonded peers besides, whatever the owner wants; nil for no longer.
    func seek(_ settings: ScanSettings?) {
        sought = settings
        update()
    }

    /// Remembers what a device advertises, however many others there are, until ``release(_:)`` (AB-G02).
    package func keep(_ address: BluetoothAddress) {
        devices.keep(address)
    }

    /// Takes one ``keep(_:)`` back.
    package func release(_ address: BluetoothAddress) {
        devices.release(address)
    }

    private func check(_ settings: ScanSettings) throws(GAPError) {
        guard let controller else { throw .notReady }
        if settings.address == .nonResolvablePrivate, privacy == nil {
            throw .impossible("a scan with an address of its own needs private addresses; use the device's own")
        }
        try settings.check(for: CommandGeneration(controller), acceptListSize: controller.acceptListSize)
    }

    private func forget() {
        devices.removeAll()
        assembler.removeAll()
    }
}

// MARK: - What the controller is to do

extension Scanner {
    /// The shortest time that a scan is begun for.
    private static let shortestLimit = Duration.milliseconds(10)

    /// The controller is to do what the owner wants, and to listen for those who are sought.
    private func update() {
        guard controller != nil else { return }
        let settings = combined
        privacy?.declare(addressNeed(of: settings), of: .scanner)
        handle(.want(settings))
    }

    private var combined: ScanSettings? {
        guard var settings = asked else { return sought }
        if let sought {
            settings.limit = nil
            settings.advertisers = nil
            settings.phys.formUnion(sought.phys)
        } else if settings.advertisers?.contains(where: { privacy?.isResolvedByHost($0) ?? false }) == true {
            // The list would have to hold addresses that are not known before they are heard.
            settings.advertisers = nil
        }
        return settings
    }

    private func addressNeed(of settings: ScanSettings?) -> AddressNeed {
        guard let settings else { return .none }
        return settings.address == .nonResolvablePrivate ? .nonResolvable : .any
    }

    /// What the owner wanted has come to its end.
    private func finish() {
        (asked, deadline) = (nil, nil)
        update()
    }

    /// Whether the controller scans, or is about to.
    var isBusy: Bool {
        switch machine.state {
        case .off, .blocked: false
        case .starting, .scanning, .stopping: true
        }
    }

    /// Stops for a while, and tells the privacy when it has.
    package func pause() { pause(.privacy) }

    /// Goes on.
    package func resume() { resume(.privacy) }

    func pause(_ holder: RadioHolders.Holder) {
        holders.add(holder)
        handle(.pause)
    }

    func resume(_ holder: RadioHolders.Holder) {
        if holders.remove(holder) { handle(.resume) }
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
            case .reportFailed(let error):
                let wasAsked = asked != nil
                (asked, sought, deadline) = (nil, nil, nil)
                update()
                if wasAsked { onFailed?(error) }
                onSeekFailed?(error)
            case .reportEnded:
                finish()
                onEnded?()
            case .reportPaused: privacy?.handle(.quiet(.scanner))
            }
        }
    }

    private func commands(_ settings: ScanSettings) -> ScanCommands? {
        guard let ownAddress = privacy?.sharedAddress ?? ownAddress, let controller else { return nil }
        var settings = settings
        // What is left of it, when it begins anew.
        if let deadline, settings.limit != nil {
            settings.limit = max(deadline - loop.now, Self.shortestLimit)
        }
        return ScanCommands(
            generation: CommandGeneration(controller),
            settings: settings.masked(for: controller),
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
                beginWatch(commands.settings)
                handle(.started)
            case .failure(let error):
                happenings.tell(AccessHappening.cannotScan(error))
                let isMended = onTrouble?(.refused(error, uses: commands.settings.phys.intersection(.coded))) ?? false
                handle(.failed(GAPError(error), isPassing: isMended || error.status?.isPassing ?? false))
            }
        }
    }

    private func stop() {
        endLimit()
        endWatch()
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
        guard let time = asked?.limit else { return }
        let end = deadline ?? loop.now + time
        deadline = end
        guard !commands.isTimedByController else { return }
        limit = loop.schedule(at: end) { [weak self] in
            self?.limit = nil
            self?.limitReached()
        }
    }

    private func limitReached() {
        guard sought != nil else { return handle(.limitReached(hasStopped: false)) }
        // It goes on for those who are sought.
        finish()
        onEnded?()
    }

    private func endLimit() {
        if let limit { loop.cancel(limit) }
        limit = nil
    }
}

// MARK: - Silence

extension Scanner {
    /// A scan for everybody that hears nobody at all may be one of a controller that does not scan.
    private func beginWatch(_ settings: ScanSettings) {
        endWatch()
        // With the Coded PHY there is only one way to listen.
        guard settings.advertisers == nil, !settings.phys.contains(.coded), let pause = watch.begin() else { return }
        watchTimer = loop.schedule(after: pause) { [weak self] in
            guard let self else { return }
            watchTimer = nil
            if watch.expire() { _ = onTrouble?(.silent) }
        }
    }

    private func endWatch() {
        if let watchTimer { loop.cancel(watchTimer) }
        watchTimer = nil
    }

    /// Notices again that nobody is heard, if it could not be minded when it was noticed.
    func watchForSilence() {
        guard watchTimer == nil, case .scanning(let settings) = machine.state else { return }
        beginWatch(settings)
    }

    /// Whether it listens to everybody, and has heard somebody a moment ago.
    var hearsNow: Bool {
        guard case .scanning(let settings) = machine.state, settings.advertisers == nil, let lastHeard else {
            return false
        }
        return loop.now - lastHeard <= Self.moment
    }

    /// What is heard from now on counts.
    func listensAnew() { watch.listensAnew() }
}

// MARK: - Reports

extension Scanner {
    private func receive(_ packets: [HeardPacket]) {
        if !packets.isEmpty { lastHeard = loop.now }
        if !packets.isEmpty, !watch.hasHeard {
            watch.heard()
            onFirstHeard?()
        }
        for packet in packets where machine.wanted != nil {
            var packet = packet
            if let privacy, packet.advertiser.address != .none {
                packet.resolve(to: privacy.identity(of: packet.advertiser.address))
                if packet.kind.contains(.isConnectable) { noteConnectable(packet) }
            }
            guard let asked, asked.advertisers?.contains(packet.advertiser.address) ?? true else { continue }
            if let sighting = devices.receive(packet) { onSighting?(sighting) }
        }
    }

    /// A bonded peer that shows its identity address where it should not is not connected to, for anybody can show it.
    private func noteConnectable(_ packet: HeardPacket) {
        guard let peer = privacy?.bonded(packet.advertiser.address), packet.isResolved || peer.mayShowIdentity else {
            return
        }
        let address = packet.privateAddress ?? packet.advertiser.address
        privacy?.heard(peer.identity, at: address)
        if sought != nil { onHeard?(peer.identity, address) }
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
