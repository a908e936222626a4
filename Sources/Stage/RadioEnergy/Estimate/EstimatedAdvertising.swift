import EventLoops
import HCI
import LinkLayer

/// The estimated time of an advertising set: its events, at the host's minimum interval and the average random delay.
struct EstimatedAdvertising {
    private var parameters: LESetExtendedAdvertisingParameters?
    private var octets = 0
    /// The place of the transmit power in the list of powers.
    var power = 0
    private(set) var isEnabled = false
    private var start = Instant.zero
    private var counted: Int64 = 0

    // MARK: Settings

    mutating func configure(_ parameters: LESetExtendedAdvertisingParameters) { self.parameters = parameters }

    mutating func configure(_ legacy: LESetAdvertisingParameters) {
        var parameters = LESetExtendedAdvertisingParameters()
        parameters.properties = legacy.kind.properties
        parameters.intervalMin = UInt32(legacy.intervalMin)
        parameters.channels = legacy.channels
        self.parameters = parameters
    }

    /// Takes in data, or the next part of it.
    mutating func setData(_ operation: LEDataOperation, octets: Int) {
        switch operation {
        case .complete, .first: self.octets = octets
        case .intermediate, .last: self.octets = min(self.octets + octets, 1_650)
        default: break
        }
    }

    mutating func setEnabled(_ isEnabled: Bool, at now: Instant) {
        self.isEnabled = isEnabled
        (start, counted) = (now, 0)
    }

    // MARK: Time

    /// Returns what was spent since the last call.
    mutating func settle(to now: Instant) -> RadioTime {
        guard isEnabled, let parameters else { return RadioTime() }
        let total = now.microseconds(since: start) / pace(parameters) + 1
        let count = total - counted
        counted = total
        let event = parameters.properties.contains(.legacy) ? legacyEvent(parameters) : extendedEvent(parameters)
        return count > 0 ? event.times(count) : RadioTime()
    }

    private func pace(_ parameters: LESetExtendedAdvertisingParameters) -> Int64 {
        if parameters.properties.contains(.highDutyCycle) { return 3_750 }
        return max(Int64(parameters.intervalMin) * 625, 625) + EstimatedTiming.advertisingDelay
    }

    private func legacyEvent(_ parameters: LESetExtendedAdvertisingParameters) -> RadioTime {
        var time = RadioTime()
        let properties = parameters.properties
        let size = 2 + 6 + (properties.contains(.directed) ? 6 : min(octets, 31))
        let channels = parameters.channelCount
        time.send(RadioPHY.le1M.airTimeMicroseconds(octets: size), on: .le1M, power: power, frames: channels)
        let gaps = (channels - 1) * EstimatedTiming.channelSwitch
        if properties.takesAnswers {
            // The receiver stays on until the next channel.
            time.listen(channels * EstimatedTiming.response + gaps, for: .le1M, starts: channels)
        } else {
            time.idle += gaps
        }
        time.events = 1
        return time
    }

    private func extendedEvent(_ parameters: LESetExtendedAdvertisingParameters) -> RadioTime {
        var time = RadioTime()
        let (primary, secondary) = (RadioPHY(parameters.primaryPHY), RadioPHY(parameters.secondaryPHY))
        let properties = parameters.properties
        let channels = parameters.channelCount
        time.send(primary.airTimeMicroseconds(octets: 9), on: primary, power: power, frames: channels)
        time.idle += (channels - 1) * EstimatedTiming.channelSwitch + EstimatedTiming.auxiliarySpace
        var header = 2 + 1 + 1 + 2
        for (property, size) in [(LEAdvertisingProperties.directed, 6), (.includeTxPower, 1)] {
            header += properties.contains(property) ? size : 0
        }
        header += properties.contains(.anonymous) ? 0 : 6
        var rest = properties.contains(.scannable) ? 0 : octets
        repeat {
            let part = min(rest, 257 - header)
            rest -= part
            time.send(secondary.airTimeMicroseconds(octets: header + part), on: secondary, power: power)
            if rest > 0 { time.idle += EstimatedTiming.auxiliarySpace }
        } while rest > 0
        if properties.takesAnswers { time.listen(EstimatedTiming.response, for: secondary, starts: 1) }
        time.events = 1
        return time
    }
}

extension LEAdvertisingKind {
    /// The properties of an extended set that sends the same PDUs.
    fileprivate var properties: LEAdvertisingProperties {
        switch self {
        case .connectableScannable: [.legacy, .connectable, .scannable]
        case .directedHighDutyCycle: [.legacy, .connectable, .directed, .highDutyCycle]
        case .directedLowDutyCycle: [.legacy, .connectable, .directed]
        case .scannable: [.legacy, .scannable]
        default: .legacy
        }
    }
}

extension LEAdvertisingProperties {
    fileprivate var takesAnswers: Bool { contains(.connectable) || contains(.scannable) }
}

extension LESetExtendedAdvertisingParameters {
    fileprivate var channelCount: Int64 { Int64(max((channels.rawValue & 0b111).nonzeroBitCount, 1)) }
}

extension RadioTime {
    func times(_ count: Int64) -> RadioTime {
        var time = RadioTime()
        time.air.sending = air.sending * count
        time.air.listening = air.listening * count
        time.air.framesSent = air.framesSent * Int(count)
        time.breakdown.sendingByPHY = breakdown.sendingByPHY &* count
        time.breakdown.sendingByPower = breakdown.sendingByPower &* count
        time.breakdown.listeningByModulation = breakdown.listeningByModulation &* count
        time.breakdown.listens = breakdown.listens * count
        time.idle = idle * count
        time.events = events * count
        return time
    }
}
