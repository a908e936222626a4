import BluetoothTypes
import EventLoops
import HCI
import LinkLayer

/// The radio time of a controller, estimated from the packets between it and its host.
///
/// A value without I/O: packets in, times out, in the form in which a virtual controller accounts for its radio. A
/// command counts once the controller has accepted it.
struct EstimatedRadio {
    /// The maximum number of links and of advertising sets. Others are not followed.
    private static let maximumLinks = 64
    private static let maximumSets = 64
    /// The maximum number of transmit powers, which a breakdown tells apart.
    private static let maximumPowers = RadioNode.Breakdown.maximumPowers

    private var scan = EstimatedScan()
    private var initiating = EstimatedScan()
    private var sets: [UInt8?: EstimatedAdvertising] = [:]
    private var links: [ConnectionHandle: EstimatedLink] = [:]
    private var spent: [RadioUse: RadioTime] = [:]
    /// The last command of each kind that has not been answered.
    private var pending: [Opcode: PacketBuffer] = [:]
    /// The time and the events since scanning was settled, of the uses that precede it.
    private var ahead = (time: Int64(0), events: Int64(0))
    /// The transmit powers in dBm. Unless the controller tells another one, it is 0 dBm.
    private(set) var powers: [Int8] = [0]

    // MARK: Time

    /// Returns the time of each use until now.
    mutating func times(at now: Instant) -> [RadioUse: RadioTime] {
        settle(to: now)
        var times = spent
        for (handle, link) in links {
            for (traffic, time) in link.spent { times[.link(handle, traffic)] = time }
        }
        return times
    }

    private mutating func settle(to now: Instant) {
        for handle in links.keys {
            let before = links[handle]?.total ?? RadioTime()
            links[handle]?.settle(to: now)
            note(links[handle]?.total ?? RadioTime(), since: before)
        }
        for set in sets.keys {
            guard let time = sets[set]?.settle(to: now), !time.isEmpty else { continue }
            spend(time, for: .advertising(set: set))
            note(time, since: RadioTime())
        }
        // What the links and sets took counts for both.
        let time = initiating.settle(to: now, besides: ahead.time, events: ahead.events)
        spend(time, for: .initiating)
        note(time, since: RadioTime())
        spend(scan.settle(to: now, besides: ahead.time, events: ahead.events), for: .scanning)
        ahead = (0, 0)
    }

    private mutating func note(_ later: RadioTime, since earlier: RadioTime) {
        ahead.time += later.busy - earlier.busy
        ahead.events += later.events - earlier.events
    }

    private mutating func spend(_ time: RadioTime, for use: RadioUse) {
        if !time.isEmpty { spent[use, default: RadioTime()].add(time) }
    }

    // MARK: Packets

    /// Takes in a packet. The time of the links that it ends is that of the last ``times(at:)`` before it.
    mutating func accept(_ packet: HCIPacket, _ direction: HCIDirection, at now: Instant) {
        switch (packet.kind, direction) {
        case (.acl, _): acceptData(packet, direction, at: now)
        case (.command, .hostToController):
            guard let command = try? CommandPacket(reading: packet.bytes) else { return }
            if command.opcode == Reset.opcode { return reset() }
            if Self.followed.contains(command.opcode) { pending[command.opcode] = command.parameters }
        case (.event, .controllerToHost):
            guard let event = try? EventPacket(reading: packet.bytes) else { return }
            accept(event, at: now)
        default: break
        }
    }

    private mutating func reset() {
        let powers = powers
        self = EstimatedRadio(keeping: spent)
        self.powers = powers
    }

    init() {}

    private init(keeping spent: [RadioUse: RadioTime]) { self.spent = spent }

    private mutating func acceptData(_ packet: HCIPacket, _ direction: HCIDirection, at now: Instant) {
        guard let data = try? ACLPacket(reading: packet.bytes) else { return }
        change(data.handle) { link in
            switch direction {
            case .hostToController: link.queue(data.payload.count, at: now)
            case .controllerToHost: link.receive(data.payload.count, at: now)
            }
        }
    }

    private mutating func change(_ handle: ConnectionHandle, _ body: (inout EstimatedLink) -> Void) {
        guard var link = links[handle] else { return }
        let before = link.total
        body(&link)
        links[handle] = link
        note(link.total, since: before)
    }

