import BluetoothTypes
import HCI
import HCIHost

// Trains with responses (Core Vol 3 Part C 9.5.3).
extension PeriodicObserver {
    /// Octets of one response at most: the command has no room for more (Core Vol 4 Part E 5.4.1, 7.8.126).
    static let maximumResponse = 247

    /// Listens to these subevents of a train from now on; before, nothing is heard of it. ``onSubevent`` tells what they say.
    package func choose(
        _ subevents: [UInt8],
        of train: Train,
        completion: @escaping (Result<Void, GAPError>) -> Void = { _ in }
    ) {
        // Who listens can be connected to.
        access.host.askForTrainsOfConnections()
        access.host.send(LESetPeriodicSyncSubevent(sync: train.handle, subevents: PacketBuffer(subevents))) {
            completion($0.map { _ in }.mapError { GAPError($0) })
        }
    }

    /// Responds to a subevent that was heard, in a slot of the same one unless another is named.
    package func respond(
        to place: Place,
        of train: Train,
        in subevent: UInt8? = nil,
        slot: UInt8,
        _ data: PacketBuffer,
        completion: @escaping (Result<Void, GAPError>) -> Void = { _ in }
    ) {
        guard data.count <= Self.maximumResponse else {
            return completion(.failure(.impossible("a response has \(Self.maximumResponse) octets at most")))
        }
        let command = LESetPeriodicAdvertisingResponseData(
            sync: train.handle,
            requestEvent: place.event,
            requestSubevent: place.subevent,
            responseSubevent: subevent ?? place.subevent,
            slot: slot,
            data: data
        )
        access.host.send(command) { completion($0.map { _ in }.mapError { GAPError($0) }) }
    }
}
