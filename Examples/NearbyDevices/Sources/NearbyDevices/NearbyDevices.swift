import ActivityKit
import CoreBluetooth
import Foundation

/// Counts the devices around, and shows their number in a Live Activity.
///
/// From iOS 26 on, the scan without services goes on in the background while the activity lasts. It ends with the
/// activity, whoever ends that. All methods and reports run on the queue passed to the initializer.
package final class NearbyDevices: NSObject, @unchecked Sendable {
    // Safe: all state is used on one queue.

    /// An event for the user interface.
    package enum Report: Hashable {
        case unavailable(CBManagerState)
        case ready
        case searching
        case found(String?)
        case failed(String)
        case ended
    }

    private let queue: DispatchQueue
    private let report: @Sendable (Report) -> Void
    private var manager: CBCentralManager?
    private var found: Set<UUID> = []
    private var shown = NearbyAttributes.ContentState()
    /// Passes what the activity shows to the task that updates it, in order; the latest of several is enough.
    private var updates: AsyncStream<NearbyAttributes.ContentState>.Continuation?

    /// Creates the manager. The app needs it before it goes to the background.
    package init(queue: DispatchQueue = .main, report: @escaping @Sendable (Report) -> Void) {
        self.queue = queue
        self.report = report
        super.init()
        manager = CBCentralManager(delegate: self, queue: queue)
    }

    /// Starts the Live Activity and the search. Call it in the foreground, while Bluetooth is on.
    package func start() {
        guard let manager, manager.state == .poweredOn, updates == nil else { return }
        (found, shown) = ([], NearbyAttributes.ContentState())
        do {
            let activity = try Activity.request(
                attributes: NearbyAttributes(start: Date()),
                content: ActivityContent(state: shown, staleDate: nil)
            )
            follow(activity.id)
        } catch {
            return report(.failed((error as? ActivityAuthorizationError)?.failureReason ?? "\(error)"))
        }
        report(.searching)
        manager.scanForPeripherals(withServices: nil)
    }

    /// Ends the search and the Live Activity.
    package func stop() {
        guard updates != nil else { return }
        manager?.stopScan()
        updates?.finish()
        updates = nil
        report(.ended)
    }

    private func follow(_ id: String) {
        let (states, continuation) = AsyncStream<NearbyAttributes.ContentState>
            .makeStream(bufferingPolicy: .bufferingNewest(1))
        updates = continuation
        Task {
            var last = ActivityContent(state: NearbyAttributes.ContentState(), staleDate: nil)
            for await state in states {
                last = ActivityContent(state: state, staleDate: nil)
                await Self.activity(id)?.update(last)
            }
            await Self.activity(id)?.end(last, dismissalPolicy: .immediate)
        }
        Task { [weak self, queue] in
            // The user may have removed it already.
            if let activity = Self.activity(id) {
                for await state in activity.activityStateUpdates where state == .ended || state == .dismissed { break }
            }
            queue.async { [weak self] in self?.stop() }
        }
    }

    private static func activity(_ id: String) -> Activity<NearbyAttributes>? {
        Activity<NearbyAttributes>.activities.first { $0.id == id }
    }
}

extension NearbyDevices: CBCentralManagerDelegate {
    package func centralManagerDidUpdateState(_ central: CBCentralManager) {
        guard central.state == .poweredOn else {
            stop()
            return report(.unavailable(central.state))
        }
        report(.ready)
    }

    package func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        guard updates != nil, found.insert(peripheral.identifier).inserted else { return }
        report(.found(peripheral.name))
        shown.count = found.count
        shown.latest = peripheral.name ?? shown.latest
        updates?.yield(shown)
    }
}
