import BluetoothTypes
import EventLoops
import HCI

/// Commands about the controller as a whole.
extension CommandTable {
    mutating func addControllerCommands() {
        addMaskCommands()
        addInformationCommands()
        add(Reset.self) { controller, _ in
            controller.reset()
            return HCIStatus.success
        }
        add(LESetRandomAddress.self) { controller, command in
            // Not while it is in use (Core Vol 4 Part E 7.8.4).
            guard !controller.usesRadioForItself else { return HCIStatus.commandDisallowed }
            guard command.address.value != 0 else { return .invalidParameters }
            controller.randomAddress = BluetoothAddress(command.address.value, kind: .randomDevice)
            return .success
        }
        addHostCommands()
        addAcceptListCommands()
    }

    private mutating func addMaskCommands() {
        add(SetEventMask.self) { controller, command in
            controller.host.mask = command.mask
            return HCIStatus.success
        }
        add(SetEventMaskPage2.self) { controller, command in
            controller.host.maskPage2 = command.mask
            return HCIStatus.success
        }
        add(LESetEventMask.self) { controller, command in
            controller.host.leMask = command.mask
            return HCIStatus.success
        }
    }

    private mutating func addInformationCommands() {
        add(ReadLocalVersionInformation.self) { controller, _ in
            let it = controller.configuration
            return .init(
                hciVersion: it.version,
                hciRevision: it.subversion,
                linkLayerVersion: it.version,
                companyIdentifier: it.companyIdentifier,
                linkLayerSubversion: it.subversion
            )
        }
        add(ReadLocalSupportedCommands.self) { controller, _ in
            .init(commands: CommandTable.shared.supported(with: controller.configuration.features))
        }
        add(ReadLocalSupportedFeatures.self) { _, _ in .init(features: [.brEdrNotSupported, .leController]) }
        add(ReadBDADDR.self) { controller, _ in .init(address: controller.configuration.publicAddress) }
        add(LEReadBufferSize.self) { controller, _ in Self.buffers(of: controller) }
        add(LEReadBufferSizeV2.self) { controller, _ in .init(Self.buffers(of: controller)) }
        add(LEReadLocalSupportedFeatures.self) { controller, _ in
            .init(features: controller.configuration.features.union(controller.hostFeatures))
        }
        // There is nothing on the pages behind the first.
        add(LEReadAllLocalSupportedFeatures.self) { controller, _ in
            .init(page0: controller.configuration.features.union(controller.hostFeatures))
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
        add(LEWriteRFPathCompensation.self) { controller, command in
            // 128 dB either way (7.8.76).
            let range: ClosedRange<Int16> = -1_280...1_280
            guard range.contains(command.transmit), range.contains(command.receive) else {
                return HCIStatus.invalidParameters
            }
            controller.pathCompensation = (command.transmit, command.receive)
            return .success
        }
        add(LESetHostFeature.self) { controller, command in
            guard command.bitNumber <= 63 else { return HCIStatus.invalidParameters }
            guard controller.links.isEmpty else { return .commandDisallowed }
            let feature = LEFeatures(rawValue: 1 << UInt64(command.bitNumber))
            if feature == .connectionSubratingHost, controller.configuration.features.contains(.connectionSubrating) {
                if command.isSupported {
                    controller.hostFeatures.insert(feature)
                } else {
                    controller.hostFeatures.remove(feature)
                }
                return .success
            }
            // The others that a host would complete are not there; saying that it does not is no news (7.8.115).
            let hosts: [LEFeatures] = [
                .connectedIsochronousHost, .connectionSubratingHost, .advertisingCodingSelectionHost,
                .channelSoundingHost,
            ]
            return hosts.contains(feature) && !command.isSupported ? .success : .unsupportedFeatureOrParameter
        }
    }

    private mutating func addAcceptListCommands() {
        add(LEReadFilterAcceptListSize.self) { controller, _ in .init(size: controller.configuration.acceptListSize) }
        add(LEClearFilterAcceptList.self) { controller, _ in
            guard !controller.usesAcceptList else { return HCIStatus.commandDisallowed }
            controller.acceptList.clear()
            return .success
        }
        add(LEAddDeviceToFilterAcceptList.self) { controller, command in
            guard !controller.usesAcceptList else { return HCIStatus.commandDisallowed }
            guard [0x00, 0x01, 0xFF].contains(command.address.kind.rawValue) else { return .invalidParameters }
            return controller.acceptList.add(command.address) ? .success : .memoryCapacityExceeded
        }
        add(LERemoveDeviceFromFilterAcceptList.self) { controller, command in
            guard !controller.usesAcceptList else { return HCIStatus.commandDisallowed }
            guard [0x00, 0x01, 0xFF].contains(command.address.kind.rawValue) else { return .invalidParameters }
            controller.acceptList.remove(command.address)
            return .success
        }
    }
}

extension VirtualController {
    /// Whether it advertises, scans or initiates, which fixes its random address.
    var usesRadioForItself: Bool { advertiser.isEnabled || scanner.isActive || initiator.isEnabled }

    /// Whether something that is going on looks at the accept list (7.8.15 to 7.8.17).
    var usesAcceptList: Bool {
        ([advertiser] + advertisers.values).contains {
            $0.isEnabled && $0.set.parameters.filterPolicy != .everybody
        }
            || scanner.isActive && scanner.settings.filterPolicy.rawValue & 1 == 1
            || initiator.isEnabled && initiator.command.filterPolicy == .acceptList
    }

    /// Whether the own address of a command can be used: an error, or none.
    func checkOwnAddress(_ kind: OwnAddressKind) -> HCIStatus? {
        switch kind {
        case .publicDevice, .randomDevice: nil
        // Resolvable addresses of the controller's own making need a resolving list.
        case .resolvableOrPublic, .resolvableOrRandom:
            configuration.features.contains(.privacy) ? nil : .unsupportedFeatureOrParameter
        default: .invalidParameters
        }
    }

    /// Whether a scanner filter policy can be used: an error, or none.
    func checkFilterPolicy(_ policy: LEScanFilterPolicy) -> HCIStatus? {
        guard policy.rawValue <= 3 else { return .invalidParameters }
        let isKnown = policy.rawValue <= 1 || configuration.features.contains(.extendedScannerFilterPolicies)
        return isKnown ? nil : .unsupportedFeatureOrParameter
    }

    /// Whether a command may name a peer like this (7.8.12): by an identity only where those are resolved.
    func canConnect(to peer: BluetoothAddress) -> Bool {
        peer.kind.rawValue <= 1 || peer.kind.isIdentity && configuration.features.contains(.privacy)
    }

    /// Whether there is an address for requests to a peer, or to whoever it will be.
    func hasAddress(_ own: OwnAddress, towards peer: BluetoothAddress?) -> Bool {
        if own.fallback != nil { return true }
        // Without a name the address of each is looked for when it is heard.
        guard let peer else { return own.kind.isPrivate }
        return own.kind.isPrivate && privacy.list.localKey(towards: peer) != nil
    }
}
