import GATT
import SampleMessages
import Security
import ServiceMessages
import Testing

@testable import BluetoothService

/// The peer's attribute table in the bond.
@Suite struct BondedTableTests {
    @Test(
        "behaviours 4.10, 15.6: the services cached in a bond are dropped at once on request, and cached again with their hash"
    )
    func bondedServiceCachesAreDroppedOnRequest() throws {
        let bench = try EnhancedBearerBench()
        /// Whether the bond has a service table, and its database hash.
        func kept() -> [Bool] {
            let cache = bench.phone.peers.bonds?.bonds.first?.cache
            return [cache?.services != nil, cache?.hash != nil]
        }
        func leave() throws {
            _ = try bench.app.ask(.cancelConnection(peer: bench.peer), "disconnected", \.disconnection)
            bench.world.run(.seconds(1))
        }
        try bench.open()
        try bench.encrypt()
        for _ in 1...2 {
            try leave()
            try bench.connect()
            bench.world.run(.seconds(1))
        }
        #expect(kept() == [true, true])
        let refresh = Request.central(.peer(bench.peer, .link(.refreshServices)))
        let services = try bench.app.ask(refresh, "services", \.services).get().map(\.uuid)
        #expect(services == [EnhancedBearerBench.shelf, EnhancedBearerBench.tower])
        #expect(kept() == [false, false])
        try leave()
        #expect(kept() == [true, true])
    }
}
