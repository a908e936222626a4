import BluetoothTypes
import BondKillPoints
import EventLoops
import Security
import Testing

/// An adapter at a place whose name exceeds the length kept is still recognised after a restart.
@Suite struct LongAdapterTests {
    @Test("AB-H08: an adapter is recognised by the stored part of its place", arguments: [254, 255, 256, 300])
    func anAdapterIsRecognisedByAsMuchAsIsKept(count: Int) throws {
        let directory = try TestDirectory()
        let place = String(repeating: "a", count: count)
        let adapter = AdapterIdentity(address: Samples.adapter.address, place: place)
        #expect(adapter.place.utf8.count == min(count, 255))
        for _ in 0..<2 {
            let storage = try FileBondStorage(directory: directory.path, random: RandomSource(seed: 2))
            let store = try BondStore(storage: storage, adapter: adapter, random: RandomSource(seed: 1))
            #expect(store.adapter == adapter)
        }
    }
}
