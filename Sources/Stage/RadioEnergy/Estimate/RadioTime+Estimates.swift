import HCI
import LinkLayer

extension RadioTime {
    /// Adds frames that are sent.
    ///
    /// - Parameters:
    ///   - microseconds: The time of one frame.
    ///   - power: The place of the transmit power in the list of powers.
    mutating func send(_ microseconds: Int64, on phy: RadioPHY, power: Int = 0, frames: Int64 = 1) {
        let time = microseconds * frames
        air.sending += time
        air.framesSent += Int(frames)
        breakdown.sendingByPHY[RadioPHY.allCases.firstIndex(of: phy) ?? 0] += time
        breakdown.sendingByPower[power] += time
    }

    mutating func listen(_ microseconds: Int64, for phy: RadioPHY, starts: Int64 = 0) {
        air.listening += microseconds
        let modulation = RadioPHY.Modulation.allCases.firstIndex(of: phy.modulation) ?? 0
        breakdown.listeningByModulation[modulation] += microseconds
        breakdown.listens += starts
    }

    mutating func add(_ time: RadioTime) { add(time, since: RadioTime()) }

    /// The time in which no other use can have the radio, in microseconds.
    var busy: Int64 { air.sending + air.listening + idle }
}

extension RadioPHY {
    /// The PHY of a value of HCI. A coded one is taken to have eight symbols for each bit.
    init(_ phy: LEPHY) {
        self = phy == .le2M ? .le2M : phy == .coded ? .codedS8 : .le1M
    }
}

/// Times that the Core Specification fixes, or that the virtual controller and the estimates assume, in microseconds.
enum EstimatedTiming {
    /// The time between two PDUs (Core Vol 6 Part B 4.1.1).
    static let interFrameSpace: Int64 = 150
    /// How long the receiver waits for an answer.
    static let response: Int64 = 154
    /// The time from one advertising channel to the next.
    static let channelSwitch: Int64 = 150
    /// The average random delay of an advertising event (Core Vol 6 Part B 4.4.2.2.1).
    static let advertisingDelay: Int64 = 5_000
    /// The accuracy of this device's sleep clock, which HCI does not tell, in parts per million.
    static let ownAccuracy: Int64 = 50
    /// The minimum time from a PDU to the one that it points to (Core Vol 6 Part B 4.4.2.1).
    static let auxiliarySpace: Int64 = 300
}
