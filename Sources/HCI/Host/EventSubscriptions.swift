import BluetoothTypes

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

    func contains(_ code: EventCode, _ subevent: LESubevent?) -> Bool {
        handlers[Key(code: code, subevent: subevent)] != nil
    }

    /// Calls everybody who wants the event; nobody when it cannot be read.
    func deliver(_ packet: EventPacket) throws(PacketError) {
        let parameters = packet.eventParameters
        for handler in handlers[Key(code: packet.code, subevent: packet.subevent)] ?? [] {
            if let error = handler(parameters) { throw error }
        }
    }
}
