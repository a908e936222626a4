import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Security

/// Scans for advertisements with legacy or extended commands as suits the controller.
package final class HostScanner: HeldRadioUser {
    package var onSighting: ((Sighting) -> Void)?
    package var onStarted: (() -> Void)?
    /// Called when the controller refuses to scan. No scan is wanted any more.
    package var onFailed: ((GAPError) -> Void)?

    package var onTrouble: ((ControllerTrouble) -> Bool)?
    /// Called with the first packet received since the controller was reset.
    var onFirstReport: (() -> Void)?
    private var watch = ScanWatch()
    private var lastReception: Instant?
    /// Longer than an advertiser with a 1.28 s interval stays silent, allowing for missed packets.
    private static let longestSilence = Duration.seconds(4)
    private var watchTimer: ScheduledTask?
    private var holders = RadioHolders()

    private let host: HCIHost
    private let loop: any EventLoop
    private let stackEvents: StackEventSink
    private let privacy: DevicePrivacy?
    /// The settings that the owner requested.
    private var asked: ScanSettings?
    /// The settings for finding bonded peers to connect to.
    private var sought: ScanSettings?
    /// Called with connectable packets of bonded peers while the host searches for them.
    var onBondedPeer: ((_ identity: BluetoothAddress, _ address: BluetoothAddress) -> Void)?
    /// Called when the controller refuses to scan for those peers.
    var onSeekFailed: ((GAPError) -> Void)?
    private var machine = ScannerMachine()
    private var devices = DeviceTable()
    private var assembler = ReportAssembler()
    private var assemblyTimer: ScheduledTask?
    private var ownAddress: OwnAddress?
    private var controller: ControllerInformation?
    /// The generation, incremented by every reset, so that late command results are ignored.
    private var epoch = 0

    /// Creates a scanner, which is off. It handles the advertising reports of `host`.
    ///
    /// - Parameter privacy: Provides the own address and resolves those of bonded peers; nil to use the address from
    ///   ``begin(_:on:)`` and resolve none.
    package init(host: HCIHost, loop: any EventLoop, stackEvents: StackEventSink, privacy: DevicePrivacy? = nil) {
        self.host = host
        self.loop = loop
        self.stackEvents = stackEvents
        self.privacy = privacy
        host.onEvent(LEAdvertisingReport.self) { [weak self] in
            self?.receive($0.reports.compactMap { ReceivedPacket($0) })
        }
        host.onEvent(LEDirectedAdvertisingReport.self) { [weak self] in
            self?.receive($0.reports.compactMap { ReceivedPacket($0) })
        }
        host.onEvent(LEExtendedAdvertisingReport.self) { [weak self] in self?.receive($0) }
    }

    package var wanted: ScanSettings? { asked }

    /// Called when the controller is ready.
    package func begin(_ address: OwnAddress, on controller: ControllerInformation) {
        ownAddress = address
        self.controller = controller
        update()
    }

    /// Called when the controller's capabilities have been reassessed.
    func renewed(_ controller: ControllerInformation) { self.controller = controller }

    /// Called when the controller is gone. Discards the wanted scan.
    package func reset() {
        (watch, lastReception) = (ScanWatch(), nil)
        holders = RadioHolders()
        if let watchTimer = watchTimer.take() { loop.cancel(watchTimer) }
        ownAddress = nil
        controller = nil
        epoch += 1
        (asked, sought) = (nil, nil)
        forget()
        handle(.reset)
    }

    /// Replaces the current scan; nil stops it. Settings that the specification or the controller does not allow fail
    /// at once, and so do any settings without a controller: only ``onFailed`` is called.
    package func want(_ settings: ScanSettings?) {
        guard settings != asked else { return }
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

    /// Scans for bonded peers in addition to the owner's scan; nil to stop.
    func seek(_ settings: ScanSettings?) {
        sought = settings
        update()
    }

    /// Keeps the advertising data of a device, regardless of the number of other devices, until ``release(_:)``
    /// (AB-G02).
    package func keep(_ address: BluetoothAddress) {
        devices.keep(address)
    }

    package func release(_ address: BluetoothAddress) {
        devices.release(address)
    }

    private func check(_ settings: ScanSettings) throws(GAPError) {
        guard let controller else { throw .notReady }
        try settings.check(for: CommandGeneration(controller))
    }

    private func forget() {
        devices.removeAll()
        assembler.removeAll()
    }
}

// MARK: - Combined scan

extension HostScanner {
    /// Applies the combination of the owner's scan and the search for bonded peers.
    private func update() {
        guard controller != nil else { return }
        handle(.want(combined))
    }

    private var combined: ScanSettings? {
        guard var settings = asked else { return sought }
        if let sought { settings.phys.formUnion(sought.phys) }
        return settings
    }

    package var isBusy: Bool {
        switch machine.state {
        case .off, .blocked: false
        case .starting, .running, .stopping: true
        }
    }

    package func pause(_ holder: RadioHolders.Holder) {
        holders.add(holder)
        handle(.pause)
    }

    package func resume(_ holder: RadioHolders.Holder) {
        if holders.remove(holder) { handle(.resume) }
    }
}

// MARK: - Commands

extension HostScanner {
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
                (asked, sought) = (nil, nil)
                update()
                if wasAsked { onFailed?(error) }
                onSeekFailed?(error)
            case .reportPaused: privacy?.handle(.quiet(.scanner))
            }
        }
    }

    private func commands(_ settings: ScanSettings) -> ScanCommands? {
        guard let ownAddress = privacy?.sharedAddress ?? ownAddress, let controller else { return nil }
        return ScanCommands(
            generation: CommandGeneration(controller),
            settings: settings.masked(for: controller),
            ownAddress: ownAddress
        )
    }

    private func start(_ settings: ScanSettings) {
        guard let commands = commands(settings) else { return handle(.failed(.notReady, isPassing: false)) }
        let epoch = epoch
        host.send(inOrder: commands.start) { [weak self] result in
            guard let self, self.epoch == epoch else { return }
            switch result {
            case .success:
                beginWatch(commands.settings)
                handle(.started)
            case .failure(let error):
                stackEvents.report(AccessEvent.cannotScan(error))
                let isMended = onTrouble?(.refused(error, uses: commands.settings.phys.intersection(.coded))) ?? false
                handle(.failed(GAPError(error), isPassing: isMended || error.status?.isPassing ?? false))
            }
        }
    }

    private func stop() {
        if let watchTimer = watchTimer.take() { loop.cancel(watchTimer) }
        guard let commands = commands(.attentive) else { return handle(.stopped) }
        let epoch = epoch
        // The controller is not scanning after this, even if it returns an error.
        host.send(inOrder: commands.stop) { [weak self] _ in
            if self?.epoch == epoch { self?.handle(.stopped) }
        }
    }
}

