import BluetoothTypes
import Foundation

/// How messages get from an app to the service and back within a process: as they are, or through their wire format, as they
/// would between two processes. Tests take both ways.
enum MessageCrossing {
    case direct
    case encoded

    /// The environment variable that chooses, with the value `encoded`.
    static let variable = "HARALD_MESSAGES"

    /// What the environment says.
    static let chosen: MessageCrossing =
        ProcessInfo.processInfo.environment[variable] == "encoded" ? .encoded : .direct

    /// The message as it arrives.
    func pass<Message: PacketFields>(_ message: Message) -> Message {
        switch self {
        case .direct: return message
        case .encoded:
            let octets = message.encoded()
            do {
                return try Message(reading: octets)
            } catch {
                // Whoever asks for this way wants to know, and nobody else gets here.
                preconditionFailure("\(message) does not come back from its \(octets.count) octets: \(error)")
            }
        }
    }

    func pass(_ request: Request, of manager: ManagerID) -> Request {
        guard case .request(_, let request) = pass(AppMessage.request(manager, request)) else { return request }
        return request
    }

    /// What takes a manager's events at the app's end, for `handler` to have them as they arrive.
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
