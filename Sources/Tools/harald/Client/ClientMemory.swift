import BluetoothTypes
import CoreBluetooth
import Foundation
import Synchronization

/// The devices of a session: those that stay connected between its commands, and those that it has heard.
final class ClientMemory: Sendable {
    static let maximumDevices = 1_000

    private struct State {
        var kept: [FoundDevice] = []
        var candidates: [UUID: DeviceCandidate] = [:]
        /// The characteristics of the devices that stay connected.
        var characteristics: [UUID: [BluetoothUUID]] = [:]
    }

    /// Whether the session wants to know the characteristics of devices that stay connected.
    let isForCompletion: Bool
    private let state = Mutex(State())

    init(isForCompletion: Bool = false) {
        self.isForCompletion = isForCompletion
    }

    /// The devices that stay connected until the session disconnects, the latest last. A link may be lost meanwhile.
    var kept: [FoundDevice] { state.withLock { $0.kept } }

    /// The devices that are connected now, the latest last.
    var connected: [FoundDevice] { kept.filter { $0.peripheral.state == .connected } }

    var candidates: [DeviceCandidate] {
        state.withLock { state in Array(state.candidates.values) }
    }

    /// Whether the device stays connected, or is connected again, until the session disconnects.
    func keeps(_ device: FoundDevice) -> Bool { kept.contains(device) }

    func keep(_ device: FoundDevice) {
        state.withLock { state in
            state.kept.removeAll { $0 == device }
            state.kept.append(device)
        }
    }

    func forget(_ device: FoundDevice) {
        state.withLock { state in
            state.kept.removeAll { $0 == device }
            state.characteristics[device.peripheral.identifier] = nil
        }
    }

    /// Remembers a device. What is known of it grows.
    func add(_ candidate: DeviceCandidate) {
        guard let identifier = candidate.identifier else { return }
        state.withLock { state in
            guard var known = state.candidates[identifier] else {
                if state.candidates.count < Self.maximumDevices { state.candidates[identifier] = candidate }
                return
            }
            if !candidate.names.isEmpty { known.names = candidate.names }
            known.address = candidate.address ?? known.address
            state.candidates[identifier] = known
        }
    }

    /// Remembers the characteristics of a device, if it stays connected.
    func add(_ listing: AttributeListing, of device: FoundDevice) {
        let uuids = listing.services.flatMap(\.characteristics).map(\.uuid)
        state.withLock { state in
            guard state.kept.contains(device) else { return }
            state.characteristics[device.peripheral.identifier] = uuids
        }
    }

    func characteristics(of selector: DeviceSelector) -> [BluetoothUUID] {
        state.withLock { state in
            let fitting = state.kept.filter { selector.fit($0.candidate) != nil }
            return fitting.flatMap { state.characteristics[$0.peripheral.identifier] ?? [] }
        }
    }
}