    private mutating func accept(_ event: EventPacket, at now: Instant) {
        let parameters = event.eventParameters
        if event.code == .leMeta { return acceptLE(event.subevent, parameters, at: now) }
        switch event.code {
        case CommandComplete.eventCode:
            guard let answer = try? CommandComplete.reading(parameters) else { return }
            complete(answer.opcode, answer.parameters, at: now)
        case CommandStatus.eventCode:
            guard let answer = try? CommandStatus.reading(parameters) else { return }
            complete(answer.opcode, [answer.status.rawValue], at: now)
        case NumberOfCompletedPackets.eventCode:
            for entry in (try? NumberOfCompletedPackets.reading(parameters))?.entries ?? [] {
                change(entry.handle) { $0.complete(Int(entry.count), at: now) }
            }
        case DisconnectionComplete.eventCode:
            guard let event = try? DisconnectionComplete.reading(parameters), event.status == .success else { return }
            links[event.handle] = nil
        case EncryptionChange.eventCode:
            guard let event = try? EncryptionChange.reading(parameters) else { return }
            encrypted(event, at: now)
        case EncryptionChangeV2.eventCode:
            guard let event = try? EncryptionChangeV2.reading(parameters) else { return }
            encrypted(event.v1, at: now)
        default: break
        }
    }

    private mutating func encrypted(_ event: EncryptionChange, at now: Instant) {
        guard event.status == .success else { return }
        change(event.handle) { link in
            link.control(13, exchanges: 3, at: now)
            link.isEncrypted = event.state.rawValue != 0
        }
    }

    private mutating func acceptLE(_ subevent: LESubevent?, _ parameters: PacketBuffer, at now: Instant) {
        switch subevent {
        case LEConnectionComplete.subevent:
            guard let event = try? LEConnectionComplete.reading(parameters) else { return }
            connected(LEEnhancedConnectionComplete(event), at: now)
        case LEEnhancedConnectionComplete.subevent:
            guard let event = try? LEEnhancedConnectionComplete.reading(parameters) else { return }
            connected(event, at: now)
        case LEEnhancedConnectionCompleteV2.subevent:
            guard let event = try? LEEnhancedConnectionCompleteV2.reading(parameters) else { return }
            connected(event.v1, at: now)
        case LEAdvertisingReport.subevent:
            guard let event = try? LEAdvertisingReport.reading(parameters) else { return }
            answered(event.reports.count { $0.kind == .scanResponse })
        case LEExtendedAdvertisingReport.subevent:
            guard let event = try? LEExtendedAdvertisingReport.reading(parameters) else { return }
            answered(event.reports.count { $0.kind.contains(.scanResponse) })
        case LEScanTimeout.subevent:
            settle(to: now)
            scan.setEnabled(false, at: now)
        case LEAdvertisingSetTerminated.subevent:
            guard let event = try? LEAdvertisingSetTerminated.reading(parameters) else { return }
            settle(to: now)
            sets[event.set]?.setEnabled(false, at: now)
        default: acceptLinkEvent(subevent, parameters, at: now)
        }
    }

    private mutating func acceptLinkEvent(_ subevent: LESubevent?, _ parameters: PacketBuffer, at now: Instant) {
        switch subevent {
        case LEConnectionUpdateComplete.subevent:
            guard let event = try? LEConnectionUpdateComplete.reading(parameters), event.status == .success else {
                return
            }
            change(event.handle) { link in
                link.control(12, at: now)
                link.configure(event, at: now)
            }
        case LEPHYUpdateComplete.subevent:
            guard let event = try? LEPHYUpdateComplete.reading(parameters), event.status == .success else { return }
            change(event.handle) { link in
                link.control(3, at: now)
                link.configure(event)
            }
        case LEDataLengthChange.subevent:
            guard let event = try? LEDataLengthChange.reading(parameters) else { return }
            change(event.handle) { link in
                link.control(9, at: now)
                link.configure(event)
            }
        case LEReadRemoteFeaturesComplete.subevent:
            guard let event = try? LEReadRemoteFeaturesComplete.reading(parameters) else { return }
            change(event.handle) { $0.control(9, at: now) }
        default: break
        }
    }

    /// Takes in that scan requests were answered. Requests whose responses the controller filtered out are not known.
    private mutating func answered(_ count: Int) {
        guard scan.isEnabled, scan.isActive else { return }
        for _ in 0..<count { spend(EstimatedScan.request(on: .le1M), for: .scanning) }
    }

    private mutating func connected(_ event: LEEnhancedConnectionComplete, at now: Instant) {
        settle(to: now)
        if event.role == .central || event.status != .success {
            if event.status == .success, initiating.isEnabled {
                var request = RadioTime()
                request.send(RadioPHY.le1M.airTimeMicroseconds(octets: 2 + 34), on: .le1M)
                spend(request, for: .initiating)
            }
            initiating.setEnabled(false, at: now)
        } else {
            // Legacy advertising ends with a link. An extended set has an event for it.
            sets[nil]?.setEnabled(false, at: now)
        }
        guard event.status == .success, links.count < Self.maximumLinks || links[event.handle] != nil else { return }
        links[event.handle] = EstimatedLink(event, at: now)
    }
}

// MARK: - Commands

