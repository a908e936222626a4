import Testing

@testable import GAP

/// Two devices with a link. One of them follows a periodic train that the other transfers over the link: its own train
/// or that of a third device.
struct TransferPair {
    let pair: LinkedPair
    let listener: GAPDevice
    let listenerLink: AccessLink
    let teller: GAPDevice
    let tellerLink: AccessLink

    init(listenerIsCentral: Bool) throws {
        pair = try LinkedPair(.extended)
        let central = (pair.central, pair.centralLink)
        let peripheral = (pair.peripheral, pair.peripheralLink)
        (listener, listenerLink) = listenerIsCentral ? central : peripheral
        (teller, tellerLink) = listenerIsCentral ? peripheral : central
    }
}

extension GAPDevice {
    /// Synchronizes to the periodic train of an advertiser.
    func synchronize(
        to advertiser: GAPDevice,
        _ rules: PeriodicObserver.Rules = .init()
    ) throws -> PeriodicObserver.Train {
        var result: Result<PeriodicObserver.Train, GAPError>?
        access.trains.synchronize(to: .one(advertiser.address, sid: 0), rules) { result = $0 }
        world.run { result != nil }
        return try #require(try result?.get())
    }
}
