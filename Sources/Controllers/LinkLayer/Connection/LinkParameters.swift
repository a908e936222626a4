import BluetoothTypes
import EventLoops
import HCI

extension Link {
    /// The parameters with which a link is made.
    struct Parameters {
        var handle: ConnectionHandle
        var role: LinkRole
        var own: BluetoothAddress
        var peer: BluetoothAddress
        var data: ConnectionData
        var usesAlgorithm2: Bool
        var ownAccuracy: ClockAccuracy
        var peerAccuracy: ClockAccuracy
        var transmitPower: Double
        /// How much this device's sleep clock runs slow, in parts per million.
        var drift = 0.0
        /// The instant and PHY from which the first transmit window is counted.
        var start: LinkStart
        /// The identities of the two devices behind private addresses.
        var identities: LinkIdentities
        /// The periodic advertising train from which the link was made, if any.
        var train = LinkTrain.none

        /// The channel hopping with which the link starts.
        var hopping: ChannelHopping {
            let selection: ChannelSelection =
                usesAlgorithm2
                ? .algorithm2(.init(accessAddress: data.accessAddress)) : .algorithm1(.init(hop: data.hop))
            return ChannelHopping(selection, map: data.channelMap)
        }
    }
}

extension Link {
    var handle: ConnectionHandle { parameters.handle }
    var isCentral: Bool { parameters.role == .central }
    /// The expected start of the event being prepared or in progress.
    var anchor: Instant { anchors.anchor }
    /// The counter of that event on the air.
    var counter: UInt16 { anchors.counter }
    /// The connection interval as measured by this device's clock.
    var interval: Duration { anchors.interval(control.timing) }
    /// The time between the used events.
    var period: Int64? { control.timing.intervalMicroseconds * Int64(subrating.current.factor) }

    func radioFree() {}
}

extension ConnectionData {
    /// Whether these are valid parameters of a connection (Core Vol 6 Part B 2.3.3.1; AB-L03).
    var isValid: Bool {
        LinkTiming(interval: interval, latency: latency, timeout: timeout).isValid
            && isWindowValid(size: windowSize, offset: windowOffset, interval: interval)
            && (5...16).contains(hop) && channelMap.isUsable
    }

    func frame(channel: UInt8, phy: RadioPHY, pdu: [UInt8]) -> RadioFrame {
        RadioFrame(channel: channel, accessAddress: accessAddress, crcInit: crcInit, phy: phy, pdu: pdu)
    }

    /// Returns what a receiver is tuned to for the link.
    func tuning(channel: UInt8, modulation: RadioPHY.Modulation) -> RadioTuning {
        RadioTuning(channel: channel, accessAddress: accessAddress, crcInit: crcInit, modulation: modulation)
    }
}

/// The start of a link: the end of its connection request, and the PHY of the request.
struct LinkStart: Hashable {
    var end: Instant
    var phy = LEPHY.le1M
    /// Whether the request is AUX_CONNECT_REQ rather than CONNECT_IND.
    var isAuxiliary = false

    /// transmitWindowDelay, in microseconds: the time from the end of the request to the transmit window with an offset
    /// of 0 (Core Vol 6 Part B 4.5.3).
    var windowDelay: Int64 {
        if !isAuxiliary { return 1_250 }
        return phy == .coded ? 3_750 : 2_500
    }
}

/// The periodic advertising train from which a link was made (Core Vol 4 Part E 7.7.65.10).
struct LinkTrain: Hashable {
    /// As central: the advertising set; 0xFF for none.
    var set: UInt8 = 0xFF
    /// As peripheral: the synchronization; 0xFFFF for none.
    var sync: UInt16 = 0xFFFF

    static let none = LinkTrain()
}

/// How a link handles periodic advertising trains that its peer transfers (Core Vol 4 Part E 7.8.91).
struct SyncTransferRules: Hashable {
    var mode = LESyncTransferMode.ignore
    var skip: UInt16 = 0
    var timeout: UInt16 = 0
}
