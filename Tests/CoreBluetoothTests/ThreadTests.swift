import CoreBluetooth
import SampleMessages
import ServiceMessages
import ServiceStandIns
import Testing

/// Apps use the objects from any thread while events arrive on the queue (behaviour 13.4).
@Suite struct ThreadTests {
    @Test func objectsComeAndGoOnManyThreads() {
        let service = StandInService.logged()
        let queue = DispatchQueue(label: "app")
        let manager = service.run { CBCentralManager(delegate: nil, queue: queue) }
        service.deliver(.stateChanged(.poweredOn))
        let peers = (0..<4).map { PeerInfo(identifier: UUID(), name: "peer \($0)") }
        service.answer(peripherals: peers)
        manager.scanForPeripherals(withServices: nil)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for round in 0..<200 {
                let peer = peers[(thread + round) % peers.count]
                guard thread > 0 else {
                    service.deliver(.discovered(peer, Advertisement(), rssi: -1))
                    service.deliver(.connected(peer, maximumWriteWithoutResponse: 20))
                    service.deliver(.servicesDiscovered(peer: peer.identifier, .success([.heartRate])))
                    service.deliver(.disconnected(peer: peer.identifier, nil, isReconnecting: false))
                    continue
                }
                let found =
                    manager.retrievePeripherals(withIdentifiers: [])
                    + manager.retrievePeripherals(withIdentifiers: peers.map(\.identifier))
                for peripheral in found {
                    manager.connect(peripheral)
                    peripheral.discoverServices(nil)
                    _ = peripheral.services?.first?.description
                    if round.isMultiple(of: 3) { manager.cancelPeripheralConnection(peripheral) }
                }
            }
        }
        // Each object has been released and forgotten, and the next request creates a new one.
        _ = service.takeRequests()
        var last: CBPeripheral? = manager.retrievePeripherals(withIdentifiers: [peers[0].identifier]).first
        #expect(last?.state == .disconnected)
        #expect(service.takeRequests().count == 3)
        last = nil
        #expect(service.takeRequests() == [.forget(peer: peers[0].identifier)])
    }

    @Test func subscribersAndUpdatesOnManyThreads() {
        let app = PeripheralApp.published()
        let (manager, dynamic, service) = (app.manager!, app.dynamic, app.service)
        let (central, id) = (app.central, app.characteristicID)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for _ in 0..<200 {
                guard thread > 0 else {
                    service.deliver(.subscribed(central, characteristic: id))
                    service.deliver(.updateCreditsReturned(count: 5))
                    service.deliver(.unsubscribed(central, characteristic: id))
                    continue
                }
                manager.updateValue(Data([1]), for: dynamic, onSubscribedCentrals: dynamic.subscribedCentrals)
            }
        }
        #expect(dynamic.subscribedCentrals == [])
    }
}
