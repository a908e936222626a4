import CoreBluetooth
import Dispatch
import ServiceStandIns

extension StandInService {
    /// Creates a peripheral manager of this service.
    func manager(delegate: (any CBPeripheralManagerDelegate)? = nil) -> CBPeripheralManager {
        run { CBPeripheralManager(delegate: delegate, queue: DispatchQueue(label: "stand-in")) }
    }

    /// Lets tasks run until `condition` holds. Returns false if it does not hold for a long time.
    func runs(until condition: () -> Bool) async -> Bool {
        for _ in 0..<1_000_000 {
            if condition() { return true }
            await Task.yield()
        }
        return false
    }
}
