import BluetoothSimulation

extension DeviceFault {
    /// The fault of answers to requests; nil for other faults.
    package var answer: AnswerFault? {
        switch kind {
        case .slowAnswers: .late(.microseconds(Int64((value * 1_000_000).rounded())))
        case .noAnswers: .never
        case .malformedAnswers: .malformed
        case .shortAnswers: .cutShort
        case .longAnswers: .tooLong
        case .attError: .error(UInt8(value))
        case .mtuRefused: .mtuRefused
        default: nil
        }
    }
}

extension SimulatedDevice {
    /// Begins a fault that any device can have.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - app: The name of the app that the fault concerns.
    /// - Returns: False if only an accessory can have this fault.
    @discardableResult
    public func begin(_ fault: DeviceFault, ofApp app: String) -> Bool {
        switch fault.kind {
        case .outOfRange: leaveRange()
        case .lossy: losePackets(fault.value)
        case .jammedChannel: setJam(true, channel: UInt8(fault.value))
        case .reboot, .batteryReplaced: restartApp(app) { restart() }
        case .factoryReset: restartApp(app) { resetToFactorySettings() }
        case .bondLost: for peer in pairedPeers { forget(peer.identifier) }
        case .newAddress: changeAddress()
        case .slowAnswers, .noAnswers, .malformedAnswers, .shortAnswers, .longAnswers, .attError, .mtuRefused:
            answerFault = fault.answer
        case .userDeclines: person.behaves(.declines)
        case .appKilled: _ = self.app(app)?.crash()
        case .appUpgraded: restartApp(app) { _ = self.app(app)?.crash() }
        case .appSuspended: _ = self.app(app)?.suspend()
        case .airplaneMode: person.switchesAirplaneMode(true)
        case .locked: restart(isLocked: true)
        case .lowBattery, .newFirmware, .notificationFlood, .parameterFlood: return false
        }
        return true
    }

    /// Ends a fault that lasts. One that is over by itself has no end.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - app: The name of the app that the fault concerns.
    public func end(_ fault: DeviceFault, ofApp app: String) {
        switch fault.kind {
        case .outOfRange: returnToRange()
        case .lossy: losePackets(nil)
        case .jammedChannel: setJam(false, channel: UInt8(fault.value))
        case .slowAnswers, .noAnswers, .malformedAnswers, .shortAnswers, .longAnswers, .attError, .mtuRefused:
            answerFault = nil
        case .userDeclines: person.behaves(.agrees(lookingAt: []))
        case .appKilled, .appSuspended: open(app)
        case .airplaneMode: person.switchesAirplaneMode(false)
        case .locked:
            person.unlocks()
            open(app)
        case .lowBattery, .batteryReplaced, .reboot, .factoryReset, .newFirmware, .bondLost, .newAddress, .appUpgraded,
            .notificationFlood, .parameterFlood:
            break
        }
    }

    private func restartApp(_ app: String, _ restart: () -> Void) {
        restart()
        open(app)
    }
}

extension SimulatedAccessory {
    /// Begins a fault of the accessory or of its surroundings.
    ///
    /// - Parameter fault: The fault. It lasts until ``end(_:)``, unless it is over by itself.
    public func begin(_ fault: DeviceFault) {
        if !player.begin(fault) { device.begin(fault, ofApp: Self.app) }
    }

    /// Ends a fault of the accessory or of its surroundings.
    ///
    /// - Parameter fault: The fault. One that is over by itself has no end.
    public func end(_ fault: DeviceFault) {
        player.end(fault)
        device.end(fault, ofApp: Self.app)
    }

    /// Begins and ends the faults of the accessory's file, in the time of the world.
    func schedule(_ faults: [ScheduledFault]) {
        for each in faults where each.trigger == nil { schedule(each) }
        let triggered = faults.filter { $0.trigger != nil }
        guard !triggered.isEmpty else { return }
        let (accessory, loop) = (self, device.world.loop)
        player.whenWritten { index in
            let due = triggered.filter { $0.trigger.flatMap { accessory.player.accessory.index(of: $0) } == index }
            loop.submit { for each in due { accessory.schedule(each) } }
        }
    }

    private func schedule(_ each: ScheduledFault) {
        let (accessory, loop) = (self, device.world.loop)
        loop.submit {
            _ = loop.schedule(after: each.start) { accessory.begin(each.fault) }
            guard let end = each.end else { return }
            _ = loop.schedule(after: end) { accessory.end(each.fault) }
        }
    }
}
