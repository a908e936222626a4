import Accessories
import BluetoothSimulation
import BluetoothTypes
import CoreBluetooth
import DistanceMeter
import TestBasics
import Testing

@Suite struct DistanceMeterTests {
    private let world = SimulatedWorld(seed: 1)
    private let heard = Notes<DistanceMeter.Report>()

    private func meter(_ channelSounding: DeviceOptions.ChannelSounding) -> DistanceMeter {
        var accessory = Accessory(name: "Tag")
        accessory.hasChannelSounding = true
        accessory.advertising.services = [0x185B]
        let tag = world.addAccessory(accessory, at: Position(x: 3))
        var options = DeviceOptions.phone
        options.channelSounding = channelSounding
        let phone = world.addDevice(named: "Phone", options: options)
        phone.person.behaves(.agrees(lookingAt: [tag.device]))
        let meter = phone.launch("meter") { [heard] _ in
            DistanceMeter(queue: DispatchQueue(label: "meter"), report: heard.add)
        }
        world.run(for: .seconds(10))
        return meter
    }

    @Test("The meter finds the accessory, pairs, and shows the distance")
    func showsTheDistance() {
        let meter = meter(.supported)
        withExtendedLifetime(meter) {
            #expect(heard.all.prefix(3) == [.searching, .found(name: "Tag"), .paired])
            let distances = heard.all.compactMap { if case .distance(let metres) = $0 { metres } else { nil } }
            #expect(distances.count >= 5)
            #expect(distances.allSatisfy { abs($0 - 3) < 0.3 })
        }
    }

    @Test("On a device that cannot measure, the meter says so")
    func saysThatItIsUnsupported() {
        let meter = meter(.unsupported)
        withExtendedLifetime(meter) { #expect(heard.all == [.unsupported]) }
    }
}
