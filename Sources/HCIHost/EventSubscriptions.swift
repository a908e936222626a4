import BluetoothTypes
import HCI

/// Who wants to see which events.
struct EventSubscriptions {
    private struct Key: Hashable {
        var code: EventCode
        var subevent: LESubevent?
    }

    /// Each gives back why the event could not be read, if so.
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

    /// Calls everybody who wants the event; nobody when it cannot be read.
    ///
    /// - Returns: Whether somebody wants it.
    func deliver(_ packet: EventPacket) throws(PacketError) -> Bool {
        guard let wanting = handlers[Key(code: packet.code, subevent: packet.subevent)] else { return false }
        let parameters = packet.eventParameters
        for handler in wanting {
            if let error = handler(parameters) { throw error }
        }
        return true
    }
}
