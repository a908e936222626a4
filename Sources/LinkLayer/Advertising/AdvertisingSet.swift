import BluetoothTypes
import EventLoops
import HCI

/// What is advertised: the parameters and data of one set. Legacy commands speak of the only one.
struct AdvertisingSet {
    /// The parameters as the host gave them; what a reset leaves (Core Vol 4 Part E 7.8.5).
    var parameters = LESetAdvertisingParameters(
        intervalMin: 0x0800,
        intervalMax: 0x0800,
        kind: .connectableScannable,
        ownAddressKind: .publicDevice,
        peerAddress: .none,
        channels: .all,
        filterPolicy: .everybody
    )
    /// The advertising data.
    var data: PacketBuffer = []
    /// The scan response data.
    var scanResponse: PacketBuffer = []
    /// The address on the air, fixed when advertising begins.
    var ownAddress = BluetoothAddress.none

    /// Whether the controller knows channel selection algorithm #2.
    var knowsAlgorithm2 = true

    /// Whether somebody may connect.
    var isConnectable: Bool { parameters.kind == .connectableScannable || isDirected }
    /// Whether somebody may ask for more.
    var isScannable: Bool { parameters.kind == .connectableScannable || parameters.kind == .scannable }
    /// Whether only one device may connect.
    var isDirected: Bool {
        parameters.kind == .directedHighDutyCycle || parameters.kind == .directedLowDutyCycle
    }

    /// The channels, in the order of use.
    var channels: [UInt8] {
        let all: [(LEAdvertisingChannels, UInt8)] = [(.channel37, 37), (.channel38, 38), (.channel39, 39)]
        return all.filter { parameters.channels.contains($0.0) }.map(\.1)
    }

    /// From the beginning of one event to that of the next, without the random delay.
    var interval: Duration {
        // High duty cycle: 3.75 ms at most between two PDUs on one channel (Core Vol 6 Part B 4.4.2.4.3).
        if parameters.kind == .directedHighDutyCycle { return .microseconds(3_750) }
        return .microseconds(Int64(parameters.intervalMin) * 625)
    }

    /// What goes on the air in each event.
    var pdu: AdvertisingPDU {
        switch parameters.kind {
        case .scannable: .scannable(.init(advertiser: ownAddress, data: data))
        case .nonConnectable: .nonConnectable(.init(advertiser: ownAddress, data: data))
        case .directedHighDutyCycle, .directedLowDutyCycle:
            .directed(.init(advertiser: ownAddress, target: target, knowsAlgorithm2: knowsAlgorithm2))
        default: .connectableScannable(.init(advertiser: ownAddress, data: data, knowsAlgorithm2: knowsAlgorithm2))
        }
    }

    /// The one device that a directed advertisement is for.
    var target: BluetoothAddress {
        BluetoothAddress(
            parameters.peerAddress.value,
            kind: .init(isRandom: parameters.peerAddress.kind.isRandom)
        )
    }
}
