import BluetoothTypes
import EventLoops
import HCI

/// Commands that concern the controller as a whole.
extension CommandTable {
    mutating func addControllerCommands() {
        addMaskCommands()
        addInformationCommands()
        add(Reset.self) { controller, _ in
            controller.reset()
            return HCIStatus.success
        }
        add(LESetRandomAddress.self) { $0.setRandomAddress($1) }
        addHostCommands()
        addAcceptListCommands()
    }

    private mutating func addMaskCommands() {
        add(SetEventMask.self) { controller, command in
            controller.host.apply(command)
            return HCIStatus.success
        }
        add(SetEventMaskPage2.self) { controller, command in
            controller.host.apply(command)
            return HCIStatus.success
        }
        add(LESetEventMask.self) { controller, command in
            controller.host.apply(command)
            return HCIStatus.success
        }
    }

    private mutating func addInformationCommands() {
        add(ReadLocalVersionInformation.self) { controller, _ in
            let it = controller.configuration
            return .init {
                $0.hciVersion = it.version
                $0.hciRevision = it.subversion
                $0.linkLayerVersion = it.version
                $0.companyIdentifier = it.companyIdentifier
                $0.linkLayerSubversion = it.subversion
            }
        }
        add(ReadLocalSupportedCommands.self) { controller, _ in
            .init(commands: CommandTable.shared.supported(with: controller.configuration.features))
        }
        add(ReadLocalSupportedFeatures.self) { _, _ in .init(features: [.brEdrNotSupported, .leController]) }
        add(ReadBDADDR.self) { controller, _ in .init(address: controller.configuration.publicAddress) }
        add(LEReadBufferSize.self) { controller, _ in Self.buffers(of: controller) }
        add(LEReadBufferSizeV2.self) { controller, _ in .init(Self.buffers(of: controller)) }
        add(LEReadLocalSupportedFeatures.self) { controller, _ in
            .init(features: controller.localFeatures)
        }
        // All pages after the first are empty.
        add(LEReadAllLocalSupportedFeatures.self) { controller, _ in
            .init(page0: controller.localFeatures)
        }
        add(LEReadSupportedStates.self) { _, _ in .init(states: .all) }
        add(LEReadTransmitPower.self) { controller, _ in
            .init(minimum: controller.configuration.transmitPower, maximum: controller.configuration.transmitPower)
        }
    }

    private static func buffers(of controller: VirtualController) -> LEReadBufferSize.Response {
        .init(
            aclDataPacketLength: controller.configuration.aclPacketLength,
            totalACLDataPackets: controller.configuration.aclPacketCount
        )
    }

    private mutating func addHostCommands() {
        add(LEReadRFPathCompensation.self) { controller, _ in
            .init(transmit: controller.pathCompensation.transmit, receive: controller.pathCompensation.receive)
        }
        add(LEWriteRFPathCompensation.self) { $0.writePathCompensation($1) }
        add(LESetHostFeature.self) { controller, command in
            guard command.bitNumber <= 63 else { return HCIStatus.invalidParameters }
            guard controller.links.isEmpty else { return .commandDisallowed }
            let feature = LEFeatures(rawValue: 1 << UInt64(command.bitNumber))
            let available = controller.configuration.features
            if feature == .connectionSubratingHost && available.contains(.connectionSubrating)
                || feature == .channelSoundingHost && available.contains(.channelSounding)
            {
                controller.setDefault(.feature(feature, isSupported: command.isSupported))
                return .success
            }
            // The other host-controlled features are not implemented; clearing their bits is harmless (7.8.115).
            let hosts: [LEFeatures] = [
                .connectedIsochronousHost, .connectionSubratingHost, .advertisingCodingSelectionHost,
                .channelSoundingHost,
            ]
            return hosts.contains(feature) && !command.isSupported ? .success : .unsupportedFeatureOrParameter
        }
    }

    private mutating func addAcceptListCommands() {
        add(LEReadFilterAcceptListSize.self) { controller, _ in .init(controller.configuration.acceptListSize) }
        add(LEClearFilterAcceptList.self) { controller, _ in controller.changeAcceptList(.clear) }
        add(LEAddDeviceToFilterAcceptList.self) { $0.changeAcceptList(.add($1.address)) }
        add(LERemoveDeviceFromFilterAcceptList.self) { $0.changeAcceptList(.remove($1.address)) }
    }
}

extension VirtualController {
    /// The features of the controller and those that the host has set.
    var localFeatures: LEFeatures { configuration.features.union(defaults.features) }

    /// Whether the controller advertises, scans or initiates, which fixes its random address.
    var usesRadioForItself: Bool { advertiser.isEnabled || scanner.isActive || initiator.isEnabled }

    /// Whether an activity uses the accept list (7.8.15 to 7.8.17).
    var usesAcceptList: Bool {
        ([advertiser] + advertisers.values).contains {
            $0.isEnabled && $0.set.parameters.filterPolicy != .unfiltered
        }
            || scanner.isActive && scanner.settings.filterPolicy.rawValue & 1 == 1
            || initiator.isEnabled && initiator.command.filterPolicy == .acceptList
    }

    /// Returns an error if the own address type of a command cannot be used.
    func checkOwnAddress(_ kind: OwnAddressKind) -> HCIStatus? {
        switch kind {
        case .publicDevice, .randomDevice: nil
        // Private addresses generated by the controller require a resolving list.
        case .resolvableOrPublic, .resolvableOrRandom:
            configuration.features.contains(.privacy) ? nil : .unsupportedFeatureOrParameter
        default: .invalidParameters
        }
    }

    /// Returns an error if a scanner filter policy cannot be used.
    func checkFilterPolicy(_ policy: LEScanFilterPolicy) -> HCIStatus? {
        guard policy.rawValue <= 3 else { return .invalidParameters }
        let isKnown = policy.rawValue <= 1 || configuration.features.contains(.extendedScannerFilterPolicies)
        return isKnown ? nil : .unsupportedFeatureOrParameter
    }

    /// Whether a command may name this peer (7.8.12): by an identity address only if the controller resolves addresses.
    func canConnect(to peer: BluetoothAddress) -> Bool {
        peer.kind.rawValue <= 1 || peer.kind.isIdentity && configuration.features.contains(.privacy)
    }

    /// Whether there is an own address for requests to a peer, or to any peer if nil.
    func hasAddress(_ own: OwnAddressParameters, towards peer: BluetoothAddress?) -> Bool {
        if own.fallback != nil { return true }
        // Without a named peer the address is chosen when a device is found.
        guard let peer else { return own.kind.isPrivate }
        return own.kind.isPrivate && privacy.list.localKey(towards: peer) != nil
    }
}

/// Controller-to-host flow control (Core Vol 4 Part E 7.3.38 to 7.3.40).
extension CommandTable {
    mutating func addHostFlowCommands() {
        add(SetControllerToHostFlowControl.self) { $0.linkTable.setFlowControl($1) }
        add(HostBufferSize.self) { $0.linkTable.resizeBuffers($1) }
        addUnanswered(HostNumberOfCompletedPackets.self) { $0.linkTable.complete($1) }
    }
}
