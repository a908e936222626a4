import LinkLayer

extension FuzzTarget {
    /// Two whole systems and a session of two apps, with packets changed in the transports and frames changed on the
    /// air.
    static let stacks = FuzzTarget("stacks", maximumLength: 512, seeds: seeds) { input in
        var input = input
        let world = StackWorld()
        let mutation = Mutation(&input)
        world.onPacket = mutation.packets
        world.radio.onSend = mutation.change
        _ = world.runSession(limit: .seconds(10))
        world.onPacket = nil
        world.radio.onSend = nil
        // Whatever happened, turning Bluetooth off and on again restores normal operation.
        world.switchOffAndOn()
        hold(world.runSession(limit: .seconds(60)), "the devices do not reconnect after a reset")
        world.end()
    }

    /// Each kind of change at each place, early and late.
    private static var seeds: [[UInt8]] {
        var seeds: [[UInt8]] = [[]]
        for place in 0..<5 as Range<UInt8> {
            for operation in 0..<8 as Range<UInt8> {
                for skip in [0, 24, 60] as [UInt8] {
                    seeds.append([place, skip, operation, skip % 7, 2, 0xFF, 0x41])
                }
            }
        }
        return seeds
    }
}
