import BluetoothTypes
import HCI
import HCIHost

// Trains with responses (Core Vol 3 Part C 9.5.3).
extension PeriodicObserver {
    /// The maximum length of a response, in octets, which is limited by the command (Core Vol 4 Part E 5.4.1, 7.8.126).
    static let maximumResponse = 247

    /// Selects the subevents of a train to listen to. Before this call none is received. ``onSubevent`` reports the
    /// data.
    package func choose(
        _ subevents: [UInt8],
        of train: Train,
        completion: @escaping (Result<Void, GAPError>) -> Void = { _ in }
    ) {
        // A device that listens to subevents can be connected to.
        device.host.askForTrainsOfConnections()
        device.host.send(LESetPeriodicSyncSubevent(sync: train.handle, subevents: PacketBuffer(subevents))) {
            completion($0.map { _ in }.mapError { GAPError($0) })
        }
    }

    /// Responds to a received subevent in a slot of `subevent`, by default the same one.
    package func respond(
        to place: Place,
        of train: Train,
        in subevent: UInt8? = nil,
        slot: UInt8,
        _ data: PacketBuffer,
        completion: @escaping (Result<Void, GAPError>) -> Void = { _ in }
    ) {
        guard data.count <= Self.maximumResponse else {
            return completion(.failure(.impossible("a response holds at most \(Self.maximumResponse) octets")))
        }
        let command = LESetPeriodicAdvertisingResponseData(
            sync: train.handle,
            requestEvent: place.event,
            requestSubevent: place.subevent,
            responseSubevent: subevent ?? place.subevent,
            slot: slot,
            data: data
        )
        device.host.send(command) { completion($0.map { _ in }.mapError { GAPError($0) }) }
    }
}
