import BluetoothTypes
import EventLoops
import HCI

/// The control procedures of Channel Sounding (Core Vol 6 Part B 5.1.23 to 5.1.28).
extension LinkControl {
    /// A procedure that the host has requested.
    enum SoundingProcedure: Hashable {
        case capabilities
        case errorTable
        case security
        case configuration(SoundingConfigurationRequest)
        case start(config: UInt8)
        case termination(config: UInt8)

        /// The PDU that starts the procedure.
        var opcode: ControlOpcode {
            switch self {
            case .capabilities: .soundingCapabilitiesReq
            case .errorTable: .soundingFAEReq
            case .security: .soundingSecReq
            case .configuration: .soundingConfigReq
            case .start: .soundingReq
            case .termination: .soundingTerminateReq
            }
        }
    }

    /// The outcome of a procedure for the host.
    enum SoundingReport: Hashable {
        case capabilities(HCIStatus, LESoundingCapabilities)
        case errorTable(HCIStatus, PacketBuffer)
        case security(HCIStatus)
        case configuration(HCIStatus, config: UInt8, LESoundingConfiguration?)
        case started(HCIStatus, config: UInt8, SoundingSchedule?)
        case ended(HCIStatus, config: UInt8)
    }

    /// The time after the anchor point from which a subevent may start, and the minimum between its end and the next
    /// anchor point, in microseconds.
    static let (soundingOffset, soundingMargin): (UInt32, UInt32) = (2_500, 500)

    // MARK: Start of a procedure

    mutating func startSounding(_ procedure: SoundingProcedure) {
        if let remoteFeatures, !remoteFeatures.contains(.channelSounding) {
            return reportSounding(procedure, failure: .unsupportedRemoteFeature)
        }
        // What the host has been told when it gave the command may no longer hold.
        if case .start(let config) = procedure {
            let status = sounding.readiness(of: config)
            guard status == .success else { return reportSounding(procedure, failure: status) }
        }
        procedures.start(.sounding(procedure))
        switch procedure {
        case .capabilities: send(.soundingCapabilitiesRequest(.init(sounding.own ?? .init())))
        case .errorTable: send(.soundingErrorTableRequest)
        case .security:
            sounding.offered = newSecurityValues()
            send(.soundingSecurityRequest(sounding.offered))
        case .configuration(let pdu): send(.soundingConfigurationRequest(pdu))
        case .start(let config): send(.soundingRequest(proposal(for: config)))
        case .termination(let config):
            endSounding()
            var pdu = SoundingTermination()
            (pdu.config, pdu.procedures, pdu.error) = (config, sounding.procedures, .remoteUserTerminated)
            send(.soundingTerminateRequest(pdu))
        }
    }

    private func newSecurityValues() -> SoundingSecurityExchange {
        var values = SoundingSecurityExchange()
        values.vector = setup.random.next()
        values.nonce = UInt32(truncatingIfNeeded: setup.random.next())
        values.personalization = setup.random.next()
        return values
    }

    /// Proposes one subevent after each connection event.
    private func proposal(for config: UInt8) -> SoundingRequest {
        var pdu = SoundingRequest()
        guard let parameters = sounding.configurations[config]?.parameters else { return pdu }
        pdu.config = config
        pdu.event = newInstant
        let interval = UInt32(timing.intervalMicroseconds)
        let room = max(interval, Self.soundingOffset + Self.soundingMargin) - Self.soundingOffset - Self.soundingMargin
        (pdu.offsetMin, pdu.offsetMax) = (Self.soundingOffset, Self.soundingOffset)
        pdu.maxProcedureLength = parameters.maxProcedureLength
        pdu.subevents.eventInterval = max(subrate.factor, 1)
        pdu.subevents.perEvent = 1
        pdu.subevents.length = max(min(room, parameters.maxSubeventLength), parameters.minSubeventLength)
        pdu.procedureInterval = parameters.maxProcedureInterval
        pdu.procedureCount = parameters.maxProcedureCount
        (pdu.power.phy, pdu.power.preferredAntenna) = (parameters.phy, parameters.preferredPeerAntenna)
        pdu.power.antennaConfiguration = parameters.antennaConfiguration
        pdu.snr = parameters.snrInitiator & 0xF | parameters.snrReflector << 4
        return pdu
    }

    // MARK: PDUs of the peer