// MARK: - Silent controllers

extension HostScanner {
    /// Starts the watch for a controller that does not really scan.
    private func beginWatch(_ settings: ScanSettings) {
        if let watchTimer = watchTimer.take() { loop.cancel(watchTimer) }
        // For the Coded PHY there are no other commands to try.
        guard !settings.phys.contains(.coded), let pause = watch.begin() else { return }
        watchTimer = loop.schedule(after: pause) { [weak self] in
            guard let self else { return }
            watchTimer = nil
            if watch.expire() { _ = onTrouble?(.silent) }
        }
    }

    /// Restarts the watch, if it expired when no other commands could be tried.
    func watchForSilence() {
        guard watchTimer == nil, case .running(let settings) = machine.state else { return }
        beginWatch(settings)
    }

    /// Whether a scan is running and has recently received a packet.
    var isReceiving: Bool {
        guard case .running = machine.state, let lastReception else { return false }
        return loop.now - lastReception <= Self.longestSilence
    }

    /// Restarts the detection of a silent controller: only packets received from now on count.
    func restartListening() { watch.restartListening() }
}

// MARK: - Advertising reports

extension HostScanner {
    private func receive(_ packets: [ReceivedPacket]) {
        if !packets.isEmpty { lastReception = loop.now }
        if !packets.isEmpty, !watch.hasReceived {
            watch.packetReceived()
            onFirstReport?()
        }
        for packet in packets where machine.wanted != nil {
            var packet = packet
            if let privacy, packet.advertiser.address != .none {
                packet.resolve(to: privacy.identity(of: packet.advertiser.address))
                if packet.kind.contains(.isConnectable) { noteConnectable(packet) }
            }
            if asked != nil, let sighting = devices.receive(packet) { onSighting?(sighting) }
        }
    }

    /// Reports a connectable packet of a bonded peer. A peer that unexpectedly uses its identity address is ignored,
    /// since any device can use it.
    private func noteConnectable(_ packet: ReceivedPacket) {
        guard let peer = privacy?.bonded(packet.advertiser.address), packet.isResolved || peer.mayShowIdentity else {
            return
        }
        let address = packet.privateAddress ?? packet.advertiser.address
        privacy?.noteAddress(peer.identity, at: address)
        if sought != nil { onBondedPeer?(peer.identity, address) }
    }

    private func receive(_ event: LEExtendedAdvertisingReport) {
        guard machine.wanted != nil else { return }
        receive(event.reports.compactMap { assembler.receive($0, at: loop.now) })
        armAssemblyTimer()
    }

    /// Arms the timer for incomplete advertisements, which is set again if it finds a younger chain.
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
