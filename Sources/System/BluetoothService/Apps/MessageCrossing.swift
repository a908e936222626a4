import BluetoothTypes
import Foundation
import ServiceMessages

/// How messages cross between an app and the service within one process: unchanged, or through their wire format as
/// between two processes. Tests use both ways.
enum MessageCrossing {
    case direct
    case encoded

    /// The environment variable that selects the wire format, with the value `encoded`.
    static let variable = "HARALD_MESSAGES"

    static let chosen: MessageCrossing =
        ProcessInfo.processInfo.environment[variable] == "encoded" ? .encoded : .direct

    /// Returns the message as the receiver gets it.
    func pass<Message: PacketFields>(_ message: Message) -> Message {
        switch self {
        case .direct: return message
        case .encoded:
            let octets = message.encoded()
            do {
                return try Message(reading: octets)
            } catch {
                // Only tests select this way, and they are to fail here.
                preconditionFailure("\(message) cannot be decoded from its \(octets.count) octets: \(error)")
            }
        }
    }

    func pass(_ request: Request, of manager: ManagerID) -> Request {
        guard case .request(_, let request) = pass(AppMessage.request(manager, request)) else { return request }
        return request
    }

    /// Wraps `handler` so that it receives events as they arrive at the app's end.
    func taking(
        _ handler: @escaping @Sendable (Event) -> Void,
        for manager: ManagerID
    ) -> @Sendable (Event) -> Void {
        switch self {
        case .direct: handler
        case .encoded:
            { event in
                if case .event(_, let event) = pass(ServiceMessage.event(manager, event)) { handler(event) }
            }
        }
    }

    func pass(_ query: Query, of manager: ManagerID) -> Query {
        guard case .query(_, _, let query) = pass(AppMessage.query(manager, number: 1, query)) else { return query }
        return query
    }

    func pass(_ reply: Result<Reply, ServiceError>) -> Result<Reply, ServiceError> {
        guard case .reply(_, let reply) = pass(ServiceMessage.reply(number: 1, reply)) else { return reply }
        return reply
    }
}