    mutating func receiveSounding(_ pdu: ControlPDU) {
        switch pdu {
        case .soundingCapabilitiesRequest(let body):
            sounding.remote = body.capabilities
            send(.soundingCapabilitiesResponse(.init(sounding.own ?? .init())))
        case .soundingCapabilitiesResponse(let body):
            guard procedures.end(.sounding(.capabilities)) else { return }
            sounding.remote = body.capabilities
            report(.sounding(.capabilities(.success, body.capabilities)))
        case .soundingErrorTableRequest:
            // The simulated oscillators have no such errors.
            send(.soundingErrorTableResponse(.init()))
        case .soundingErrorTableResponse(let body):
            guard procedures.end(.sounding(.errorTable)) else { return }
            report(.sounding(.errorTable(.success, body.table)))
        case .soundingSecurityRequest(let body): receiveSecurity(body)
        case .soundingSecurityResponse(let body):
            guard procedures.end(.sounding(.security)) else { return }
            sounding.random = SoundingRandom(central: sounding.offered, peripheral: body)
            report(.sounding(.security(.success)))
        case .soundingConfigurationRequest(let body): receiveConfiguration(body)
        case .soundingConfigurationResponse(let body): receiveConfiguration(body)
        default: receiveSoundingStart(pdu)
        }
    }

    private mutating func receiveSoundingStart(_ pdu: ControlPDU) {
        switch pdu {
        case .soundingRequest(let body): receiveSounding(body)
        case .soundingResponse(let body): receiveSounding(body)
        case .soundingIndication(let body): receiveSounding(body)
        case .soundingTerminateRequest(let body):
            guard sounding.active == body.config else { return refuse(.soundingTerminateReq, .commandDisallowed) }
            endSounding()
            var answer = body
            answer.procedures = sounding.procedures
            settleRandom(body.procedures)
            send(.soundingTerminateResponse(answer))
            report(.sounding(.ended(.success, config: body.config)))
        case .soundingTerminateResponse(let body):
            guard procedures.end(.sounding(.termination(config: body.config))) else { return }
            settleRandom(body.procedures)
            report(.sounding(.ended(.success, config: body.config)))
        default: break
        }
    }

    /// Only a central starts security, on an encrypted link.
    private mutating func receiveSecurity(_ body: SoundingSecurityExchange) {
        guard encryption.state == .encrypted else { return refuse(.soundingSecReq, .insufficientSecurity) }
        let own = newSecurityValues()
        sounding.random = SoundingRandom(central: body, peripheral: own)
        send(.soundingSecurityResponse(own))
        report(.sounding(.security(.success)))
    }

    private mutating func receiveConfiguration(_ pdu: SoundingConfigurationRequest) {
        var settings = pdu.configuration
        settings.role = settings.role.opposite
        guard pdu.config < SoundingState.maximumConfigurations, sounding.active != pdu.config else {
            return refuse(.soundingConfigReq, .invalidLinkLayerParameters)
        }
        guard pdu.isCreated else {
            sounding.configurations[pdu.config] = nil
            send(.soundingConfigurationResponse(.init(config: pdu.config)))
            return report(.sounding(.configuration(.success, config: pdu.config, nil)))
        }
        let status = sounding.check(settings)
        guard status == .success, pdu.times == SoundingPlan.times else {
            let isInvalid = status == .invalidParameters
            return refuse(.soundingConfigReq, isInvalid ? .invalidLinkLayerParameters : .unsupportedLinkLayerParameter)
        }
        sounding.configurations[pdu.config] = .init(settings: settings)
        send(.soundingConfigurationResponse(.init(config: pdu.config)))
        report(.sounding(.configuration(.success, config: pdu.config, settings)))
    }

    private mutating func receiveConfiguration(_ pdu: SoundingConfigurationResponse) {
        guard case .sounding(.configuration(let asked)) = local, asked.config == pdu.config else { return }
        procedures.end()
        let settings = asked.isCreated ? asked.configuration : nil
        sounding.configurations[pdu.config] = settings.map { .init(settings: $0) }
        report(.sounding(.configuration(.success, config: pdu.config, settings)))
    }

    /// Handles the request of the peer. The peripheral accepts, and the central decides (5.1.26).
    private mutating func receiveSounding(_ pdu: SoundingRequest) {
        guard let configuration = sounding.configurations[pdu.config], sounding.random != nil, sounding.active == nil,
            sounding.allows(configuration.settings.role)
        else { return refuse(.soundingReq, .commandDisallowed) }
        guard pdu.offsetMin <= pdu.offsetMax, fits(pdu.subevents, offset: pdu.offsetMin),
            pdu.procedureInterval > 0, supports(pdu.power, pdu.config)
        else { return refuse(.soundingReq, .unsupportedLinkLayerParameter) }
        guard remote == nil else { return refuse(.soundingReq, .differentTransactionCollision) }
        sounding.proposed = pdu
        var power = pdu.power
        power.preferredAntenna = nil
        if isCentral {
            var indication = SoundingIndication()
            (indication.config, indication.event, indication.offset) = (pdu.config, newInstant, pdu.offsetMin)
            (indication.subevents, indication.power) = (pdu.subevents, power)
            send(.soundingIndication(indication))
            return beginSounding(indication)
        }
        var response = SoundingResponse()
        (response.config, response.event) = (pdu.config, pdu.event)
        (response.offsetMin, response.offsetMax) = (pdu.offsetMin, pdu.offsetMax)
        (response.subevents, response.power) = (pdu.subevents, power)
        procedures.join(.soundingAwaitingIndication)
        send(.soundingResponse(response))
    }

