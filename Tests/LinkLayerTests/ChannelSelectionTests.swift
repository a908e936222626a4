import BluetoothTypes
import EventLoops
import Testing

@testable import LinkLayer

@Suite struct ChannelSelectionTests {
    // Core Vol 6 Part C 3.1: access address 0x8E89BED6, all channels in use.
    @Test(arguments: [(0, 56_857, 25), (1, 1_685, 20), (2, 38_301, 6), (3, 27_475, 21)])
    func algorithm2WithAllChannels(counter: UInt16, random: UInt16, channel: UInt8) {
        let selection = ChannelSelection2(accessAddress: 0x8E89_BED6)
        #expect(selection.random(counter: counter) == random)
        #expect(selection.channel(counter: counter, map: .all) == channel)
    }

    // Core Vol 6 Part C 3.2: nine channels in use.
    @Test(arguments: [(6, 10_975, 23), (7, 5_490, 9), (8, 46_970, 34)])
    func algorithm2WithNineChannels(counter: UInt16, random: UInt16, channel: UInt8) {
        let used: [UInt64] = [9, 10, 21, 22, 23, 33, 34, 35, 36]
        let map = ChannelMap(bits: used.reduce(0) { $0 | 1 << $1 })
        let selection = ChannelSelection2(accessAddress: 0x8E89_BED6)
        #expect(selection.random(counter: counter) == random)
        #expect(selection.channel(counter: counter, map: map) == channel)
    }

    // Core Vol 6 Part B 4.5.8.2: from unmapped channel 0 in steps of the hop.
    @Test(
        arguments: [
            (5, [5, 10, 15, 20, 25, 30, 35, 3, 8]), (7, [7, 14, 21, 28, 35, 5, 12, 19, 26]),
            (16, [16, 32, 11, 27, 6, 22, 1, 17, 33]),
        ] as [(UInt8, [UInt8])]
    )
    func algorithm1WithAllChannels(hop: UInt8, channels: [UInt8]) {
        var selection = ChannelSelection1(hop: hop)
        #expect(channels.map { _ in selection.next(map: .all) } == channels)
    }

    @Test func algorithm1RemapsUnusedChannels() {
        // Channels 0 to 8 only: 9 is remapped to 9 mod 9 = 0, 14 to 5, 35 to 8.
        let map = ChannelMap(bits: 0x1FF)
        var selection = ChannelSelection1(hop: 7)
        #expect((0..<6).map { _ in selection.next(map: map) } == [7, 5, 3, 1, 8, 5])
    }

    @Test(arguments: 0..<40)
    func skippingEqualsHopping(events: Int) {
        var (walked, jumped) = (
            ChannelSelection.algorithm1(.init(hop: 11)), ChannelSelection.algorithm1(.init(hop: 11))
        )
        let before = jumped
        for counter in 0..<events { _ = walked.next(counter: UInt16(counter), map: .all) }
        jumped.skip(events)
        #expect(walked == jumped)
        jumped.unskip(events)
        #expect(jumped == before)
    }

    @Test func mapsAreReadAndWritten() throws {
        let map = ChannelMap(bits: 0x15_0000_0003)
        #expect(map.octets == [0x03, 0, 0, 0, 0x15])
        #expect(map.used == [0, 1, 32, 34, 36])
        #expect(try ChannelMap(reading: map.octets) == map)
        #expect(ChannelMap(octets: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]) == nil)
        #expect(ChannelMap(octets: [0xFF]) == nil)
        #expect(!ChannelMap(bits: 1).isUsable)
        #expect(ChannelMap(bits: 3).isUsable)
    }

    // Core Vol 6 Part B 2.1.2.
    @Test(
        arguments: [
            ("advertising", 0x8E89_BED6, false), ("one bit from advertising", 0x8E89_BED7, false),
            ("32 equal bits", 0x0000_0000, false), ("more than 24 transitions", 0x5555_5555, false),
            ("more than six equal bits", 0xFFFF_0000, false), ("four equal octets", 0x7171_7171, false),
            ("random", 0x5065_4BB1, true),
        ] as [(String, UInt32, Bool)]
    )
    func accessAddresses(name: String, address: UInt32, isValid: Bool) {
        #expect(AccessAddress.isValid(address) == isValid)
    }

    @Test func randomAccessAddressesKeepToTheRules() {
        let random = RandomSource(seed: 4)
        let addresses = (0..<100).map { _ in AccessAddress.random(random) }
        #expect(addresses.allSatisfy(AccessAddress.isValid))
        #expect(Set(addresses).count == 100)
    }
}
