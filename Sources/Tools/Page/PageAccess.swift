import BluetoothTypes
import Foundation

/// The rules for requests: the page is for the browser of the person who has read the printed address.
///
/// The token is in the fragment of the address, which a browser sends to no server, and the page gives it in the first
/// message of its WebSocket (AB-P04). It is no cookie, because a browser sends a cookie to every port of the host
/// (RFC 6265 8.5). The files of the page are no secret, so they need no token.
///
/// Each request must name this server as its host, so that a name which another site lets point here (DNS rebinding) is
/// refused. A request of another site's page is refused by its origin (RFC 6454 7.3).
struct PageAccess: Sendable {
    /// The parts of a request that decide.
    struct Request: Sendable {
        var method = "GET"
        /// The path with the query.
        var target: String
        /// The values of the header fields. Nil if there is none; empty if there are several.
        var host: String?
        var origin: String?
        /// Whether it asks for a WebSocket.
        var isUpgrade = false
    }

    enum Verdict: Hashable, Sendable {
        /// Serves the file at this path.
        case serve(path: String)
        /// Serves the file that a ticket stands for, once.
        case download(ticket: String)
        /// Opens the WebSocket, whose first message must have the token.
        case open
        case refuse(Refusal)
    }

    /// A reason to refuse a request, and its words for the person at the browser.
    enum Refusal: Hashable, Sendable {
        /// The request names another host, such as one that another site lets point here.
        case otherHost
        /// A page of another site has made the request.
        case otherOrigin
        case otherMethod
        case unknownPath
        /// The ticket of a download was used, or is too old.
        case staleTicket
    }

    /// The path of the WebSocket.
    static let socketPath = "/socket"
    /// The path of a file of packets, followed by its ticket.
    static let downloadPath = "/packets/"
    /// The number of octets of randomness in a secret.
    private static let secretLength = 16

    let token: String
    private let hosts: Set<String>

    /// - Parameter names: The names and addresses that the server is reached by, beside those of the loopback interface.
    init(port: Int, names: [String], using random: inout some RandomNumberGenerator) {
        token = Self.secret(using: &random)
        hosts = Set((["127.0.0.1", "localhost", "[::1]"] + names).map { "\($0):\(port)".lowercased() })
    }

    /// Returns a new secret: 32 hexadecimal digits.
    static func secret(using random: inout some RandomNumberGenerator) -> String {
        hexadecimal((0..<secretLength).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    /// Decides on a request.
    func verdict(on request: Request) -> Verdict {
        guard let host = request.host?.lowercased(), hosts.contains(host) else { return .refuse(.otherHost) }
        if let origin = request.origin?.lowercased(), origin != "http://\(host)" { return .refuse(.otherOrigin) }
        guard request.method == "GET" || request.method == "HEAD" else { return .refuse(.otherMethod) }
        let path = String(request.target.prefix { $0 != "?" })
        if path.hasPrefix(Self.downloadPath) {
            return .download(ticket: String(path.dropFirst(Self.downloadPath.count)))
        }
        guard path == Self.socketPath else { return .serve(path: path) }
        // Browsers always send an origin with it.
        return request.isUpgrade && request.origin != nil ? .open : .refuse(.unknownPath)
    }

    /// Returns whether the first message of a WebSocket, `{"token":"…"}`, has the token of this run.
    func admits(_ message: [UInt8]) -> Bool {
        guard let given = try? JSONDecoder().decode([String: String].self, from: Data(message)) else { return false }
        return Self.isEqual(given["token"] ?? "", token)
    }

    /// Compares secrets in a time that does not tell how much of them is equal.
    private static func isEqual(_ first: String, _ second: String) -> Bool {
        let (first, second) = (Array(first.utf8), Array(second.utf8))
        guard first.count == second.count else { return false }
        return zip(first, second).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension PageAccess.Refusal {
    /// The status of the HTTP response.
    var status: Int {
        switch self {
        case .otherHost, .otherOrigin: 403
        case .otherMethod: 405
        case .unknownPath: 404
        case .staleTicket: 410
        }
    }

    /// The reason with a remedy.
    var text: String {
        switch self {
        case .otherHost: "This page answers only under the address that was printed when it started."
        case .otherOrigin: "A page of another site cannot use this one."
        case .otherMethod: "This page is only read."
        case .unknownPath: "There is nothing at this address."
        case .staleTicket: "This file was offered once. Save it again on the page."
        }
    }
}
