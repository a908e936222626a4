import BluetoothTypes
import Cryptography
import EventLoops
import HCI

/// Commands for link layer privacy (Core Vol 4 Part E 7.8.38 to 7.8.45, 7.8.77, 7.8.122).
extension CommandTable {
    mutating func addPrivacyCommands() {
        add(LEAddDeviceToResolvingList.self, needs: .privacy) { $0.addToResolvingList($1) }
        add(LERemoveDeviceFromResolvingList.self, needs: .privacy) { controller, command in
            controller.changeResolvingList(command.peerIdentity) { $0.remove(command.peerIdentity) }
        }
        add(LEClearResolvingList.self, needs: .privacy) { controller, _ in
            guard !controller.isResolvingListInUse else { return HCIStatus.commandDisallowed }
            controller.privacy.list.clear()
            return .success
        }
        add(LEReadResolvingListSize.self, needs: .privacy) { controller, _ in
            .init(controller.configuration.resolvingListSize)
        }
        add(LESetPrivacyMode.self, needs: .privacy) { controller, command in
            guard command.mode.rawValue <= 1 else { return HCIStatus.invalidParameters }
            return controller.changeResolvingList(command.peerIdentity) {
                $0.set(command.mode, for: command.peerIdentity)
            }
        }
        addAddressCommands()
        add(LESetDataRelatedAddressChanges.self, needs: .extendedAdvertising) { controller, command in
            guard let advertiser = controller.advertisers[command.set] else {
                return HCIStatus.unknownAdvertisingIdentifier
            }
            advertiser.changeAddress(with: command.reasons)
            return .success
        }
    }

    private mutating func addAddressCommands() {
        add(LEReadPeerResolvableAddress.self, needs: .privacy) { controller, command in
            let list = controller.privacy.list
            let address = command.peerIdentity.isIdentity ? list.seenAddress(of: command.peerIdentity) : nil
            return address.map { .init(address: $0) } ?? .init(failure: .unknownConnection)
        }
        add(LEReadLocalResolvableAddress.self, needs: .privacy) { controller, command in
            let list = controller.privacy.list
            let address = command.peerIdentity.isIdentity ? list.usedAddress(towards: command.peerIdentity) : nil
            return address.map { .init(address: $0) } ?? .init(failure: .unknownConnection)
        }
        add(LESetAddressResolutionEnable.self, needs: .privacy) { controller, command in
            guard !controller.usesAddresses else { return HCIStatus.commandDisallowed }
            controller.privacy.enableResolution(command.isEnabled)
            return .success
        }
        add(LESetResolvablePrivateAddressTimeout.self, needs: .privacy) { controller, command in
            guard (0x0001...0x0E10).contains(command.timeout) else { return HCIStatus.invalidParameters }
            let time = Duration.seconds(Int64(command.timeout))
            controller.privacy.limitLifetimes(to: time...time)
            return .success
        }
        add(LESetResolvablePrivateAddressTimeoutV2.self, needs: .privacy) { controller, command in
            let (least, most) = (command.timeoutMin, command.timeoutMax)
            guard least >= 0x0001, least <= most, most <= 0x0E10 else { return HCIStatus.invalidParameters }
            controller.privacy.limitLifetimes(to: .seconds(Int64(least))...(.seconds(Int64(most))))
            return .success
        }
    }
}

extension BluetoothAddress {
    /// Whether the address has one of the types that identify a listed peer.
    fileprivate var isIdentity: Bool { kind == .publicDevice || kind == .randomDevice }
}

extension VirtualController {
    /// Whether the controller advertises, scans or initiates in any way.
    fileprivate var usesAddresses: Bool { usesRadioForItself || advertisers.values.contains(where: \.isEnabled) }

    /// Whether address resolution is in use, so that the list must not change.
    fileprivate var isResolvingListInUse: Bool { privacy.isResolving && usesAddresses }

    fileprivate func addToResolvingList(_ command: LEAddDeviceToResolvingList) -> HCIStatus {
        guard !isResolvingListInUse else { return .commandDisallowed }
        let peer = command.peerIdentity
        guard peer.isIdentity, !peer.kind.isRandom || peer.randomKind == .static,
            let peerKey = Key128(littleEndian: command.peerIRK), let localKey = Key128(littleEndian: command.localIRK)
        else { return .invalidParameters }
        do throws(ResolvingList.Refusal) {
            try privacy.list.add(peer, peerKey: peerKey, localKey: localKey)
            return .success
        } catch {
            switch error {
            case .full: return .memoryCapacityExceeded
            case .known: return .invalidParameters
            }
        }
    }

    /// Changes the list for a peer that must be on it.
    fileprivate func changeResolvingList(
        _ peer: BluetoothAddress,
        _ change: (inout ResolvingList) -> Bool
    ) -> HCIStatus {
        guard !isResolvingListInUse else { return .commandDisallowed }
        guard peer.isIdentity else { return .invalidParameters }
        return change(&privacy.list) ? .success : .unknownConnection
    }
}
