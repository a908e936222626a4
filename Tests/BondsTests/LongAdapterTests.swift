import BluetoothTypes
import BondKillPoints
import Bonds
import EventLoops
import Testing

/// An adapter with more to tell than is kept is still the same one after a restart.
@Suite struct LongAdapterTests {
    @Test(arguments: [254, 255, 256, 300])
    func AB_H08_anAdapterIsRecognisedByAsMuchAsIsKept(count: Int) throws {
        let directory = try ScratchDirectory()
        let details = String(repeating: "a", count: count)
        let adapter = AdapterIdentity(address: Samples.adapter.address, details: details)
        #expect(adapter.details.utf8.count == min(count, 255))
        for _ in 0..<2 {
            let storage = try FileBondStorage(directory: directory.path)
            let store = try BondStore(storage: storage, adapter: adapter, random: RandomSource(seed: 1))
            #expect(store.adapter == adapter)
        }
    }
}
