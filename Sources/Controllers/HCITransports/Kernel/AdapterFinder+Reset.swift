import Foundation
import HCI

extension AdapterFinder {
    /// Resets the device of the first free adapter that matches `choice`.
    package func reset(_ choice: AdapterChoice) -> DeviceReset {
        do throws(UserChannelError) {
            let known = try adapters.list()
            let meant = candidates(for: choice, among: known)
            guard let first = meant.first else { throw .noSuchAdapter("\(choice)", known: known.map(\.name)) }
            guard let free = meant.first(where: { [.nobody, .kernel].contains($0.holder) }) else {
                throw .busy(first.name, first.holder)
            }
            return reset(free.name)
        } catch {
            return .failed(reason: error.description)
        }
    }

    /// Resets the device of a free adapter. Blocks for seconds, so do not call it on a loop.
    ///
    /// Resets the USB port if this process has the permission. Otherwise makes the driver and the kernel's own host
    /// initialize the adapter, and then takes it down again.
    ///
    /// - Parameter name: The adapter, such as `hci0`.
    package func reset(_ name: String) -> DeviceReset {
        guard let adapter = (try? adapters.list())?.first(where: { $0.name == name }) else {
            return .failed(reason: "\(name) is gone")
        }
        if let node = adapter.node {
            do throws(ErrorNumber) {
                try calls.resetPort(node)
                return .done
            } catch {
                // Usually this process may not write to the device node. Bringing the adapter up may still be
                // permitted.
            }
        }
        do throws(ErrorNumber) {
            let socket = try calls.openSocket()
            defer { calls.close(socket) }
            try calls.bringUp(adapter.index, by: socket)
            try calls.takeDown(adapter.index, by: socket)
            return .done
        } catch {
            return .failed(reason: "\(UserChannelError(error, of: name, asked: "bringing it up again"))")
        }
    }
}
