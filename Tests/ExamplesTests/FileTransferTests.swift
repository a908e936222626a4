import BluetoothSimulation
import CoreBluetooth
import FileTransfer
import LinkLayer
import TestBasics
import Testing

@Suite struct FileTransferTests {
    private let world = SimulatedWorld(seed: 1)
    private let offered = Notes<FileOffer.Report>()
    private let fetched = Notes<FileFetch.Report>()
    private let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) })

    /// The streams run in the run loop of the test, which advances time in small steps.
    private func run(_ duration: Duration, until condition: () -> Bool) {
        let end = world.now + duration
        while !condition(), world.now < end { world.run(for: .milliseconds(5)) }
    }

    private func launch() -> (offer: FileOffer, fetch: FileFetch, station: SimulatedDevice) {
        let station = world.addDevice(named: "Station")
        let phone = world.addDevice(named: "Phone", at: Position(x: 1))
        let offer = station.launch("offer") { [offered, content] _ in
            FileOffer(content: content, queue: DispatchQueue(label: "offer"), runLoop: .current, report: offered.add)
        }
        let fetch = phone.launch("fetch") { [fetched] _ in
            FileFetch(queue: DispatchQueue(label: "fetch"), runLoop: .current, report: fetched.add)
        }
        return (offer, fetch, station)
    }

    @Test("behaviour 8.3: a file is found by the PSM in a characteristic, and arrives unchanged") func crossesWhole() {
        let apps = launch()
        run(.seconds(60)) { fetched.has(.disconnected) }
        withExtendedLifetime(apps) {
            #expect(fetched.all == [.searching, .connected, .receiving, .received(content), .disconnected])
            #expect(offered.all.prefix(3) == [.advertising, .sending, .sent(octets: content.count)])
        }
        // For the next central.
        run(.seconds(5)) { offered.all.count == 4 }
        withExtendedLifetime(apps) {
            #expect(offered.all.count == 4)
            #expect(offered.all.last == .advertising)
        }
    }

    @Test("A file whose link is lost halfway does not count as complete") func isCutOff() {
        let apps = launch()
        run(.seconds(60)) { fetched.has(.receiving) }
        run(.milliseconds(500)) { false }
        apps.station.move(to: Position(x: 5_000))
        run(.seconds(60)) { fetched.all.count == 5 }
        withExtendedLifetime(apps) {
            // The streams and the manager report on different queues, so their order varies.
            #expect(fetched.all.prefix(3) == [.searching, .connected, .receiving])
            #expect(fetched.has(.disconnected))
            #expect(fetched.all.count == 5)
            #expect(fetched.all.contains { if case .failed = $0 { true } else { false } })
        }
    }
}