extension EstimatedRadio {
    fileprivate static let followed: Set<Opcode> = [
        LESetScanParameters.opcode, LESetScanEnable.opcode, LESetExtendedScanParameters.opcode,
        LESetExtendedScanEnable.opcode, LECreateConnection.opcode, LEExtendedCreateConnection.opcode,
        LESetAdvertisingParameters.opcode, LESetAdvertisingData.opcode, LESetAdvertisingEnable.opcode,
        LESetExtendedAdvertisingParameters.opcode, LESetExtendedAdvertisingData.opcode,
        LESetExtendedAdvertisingEnable.opcode, LERemoveAdvertisingSet.opcode, LEClearAdvertisingSets.opcode,
    ]

    /// Applies a command that the controller has answered.
    private mutating func complete(_ opcode: Opcode, _ answer: PacketBuffer, at now: Instant) {
        guard let parameters = pending.removeValue(forKey: opcode), answer.first == 0 else { return }
        settle(to: now)
        switch opcode {
        case LESetScanParameters.opcode:
            if let command = try? LESetScanParameters(reading: parameters) { scan.configure(command) }
        case LESetExtendedScanParameters.opcode:
            if let command = try? LESetExtendedScanParameters(reading: parameters) { scan.configure(command) }
        case LESetScanEnable.opcode: scan.setEnabled(parameters.first == 1, at: now)
        case LESetExtendedScanEnable.opcode:
            guard let command = try? LESetExtendedScanEnable(reading: parameters) else { return }
            scan.setEnabled(command.isEnabled, at: now, duration: command.duration, period: command.period)
        case LECreateConnection.opcode:
            guard let command = try? LECreateConnection(reading: parameters) else { return }
            initiating.configure(command)
            initiating.setEnabled(true, at: now)
        case LEExtendedCreateConnection.opcode:
            guard let command = try? LEExtendedCreateConnection(reading: parameters) else { return }
            initiating.configure(command)
            initiating.setEnabled(true, at: now)
        default: advertise(opcode, parameters, answer, at: now)
        }
    }

    private mutating func advertise(
        _ opcode: Opcode,
        _ parameters: PacketBuffer,
        _ answer: PacketBuffer,
        at now: Instant
    ) {
        switch opcode {
        case LESetAdvertisingParameters.opcode:
            guard let command = try? LESetAdvertisingParameters(reading: parameters) else { return }
            change(set: nil) { $0.configure(command) }
        case LESetAdvertisingData.opcode:
            guard let command = try? LESetAdvertisingData(reading: parameters) else { return }
            change(set: nil) { $0.setData(.complete, octets: command.data.count) }
        case LESetAdvertisingEnable.opcode: change(set: nil) { $0.setEnabled(parameters.first == 1, at: now) }
        case LESetExtendedAdvertisingParameters.opcode:
            guard let command = try? LESetExtendedAdvertisingParameters(reading: parameters) else { return }
            let selected = (try? LESetExtendedAdvertisingParameters.Response(reading: answer))?.selectedTxPower
            let power = selected.map { place(ofPower: $0) } ?? 0
            change(set: command.set) { set in
                set.configure(command)
                set.power = power
            }
        case LESetExtendedAdvertisingData.opcode:
            guard let command = try? LESetExtendedAdvertisingData(reading: parameters) else { return }
            change(set: command.set) { $0.setData(command.operation, octets: command.data.count) }
        case LESetExtendedAdvertisingEnable.opcode:
            guard let command = try? LESetExtendedAdvertisingEnable(reading: parameters) else { return }
            // Without sets, the command is about all of them.
            let named = command.sets.isEmpty ? Array(sets.keys) : command.sets.map(\.set)
            for set in named { change(set: set) { $0.setEnabled(command.isEnabled, at: now) } }
        case LERemoveAdvertisingSet.opcode:
            if let command = try? LERemoveAdvertisingSet(reading: parameters) { sets[command.set] = nil }
        case LEClearAdvertisingSets.opcode: sets = [:]
        default: break
        }
    }

    private mutating func change(set: UInt8?, _ body: (inout EstimatedAdvertising) -> Void) {
        guard sets[set] != nil || sets.count < Self.maximumSets else { return }
        body(&sets[set, default: EstimatedAdvertising()])
    }

    private mutating func place(ofPower power: Int8) -> Int {
        if let place = powers.firstIndex(of: power) { return place }
        if powers.count < Self.maximumPowers { powers.append(power) }
        return powers.count - 1
    }
}

extension EstimatedLink {
    fileprivate var total: RadioTime { spent.values.reduce(into: RadioTime()) { $0.add($1) } }
}

extension LEEnhancedConnectionComplete {
    fileprivate init(_ event: LEConnectionComplete) {
        self.init {
            $0.status = event.status
            $0.handle = event.handle
            $0.role = event.role
            $0.peerAddress = event.peerAddress
            $0.interval = event.interval
            $0.latency = event.latency
            $0.supervisionTimeout = event.supervisionTimeout
            $0.centralClockAccuracy = event.centralClockAccuracy
        }
    }
}
