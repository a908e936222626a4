// The names of requests in messages for developers, which leave out the parameters: those may be as long as an app
// likes (AB-G05).

extension Request {
    /// The name of the innermost request.
    package var name: String {
        switch self {
        case .central(let request): request.name
        case .peripheral(let request): request.name
        case .channel(_, let request): "\(request.kind.name) of a channel"
        }
    }
}

extension CentralRequest {
    /// The name of the innermost request.
    package var name: String {
        switch self {
        case .peer(_, .link(let request)), .peer(_, .ask(_, let request)): request.name
        case .peer(_, let request): "\(request.kind.name)"
        case .startScan, .stopScan, .watchConnections, .resetScanFilter: "\(kind.name)"
        }
    }
}

extension LinkRequest {
    /// The name of the request.
    package var name: String { "\(kind.name)" }
}

extension PeripheralRequest {
    /// The name of the request.
    package var name: String { "\(kind.name)" }
}
