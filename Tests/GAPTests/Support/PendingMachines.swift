import BluetoothTypes

@testable import GAP

/// The connector's state machine with a set of pending peers of its own.
struct LoneConnectorMachine {
    private var machine = ConnectorMachine()
    private var pending = PendingPeers()

    var state: ConnectorMachine.State { machine.state }
    /// The addresses that the controller is to connect to, next ones first.
    var wanted: [BluetoothAddress] { pending.queue }

    mutating func handle(_ event: ConnectorMachine.Event) -> [ConnectorMachine.Action] {
        machine.handle(event, &pending)
    }
}

/// The state machine that searches for peers with private addresses, with a set of pending peers of its own.
struct LoneSeekMachine {
    private var machine = SeekMachine()
    private var pending = PendingPeers()

    /// The peers that the host searches for.
    var peers: [BluetoothAddress] { pending.sought }

    func address(of peer: BluetoothAddress) -> BluetoothAddress? { pending.address(of: peer) }

    func peer(at address: BluetoothAddress) -> BluetoothAddress? { pending.peer(at: address) }

    mutating func handle(_ event: SeekMachine.Event) -> [SeekMachine.Action] { machine.handle(event, &pending) }
}
