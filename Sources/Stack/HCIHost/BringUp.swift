import BluetoothTypes
import HCI

/// The initialization of a controller: the commands to send, their order, and what their answers imply.
///
/// Commands that the controller does not list are skipped. A command that it refuses counts as unsupported, unless the
/// host requires it.
struct BringUp {
    enum Action {
        case send(any HCICommand)
        case ready(ControllerInformation)
        case fail(HCIHostError)
    }

    /// The steps, in the order of execution.
    enum Step: Int, CaseIterable {
        case reset
        case version
        case supportedCommands
        case features
        case address
        case eventMask
        case leHostSupport
        case leFeatures
        case eventMaskPage2
        case leEventMask
        case leBufferSizeV2
        case leBufferSize
        case sharedBufferSize
        case hostBufferSize
        case hostFlowControl
        case leStates
        case acceptListSize
        case resolvingListSize
        case maximumDataLength
        case suggestedDataLength
        case transmitPower
        case channelSounding
        case maximumAdvertisingDataLength
        case advertisingSets
    }

    private(set) var information = ControllerInformation()
    private var step = Step.reset
    // The host buffers to announce; nil leaves host flow control off.
    private var hostBuffers: HostBuffers?
    private var hostSizeAccepted = false
    /// Returns the recorded and trial fallbacks of a controller. Called after its version has been read.
    var fallbacks: (ControllerInformation) -> Set<ControllerFallback> = { _ in [] }
    /// Whether the controller has reported that it supports no advertising set.
    private var hasNoSets = false

    /// Creates a bring-up. With host buffers it turns on host flow control, if the controller supports it.
    init(hostBuffers: HostBuffers? = nil) {
        self.hostBuffers = hostBuffers
    }

    /// Starts over for the controller attached at `place`.
    ///
    /// - Returns: The first command.
    mutating func begin(at place: String = "") -> Action {
        hasNoSets = false
        return reset(at: place)
    }

    private mutating func reset(at place: String) -> Action {
        (information, step, hostSizeAccepted) = (ControllerInformation(place: place), .reset, false)
        return .send(Reset())
    }

    mutating func handle(_ answer: Result<any HCIResponse, HCICommandError>) -> Action {
        switch answer {
        case .success(let response):
            information.apply(response)
            if step == .hostFlowControl, let hostBuffers { information.noteHostFlow(hostBuffers) }
            if step == .hostBufferSize { hostSizeAccepted = true }
        case .failure(let error):
            if case .host(let error) = error { return .fail(error) }
            if step.isNeeded { return .fail(error.asHostError) }
            if step == .supportedCommands { information.assumeVersion40() }
        }
        return next()
    }

    private mutating func next() -> Action {
        while let following = Step(rawValue: step.rawValue + 1) {
            step = following
            if let command = command(following) { return .send(command) }
        }
        if hasNoSets {
            information.noteNoAdvertisingSets()
        } else if information.advertisingSets == 0, !usesExtendedCommands {
            // The host will use the legacy commands, which require a reset after the question about sets (Core Vol 4
            // Part E 3.1.1).
            hasNoSets = true
            return reset(at: information.place)
        }
        information.clampBuffers()
        return .ready(information)
    }

    /// Whether the host will use the extended commands. After the first of these a controller refuses the legacy ones
    /// until it is reset. Questions about advertising sets count as extended commands (Core Vol 4 Part E 3.1.1).
    private var usesExtendedCommands: Bool {
        var expected = information
        expected.apply(fallbacks(information))
        return expected.supportsExtendedAdvertising
    }

    private func command(_ step: Step) -> (any HCICommand)? {
        switch step {
        case .hostBufferSize, .hostFlowControl: hostCommand(step)
        case .maximumAdvertisingDataLength, .advertisingSets:
            !hasNoSets && usesExtendedCommands ? step.command(information) : nil
        default: step.command(information)
        }
    }

    /// Returns the command of a host flow control step. The three commands are used together or not at all.
    private func hostCommand(_ step: Step) -> (any HCICommand)? {
        guard let hostBuffers, Self.hostFlowControlCommands.allSatisfy(information.supports) else { return nil }
        if step == .hostFlowControl { return hostSizeAccepted ? SetControllerToHostFlowControl(kinds: 1) : nil }
        return HostBufferSize(aclLength: hostBuffers.packetLength, aclCount: hostBuffers.packetCount)
    }

    private static let hostFlowControlCommands: [any HCICommand.Type] = [
        HostBufferSize.self, SetControllerToHostFlowControl.self, HostNumberOfCompletedPackets.self,
    ]
}

extension BringUp.Step {
    /// Whether initialization fails if the command fails.
    var isNeeded: Bool {
        switch self {
        case .reset, .eventMask, .leEventMask, .leFeatures: true
        default: false
        }
    }

    /// Returns the command of the step, or nil if it does not apply to the controller.
    func command(_ controller: ControllerInformation) -> (any HCICommand)? {
        switch self {
        case .reset: Reset()
        case .version: ReadLocalVersionInformation()
        case .supportedCommands: ReadLocalSupportedCommands()
        case .leFeatures: LEReadLocalSupportedFeatures()
        case .eventMask: SetEventMask(mask: .wanted)
        case .leEventMask: LESetEventMask(mask: .wanted(by: controller))
        // A version 4.0 controller may leave the bits of these two unset. The host proceeds without an answer.
        case .sharedBufferSize: controller.aclBufferCount == 0 ? ReadBufferSize() : nil
        case .leBufferSize: controller.aclBufferCount == 0 ? LEReadBufferSize() : nil
        default: optionalCommand(controller).flatMap { controller.supports(type(of: $0)) ? $0 : nil }
        }
    }

    private func optionalCommand(_ controller: ControllerInformation) -> (any HCICommand)? {
        switch self {
        case .features: ReadLocalSupportedFeatures()
        case .address: ReadBDADDR()
        case .eventMaskPage2: SetEventMaskPage2(mask: .wanted(by: controller))
        case .leHostSupport:
            controller.features.contains(.brEdrNotSupported) ? nil : WriteLEHostSupport(isSupported: true)
        case .leBufferSizeV2: LEReadBufferSizeV2()
        case .leStates: LEReadSupportedStates()
        case .acceptListSize: LEReadFilterAcceptListSize()
        case .resolvingListSize: LEReadResolvingListSize()
        case .maximumDataLength:
            controller.leFeatures.contains(.dataLengthExtension) ? LEReadMaximumDataLength() : nil
        case .suggestedDataLength:
            // Makes the controller request long packets on each new connection.
            controller.maxTxOctets > 27
                ? LEWriteSuggestedDefaultDataLength(txOctets: controller.maxTxOctets, txTime: controller.maxTxTime)
                : nil
        case .transmitPower: LEReadTransmitPower()
        // Without the host's feature bit, a peer cannot measure the distance (Core Vol 4 Part E 7.8.115).
        case .channelSounding:
            controller.leFeatures.contains(.channelSounding)
                ? LESetHostFeature(bitNumber: LEFeatures.channelSoundingHostBit, isSupported: true) : nil
        case .maximumAdvertisingDataLength: LEReadMaximumAdvertisingDataLength()
        case .advertisingSets: LEReadNumberOfSupportedAdvertisingSets()
        default: nil
        }
    }
}
