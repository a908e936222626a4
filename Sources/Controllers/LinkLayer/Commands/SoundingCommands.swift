import BluetoothTypes
import HCI

/// Channel Sounding commands (Core Vol 4 Part E 7.8.130 to 7.8.141).
extension CommandTable {
    mutating func addSoundingCommands() {
        add(LECSReadLocalSupportedCapabilities.self, needs: .channelSounding) { controller, _ in
            .init(.simulated(antennas: controller.configuration.antennas))
        }
        add(LECSReadRemoteSupportedCapabilities.self, needs: .channelSounding) { controller, command in
            controller.sound(command.handle) { _ in .success(.capabilities) }
        }
        add(LECSReadRemoteFAETable.self, needs: .channelSounding) { controller, command in
            controller.sound(command.handle) { _ in .success(.errorTable) }
        }
        add(LECSSecurityEnable.self, needs: .channelSounding) { controller, command in
            controller.sound(command.handle) { link in
                guard link.control.encryption.state == .encrypted else {
                    return .failure(.init(status: .insufficientSecurity))
                }
                return link.isCentral ? .success(.security) : .failure(.init(status: .commandDisallowed))
            }
        }
        add(LECSCreateConfig.self, needs: .channelSounding) { $0.createSounding($1) }
        add(LECSRemoveConfig.self, needs: .channelSounding) { controller, command in
            controller.sound(command.handle) { link in
                guard link.control.sounding.configurations[command.config] != nil else {
                    return .failure(.init(status: .invalidParameters))
                }
                guard link.control.sounding.active != command.config else {
                    return .failure(.init(status: .commandDisallowed))
                }
                return .success(.configuration(.init(config: command.config)))
            }
        }
        add(LECSProcedureEnable.self, needs: .channelSounding) { $0.enableSounding($1) }
        addSoundingSettings()
    }

    private mutating func addSoundingSettings() {
        add(LECSWriteCachedRemoteSupportedCapabilities.self, needs: .channelSounding) { controller, command in
            let link = controller.link(command.handle)
            link?.setSounding(remote: command.capabilities)
            return .init(link == nil ? .unknownConnection : .success, handle: command.handle)
        }
        add(LECSWriteCachedRemoteFAETable.self, needs: .channelSounding) { controller, command in
            // The simulated tones have no frequency actuation errors to correct.
            .init(controller.check(command.handle), handle: command.handle)
        }
        add(LECSSetDefaultSettings.self, needs: .channelSounding) { controller, command in
            let isValid =
                command.roles.rawValue <= 3 && ([1, 0xFE, 0xFF] as [UInt8]).contains(command.syncAntenna)
                && (-127...20).contains(command.maxTxPower)
            let status = controller.check(command.handle, isValid: isValid)
            if status == .success { controller.link(command.handle)?.setSounding(roles: command.roles) }
            return .init(status, handle: command.handle)
        }
        add(LECSSetProcedureParameters.self, needs: .channelSounding) { controller, command in
            .init(controller.setSounding(command), handle: command.handle)
        }
        add(LECSSetChannelClassification.self, needs: .channelSounding) { _, command in
            // The channels of the configuration are used; the simulated air has no bad ones for tones.
            let channels = SoundingState.channels(of: command.channels)
            return channels.count >= SoundingState.minimumChannels ? HCIStatus.success : .invalidParameters
        }
    }
}

extension VirtualController {
    /// Requests a procedure on a link, if `procedure` allows it.
    fileprivate func sound(
        _ handle: ConnectionHandle,
        _ procedure: (Link) -> Result<LinkControl.SoundingProcedure, CommandError>
    ) -> HCIStatus {
        guard let link = link(handle) else { return .unknownConnection }
        guard link.ending == nil else { return .commandDisallowed }
        switch procedure(link) {
        case .failure(let error): return error.status
        case .success(let procedure): return link.request(.sounding(procedure)) ? .success : .controllerBusy
        }
    }

    fileprivate func createSounding(_ command: LECSCreateConfig) -> HCIStatus {
        guard let link = link(command.handle) else { return .unknownConnection }
        let sounding = link.control.sounding
        guard command.config < SoundingState.maximumConfigurations else { return .invalidParameters }
        let status = sounding.check(command.configuration)
        guard status == .success else { return status }
        guard sounding.remote != nil, sounding.active != command.config, sounding.allows(command.configuration.role)
        else { return .commandDisallowed }
        guard command.isForBoth else {
            link.createSounding(command.configuration, config: command.config)
            return .success
        }
        return sound(command.handle) { _ in
            var pdu = SoundingConfigurationRequest()
            (pdu.config, pdu.isCreated, pdu.configuration) = (command.config, true, command.configuration)
            pdu.times = SoundingPlan.times
            return .success(.configuration(pdu))
        }
    }

    fileprivate func setSounding(_ command: LECSSetProcedureParameters) -> HCIStatus {
        guard let link = link(command.handle) else { return .unknownConnection }
        let lengths: ClosedRange<UInt32> = 1_250...3_999_999
        guard let settings = link.control.sounding.configurations[command.config]?.settings,
            command.maxProcedureLength > 0,
            command.minProcedureInterval > 0, command.minProcedureInterval <= command.maxProcedureInterval,
            lengths.contains(command.minSubeventLength), lengths.contains(command.maxSubeventLength),
            command.minSubeventLength <= command.maxSubeventLength
        else { return .invalidParameters }
        guard link.control.sounding.supports(command.antennaConfiguration, as: settings.role) else {
            return .unsupportedFeatureOrParameter
        }
        guard link.control.sounding.active == nil else { return .commandDisallowed }
        link.setSounding(command)
        return .success
    }

    fileprivate func enableSounding(_ command: LECSProcedureEnable) -> HCIStatus {
        sound(command.handle) { link in
            let sounding = link.control.sounding
            if command.isEnabled {
                let status = sounding.readiness(of: command.config)
                return status == .success
                    ? .success(.start(config: command.config)) : .failure(.init(status: status))
            }
            return sounding.active == command.config
                ? .success(.termination(config: command.config)) : .failure(.init(status: .commandDisallowed))
        }
    }
}
