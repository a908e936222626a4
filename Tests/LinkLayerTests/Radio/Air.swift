import EventLoops
import LinkLayer

/// A radio on a virtual event loop, and nodes that record what they receive.
final class Air {
    let loop = VirtualEventLoop()
    let radio: Radio
    var heard: [Int: [ReceivedFrame]] = [:]

    init(seed: UInt64 = 1, _ configure: (inout Radio.Configuration) -> Void = { _ in }) {
        var configuration = Radio.Configuration()
        configure(&configuration)
        radio = Radio(loop: loop, random: RandomSource(seed: seed), configuration: configuration)
    }

    func node(_ x: Double = 0) -> RadioNode {
        let node = radio.add(at: Position(x: x))
        let number = node.id.number
        node.onFrame = { [unowned self] in heard[number, default: []].append($0) }
        return node
    }
}

func frame(
    channel: UInt8 = 37,
    address: UInt32 = 0x8E89_BED6,
    crc: UInt32 = 0x555555,
    phy: RadioPHY = .le1M,
    octets: Int = 10
) -> RadioFrame {
    RadioFrame(
        channel: channel,
        accessAddress: address,
        crcInit: crc,
        phy: phy,
        pdu: Array(repeating: 7, count: octets)
    )
}

func tuning(
    channel: UInt8 = 37,
    address: UInt32 = 0x8E89_BED6,
    crc: UInt32 = 0x555555,
    _ modulation: RadioPHY.Modulation = .le1M
) -> RadioTuning {
    RadioTuning(channel: channel, accessAddress: address, crcInit: crc, modulation: modulation)
}
