import BluetoothTypes
import HCI

/// The event handlers, by event type.
struct EventSubscriptions {
    private struct Key: Hashable {
        var code: EventCode
        var subevent: LESubevent?
    }

    /// The handlers. Each returns an error if the event is malformed.
    private var handlers: [Key: [(PacketBuffer) -> PacketError?]] = [:]

    mutating func add<E: HCIEvent>(_ type: E.Type, _ handler: @escaping (E) -> Void) {
        let key = Key(code: type.eventCode, subevent: type.subevent)
        handlers[key, default: []].append { parameters in
            do throws(PacketError) {
                handler(try E.reading(parameters))
                return nil
            } catch {
                return error
            }
        }
    }

    func contains<E: HCIEvent>(_ type: E.Type) -> Bool {
        handlers[Key(code: type.eventCode, subevent: type.subevent)] != nil
    }

    /// Calls the handlers of an event; none if it is malformed.
    ///
    /// - Returns: Whether the event has handlers.
    func deliver(_ packet: EventPacket) throws(PacketError) -> Bool {
        guard let wanting = handlers[Key(code: packet.code, subevent: packet.subevent)] else { return false }
        let parameters = packet.eventParameters
        for handler in wanting {
            if let error = handler(parameters) { throw error }
        }
        return true
    }
}
