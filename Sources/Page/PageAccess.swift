import Foundation

/// The rules for requests: the page is for the browser of the person who has read the printed address.
///
/// The address has a token. The first request exchanges it for a cookie that scripts cannot read, so that the token is
/// neither in the history nor in a referrer. Each request must name this server as its host, so that a name which
/// another site lets point here (DNS rebinding) is refused; and a request that another site's page makes is refused by
/// its origin (RFC 6454 7.3).
struct PageAccess: Sendable {
    /// The parts of a request that decide.
    struct Request: Sendable {
        var method = "GET"
        /// The path with the query.
        var target: String
        /// The values of the header fields. Nil if there is none, or more than one.
        var host: String?
        var origin: String?
        var cookie: String?
        /// Whether it asks for a WebSocket.
        var isUpgrade = false
    }

    enum Verdict: Hashable, Sendable {
        /// Redirects to the page, and sets the cookie.
        case exchange(setCookie: String)
        /// Serves the file at this path.
        case serve(path: String)
        /// Serves the packets that the query selects, as a file.
        case download(PagePackets.Format, query: String)
        /// Opens the WebSocket for the page.
        case open
        case refuse(Refusal)
    }

    /// A reason to refuse a request, and its words for the person at the browser.
    enum Refusal: Hashable, Sendable {
        /// The request names another host, such as one that another site lets point here.
        case otherHost
        /// A page of another site has made the request.
        case otherOrigin
        /// The token is not that of this run.
        case staleToken
        /// There is neither a token nor the cookie of this run.
        case noCookie
        case otherMethod
        case unknownPath
    }

    /// The path of the WebSocket.
    static let socketPath = "/socket"
    /// The path of a file of packets, without its extension.
    static let packetsPath = "/packets."
    /// The number of octets of randomness in a token and in a cookie.
    private static let secretLength = 16

    let token: String
    private let cookie: String
    private let cookieName: String
    private let hosts: Set<String>

    /// Creates the access of one run.
    ///
    /// - Parameters:
    ///   - port: The TCP port of the server.
    ///   - names: The names and addresses that the server is reached by, beside those of the loopback interface.
    init(port: Int, names: [String], using random: inout some RandomNumberGenerator) {
        token = Self.secret(&random)
        cookie = Self.secret(&random)
        // Cookies do not depend on the port, so that of another page must have another name.
        cookieName = "harald-page-\(port)"
        hosts = Set((["127.0.0.1", "localhost", "[::1]"] + names).map { "\($0):\(port)".lowercased() })
    }

    private static func secret(_ random: inout some RandomNumberGenerator) -> String {
        (0..<secretLength).map { _ in
            let octet = UInt8.random(in: 0...255, using: &random)
            return (octet < 16 ? "0" : "") + String(octet, radix: 16)
        }.joined()
    }

    /// Decides on a request.
    func verdict(on request: Request) -> Verdict {
        guard let host = request.host?.lowercased(), hosts.contains(host) else { return .refuse(.otherHost) }
        if let origin = request.origin?.lowercased(), origin != "http://\(host)" { return .refuse(.otherOrigin) }
        guard request.method == "GET" || request.method == "HEAD" else { return .refuse(.otherMethod) }
        let parts = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(parts.first ?? "")
        if path == "/", parts.count == 2, let given = Self.token(in: parts[1]) { return exchange(given) }
        guard Self.isEqual(sentCookie(request.cookie) ?? "", cookie) else { return .refuse(.noCookie) }
        if path.hasPrefix(Self.packetsPath),
            let format = PagePackets.Format(rawValue: String(path.dropFirst(Self.packetsPath.count)))
        {
            return .download(format, query: parts.count == 2 ? String(parts[1]) : "")
        }
        guard path == Self.socketPath else { return .serve(path: path) }
        // Browsers always send an origin with it; another program has no cookie.
        return request.isUpgrade && request.origin != nil ? .open : .refuse(.unknownPath)
    }

    private func exchange(_ given: String) -> Verdict {
        guard Self.isEqual(given, token) else { return .refuse(.staleToken) }
        return .exchange(setCookie: "\(cookieName)=\(cookie); Path=/; HttpOnly; SameSite=Strict")
    }

    private static func token(in query: Substring) -> String? {
        query.split(separator: "&").first { $0.hasPrefix("token=") }.map { String($0.dropFirst("token=".count)) }
    }

    private func sentCookie(_ field: String?) -> String? {
        for each in (field ?? "").split(separator: ";") {
            let pair = each.trimmingCharacters(in: .whitespaces)
            if pair.hasPrefix("\(cookieName)=") { return String(pair.dropFirst(cookieName.count + 1)) }
        }
        return nil
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
        case .staleToken, .noCookie: 401
        case .otherMethod: 405
        case .unknownPath: 404
        }
    }

    /// The reason with a remedy.
    var text: String {
        switch self {
        case .otherHost: "This page answers only under the address that was printed when it started."
        case .otherOrigin: "A page of another site cannot use this one."
        case .staleToken: "This address is from an earlier start. Open the one that was printed last."
        case .noCookie: "Open the address that was printed when the page started; it contains the key."
        case .otherMethod: "This page is only read."
        case .unknownPath: "There is nothing at this address."
        }
    }
}