    /// Whether subevents fit between connection events.
    private func fits(_ subevents: SoundingSubevents, offset: UInt32) -> Bool {
        subevents.perEvent == 1 && subevents.eventInterval >= 1 && subevents.length >= 1_250 && offset >= 500
            && Int64(offset) + Int64(subevents.length) + Int64(Self.soundingMargin) <= timing.intervalMicroseconds
    }

    /// Whether both devices have the antennas that the peer proposes.
    private func supports(_ power: SoundingPower, _ config: UInt8) -> Bool {
        guard let role = sounding.configurations[config]?.settings.role else { return false }
        return sounding.supports(power.antennaConfiguration, as: role)
    }

    /// Handles the answer to a request of the central. AB-L04: one that cannot be carried out ends the link.
    private mutating func receiveSounding(_ pdu: SoundingResponse) {
        guard isCentral, case .sounding(.start(let config)) = local, config == pdu.config else { return }
        procedures.end()
        guard supports(pdu.power, config) else { return emit(.end(.invalidLinkLayerParameters)) }
        sounding.proposed = proposal(for: config)
        var indication = SoundingIndication()
        (indication.config, indication.event, indication.offset) = (config, newInstant, pdu.offsetMin)
        (indication.subevents, indication.power) = (pdu.subevents, pdu.power)
        send(.soundingIndication(indication))
        beginSounding(indication)
    }

    /// Handles the central's decision. AB-L04: one that cannot be carried out ends the link.
    private mutating func receiveSounding(_ pdu: SoundingIndication) {
        var isExpected = remote == .soundingAwaitingIndication && sounding.proposed?.config == pdu.config
        if case .sounding(.start(let config)) = local, config == pdu.config {
            isExpected = true
            sounding.proposed = proposal(for: config)
            procedures.end()
        }
        guard isExpected else { return }
        procedures.leave(.soundingAwaitingIndication)
        guard fits(pdu.subevents, offset: pdu.offset), pdu.event &- counter < 32_767, supports(pdu.power, pdu.config)
        else {
            return emit(.end(.invalidLinkLayerParameters))
        }
        beginSounding(pdu)
    }

    private mutating func beginSounding(_ indication: SoundingIndication) {
        guard let settings = sounding.configurations[indication.config]?.settings, let random = sounding.random,
            let asked = sounding.proposed
        else { return }
        let schedule = SoundingSchedule(
            indication: indication,
            settings: settings,
            procedureInterval: asked.procedureInterval,
            procedureCount: asked.procedureCount,
            maxProcedureLength: asked.maxProcedureLength,
            random: random
        )
        (sounding.active, sounding.procedures) = (indication.config, 0)
        report(.sounding(.started(.success, config: indication.config, schedule)))
        emit(.startSounding(schedule))
    }

    private mutating func endSounding() {
        sounding.active = nil
        emit(.stopSounding)
    }

    /// Advances the generator past the procedures of an ended schedule, of which one device may have begun more.
    private mutating func settleRandom(_ procedures: UInt16) {
        for _ in 0..<max(procedures, sounding.procedures) { sounding.random?.advance() }
        sounding.procedures = 0
    }

    mutating func noteSounding(procedures: UInt16) {
        sounding.procedures = procedures
    }

    /// Records that the last procedure of a schedule has been carried out, with the generator as it has advanced.
    mutating func soundingEnded(_ random: SoundingRandom) {
        sounding.active = nil
        sounding.random = random
    }

    /// Keeps what the host wants of the procedures with a configuration.
    mutating func setSounding(_ parameters: LECSSetProcedureParameters) {
        sounding.configurations[parameters.config]?.parameters = parameters
    }

    /// Keeps the capabilities of the peer, which the host remembers.
    mutating func setSounding(remote capabilities: LESoundingCapabilities) {
        sounding.remote = capabilities
    }

    mutating func setSounding(roles: LESoundingRoles) {
        sounding.roles = roles
    }

    /// Creates a configuration on this device only.
    mutating func createSounding(_ settings: LESoundingConfiguration, config: UInt8) {
        sounding.configurations[config] = .init(settings: settings)
    }

    // MARK: Failures

    /// Reports the failure of a procedure that this device has started.
    mutating func reportSounding(_ procedure: SoundingProcedure, failure status: HCIStatus) {
        switch procedure {
        case .capabilities: report(.sounding(.capabilities(status, .init())))
        case .errorTable: report(.sounding(.errorTable(status, [])))
        case .security: report(.sounding(.security(status)))
        case .configuration(let pdu):
            report(.sounding(.configuration(status, config: pdu.config, pdu.isCreated ? pdu.configuration : nil)))
        case .start(let config): report(.sounding(.started(status, config: config, nil)))
        case .termination(let config): report(.sounding(.ended(status, config: config)))
        }
    }
}
