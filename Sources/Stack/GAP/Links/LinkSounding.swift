import BluetoothTypes
import EventLoops
import HCI
import HCIHost

/// Channel Sounding on one link: the commands to the controller, and its results.
package final class LinkSounding {
    /// The configuration that the host uses.
    private static let config: UInt8 = 0

    /// Called with the own results of each procedure, in either role.
    package var onProcedure: ((SoundingProcedure) -> Void)?
    /// Called when the link is ready to measure, as initiator.
    package var onReady: (() -> Void)?
    /// Called when a measurement cannot be made, or a result cannot be used.
    package var onFailure: ((SoundingError) -> Void)?

    private let connection: HCIConnection
    private let host: HCIHost
    private var machine = SoundingMachine()
    private var assembler = ProcedureAssembler()
    /// The transmit power of the procedures, in dBm.
    package private(set) var txPower: Int8 = 0

    init(_ commands: LinkCommands) {
        (connection, host) = (commands.connection, commands.host)
    }

    /// Allows the peer to measure: enables the role of the reflector.
    func reflect() {
        host.send(settings(.reflector)) { _ in }
    }

    /// Prepares the link to measure as initiator. ``onReady`` or ``onFailure`` is called.
    package func prepare() { handle(.start) }

    /// Carries out one procedure. ``onProcedure`` is called, and then ``onReady``.
    package func measure() { handle(.measure) }

    /// Ends the procedure in progress.
    package func stop() { handle(.stop) }

    private func handle(_ event: SoundingMachine.Event) {
        for action in machine.handle(event) { perform(action) }
    }

    private func perform(_ action: SoundingMachine.Action) {
        let handle = connection.handle
        switch action {
        case .readOwnCapabilities: readOwnCapabilities()
        case .setRoles: host.send(settings(.initiator)) { [weak self] in self?.answered($0, isNews: true) }
        case .readCapabilities:
            host.send(LECSReadRemoteSupportedCapabilities(handle: handle)) { [weak self] in self?.answered($0) }
        case .startSecurity: host.send(LECSSecurityEnable(handle: handle)) { [weak self] in self?.answered($0) }
        case .configure: host.send(configuration) { [weak self] in self?.answered($0) }
        case .setParameters(let antennas):
            host.send(parameters(antennas)) { [weak self] in self?.answered($0, isNews: true) }
        case .enable(let isEnabled):
            let command = LECSProcedureEnable(handle: handle, config: Self.config, isEnabled: isEnabled)
            // A procedure may have ended by itself when the host ends it.
            host.send(command) { [weak self] in if isEnabled { self?.answered($0) } }
        case .ready: onReady?()
        case .fail(let error): onFailure?(error)
        }
    }

    private func readOwnCapabilities() {
        host.send(LECSReadLocalSupportedCapabilities()) { [weak self] result in
            switch result {
            case .success(let response): self?.handle(.ownCapabilities(response.capabilities))
            case .failure: self?.answered(result)
            }
        }
    }

    /// Handles the answer to a command.
    ///
    /// - Parameter isNews: Whether the answer completes the step, rather than an event.
    private func answered<Response>(_ result: Result<Response, HCICommandError>, isNews: Bool = false) {
        switch result {
        case .failure(let error): handle(.answered(.command(.init(text: "\(error)"))))
        case .success: if isNews { handle(.answered(nil)) }
        }
    }

    // MARK: Commands

    private func settings(_ roles: LESoundingRoles) -> LECSSetDefaultSettings {
        LECSSetDefaultSettings {
            ($0.handle, $0.roles, $0.syncAntenna, $0.maxTxPower) = (connection.handle, roles, 0xFF, 20)
        }
    }

    /// Tones on all channels, with a round-trip time after three to five of them.
    private var configuration: LECSCreateConfig {
        LECSCreateConfig {
            ($0.handle, $0.config, $0.isForBoth) = (connection.handle, Self.config, true)
            ($0.configuration.mainMode, $0.configuration.subMode) = (2, 1)
            ($0.configuration.minMainModeSteps, $0.configuration.maxMainModeSteps) = (3, 5)
            ($0.configuration.mode0Steps, $0.configuration.syncPHY) = (2, 1)
            $0.configuration.mapRepetition = 1
            // All but 0, 1, 23, 24, 25, 77 and 78 (Core Vol 4 Part E 7.8.137).
            $0.configuration.channelMap = [0xFC, 0xFF, 0x7F, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F]
        }
    }

    private func parameters(_ antennas: LESoundingAntennas) -> LECSSetProcedureParameters {
        LECSSetProcedureParameters {
            ($0.handle, $0.config, $0.maxProcedureLength) = (connection.handle, Self.config, 0xFFFF)
            ($0.minProcedureInterval, $0.maxProcedureInterval, $0.maxProcedureCount) = (1, 100, 1)
            ($0.minSubeventLength, $0.maxSubeventLength) = (1_250, 30_000)
            ($0.phy, $0.txPowerDelta, $0.snrInitiator, $0.snrReflector) = (1, 0x80, 0xFF, 0xFF)
            ($0.antennaConfiguration, $0.preferredPeerAntenna) = (antennas.rawValue, antennas.reflectorMask)
        }
    }

    // MARK: Events

    func receive(_ event: LECSReadRemoteSupportedCapabilitiesComplete) {
        handle(.capabilities(event.status, event.capabilities))
    }

    func receive(_ event: LECSSecurityEnableComplete) { handle(.secured(event.status)) }

    func receive(_ event: LECSConfigComplete) { handle(.configured(event.status)) }

    func receive(_ event: LECSProcedureEnableComplete) {
        if event.isEnabled { txPower = event.txPower }
        handle(.enabled(event.status, isEnabled: event.isEnabled))
    }

    func receive(_ event: LECSSubeventResult) {
        assemble { (assembler) throws(SoundingError) in try assembler.add(event) }
    }

    func receive(_ event: LECSSubeventResultContinue) {
        assemble { (assembler) throws(SoundingError) in try assembler.add(event) }
    }

    private func assemble(
        _ add: (inout ProcedureAssembler) throws(SoundingError) -> SoundingProcedure?
    ) {
        do throws(SoundingError) {
            guard let procedure = try add(&assembler) else { return }
            onProcedure?(procedure)
            handle(.procedureEnded)
        } catch {
            onFailure?(error)
            // The controller may still be in the middle of the procedure.
            handle(.stop)
            handle(.start)
        }
    }
}
