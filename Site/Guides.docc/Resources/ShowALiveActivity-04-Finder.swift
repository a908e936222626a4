import ActivityKit
import CoreBluetooth

/// What the Live Activity shows.
struct Search: ActivityAttributes {
    struct ContentState: Codable, Hashable, Sendable {
        var count: Int
    }
}

/// Finds all devices around.
final class Finder: NSObject, @unchecked Sendable {
    private let queue = DispatchQueue(label: "finder")
    private var manager: CBCentralManager?
    private(set) var names: [String] = []

    func start() {
        manager = CBCentralManager(delegate: self, queue: queue)
        _ = try? Activity.request(
            attributes: Search(),
            content: content
        )
        Task { [weak self] in await self?.waitForEnd() }
    }

    private func waitForEnd() async {
        for activity in Activity<Search>.activities {
            for await state in activity.activityStateUpdates {
                if state == .dismissed { break }
            }
        }
        stop()
    }

    private func stop() {
        queue.async { self.manager?.stopScan() }
    }

    private var content: ActivityContent<Search.ContentState> {
        let state = Search.ContentState(count: names.count)
        return ActivityContent(state: state, staleDate: nil)
    }
}

extension Finder: CBCentralManagerDelegate {
    func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else { return }
        central.scanForPeripherals(withServices: nil)
    }

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        names.append(peripheral.name ?? "")
        Task { [content] in
            for activity in Activity<Search>.activities {
                await activity.update(content)
            }
        }
    }
}
