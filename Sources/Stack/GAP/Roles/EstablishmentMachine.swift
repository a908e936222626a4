import BluetoothTypes
import HCI

/// The state machine of the four connection establishment procedures (Core Vol 3 Part C 9.3.5 to 9.3.8).
struct EstablishmentMachine {
    enum Procedure: Hashable {
        /// The controller connects to the first of these that it detects.
        case auto([BluetoothAddress])
        /// The host scans for all devices and picks one.
        case general
        /// The host scans for these and picks one.
        case selective([BluetoothAddress])
        /// The controller connects to this one.
        case direct(BluetoothAddress)

        /// Returns the procedure with the devices renamed, to match the addresses by which links and failures are
        /// reported.
        func naming(_ name: (BluetoothAddress) -> BluetoothAddress) -> Procedure {
            switch self {
            case .auto(let peers): .auto(peers.map(name))
            case .general: .general
            case .selective(let peers): .selective(peers.map(name))
            case .direct(let peer): .direct(name(peer))
            }
        }
    }

    enum State: Hashable {
        case idle
        /// The host is scanning, to pick one.
        case picking
        /// The controller is searching for these.
        case connecting([BluetoothAddress])
    }

    enum Event {
        case begin(Procedure)
        /// The host has picked one of the devices found.
        case picked(BluetoothAddress)
        /// A link has come up, possibly unrelated to this procedure.
        case connected(BluetoothAddress)
        /// The controller cannot connect to one peer, or at all.
        case failed(GAPError, BluetoothAddress?)
        case timeOver
        case cancel
    }

    enum Action: Hashable {
        /// Scan for these; nil for all devices.
        case scan([BluetoothAddress]?)
        case endScan
        case want([BluetoothAddress])
        case withdraw([BluetoothAddress])
        case endTimer
        case finish(BluetoothAddress)
        case fail(GAPError)
    }

    private(set) var state = State.idle

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.idle, .begin(let procedure)): return begin(procedure)
        case (_, .begin): return [.fail(.busy)]
        case (.picking, .picked(let peer)):
            state = .connecting([peer])
            return [.endScan, .want([peer])]
        case (.connecting(let peers), .connected(let peer)):
            guard peers.contains(peer) else { return [] }
            state = .idle
            return [.endTimer, .withdraw(peers.filter { $0 != peer }), .finish(peer)]
        case (.connecting(let peers), .failed(let error, let peer?)):
            let left = peers.filter { $0 != peer }
            guard left != peers else { return [] }
            guard left.isEmpty else {
                state = .connecting(left)
                return []
            }
            return end(error)
        case (.connecting, .failed(let error, nil)), (.picking, .failed(let error, nil)): return end(error)
        case (.picking, .timeOver), (.connecting, .timeOver): return end(.timedOut)
        case (.picking, .cancel), (.connecting, .cancel): return end(.cancelled)
        case (.picking, .connected), (.picking, .failed), (.idle, _), (.connecting, .picked): return []
        }
    }

    private mutating func begin(_ procedure: Procedure) -> [Action] {
        switch procedure {
        case .auto([]), .selective([]): return [.fail(.impossible("the list of devices is empty; name at least one"))]
        case .auto(let peers):
            state = .connecting(peers)
            return [.want(peers)]
        case .direct(let peer):
            state = .connecting([peer])
            return [.want([peer])]
        case .general:
            state = .picking
            return [.scan(nil)]
        case .selective(let peers):
            state = .picking
            return [.scan(peers)]
        }
    }

    private mutating func end(_ error: GAPError) -> [Action] {
        defer { state = .idle }
        switch state {
        case .idle: return []
        case .picking: return [.endTimer, .endScan, .fail(error)]
        case .connecting(let peers): return [.endTimer, .withdraw(peers), .fail(error)]
        }
    }
}
