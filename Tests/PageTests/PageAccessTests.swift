import Testing

@testable import Page

/// The rules for requests to the page.
@Suite struct PageAccessTests {
    private let access: PageAccess

    init() {
        var random = SystemRandomNumberGenerator()
        access = PageAccess(port: 8_080, names: ["lab.example"], using: &random)
    }

    private func request(_ target: String, host: String? = "127.0.0.1:8080") -> PageAccess.Request {
        PageAccess.Request(target: target, host: host)
    }

    /// The cookie that a browser has after it has opened the printed address.
    private func cookie() throws -> String {
        let verdict = access.verdict(on: request("/?token=\(access.token)"))
        guard case .exchange(let setCookie) = verdict else { throw Missing(verdict: verdict) }
        return String(try #require(setCookie.split(separator: ";").first))
    }

    private struct Missing: Error { let verdict: PageAccess.Verdict }

    @Test("the token is exchanged for a cookie that scripts cannot read and that other sites cannot use")
    func exchange() throws {
        guard case .exchange(let cookie) = access.verdict(on: request("/?token=\(access.token)")) else {
            return #expect(Bool(false), "no cookie")
        }
        #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
        #expect(!cookie.contains(access.token))
        #expect(access.token.count == 32)
    }

    @Test("with the cookie, files are served")
    func files() throws {
        var asked = request("/page.js")
        asked.cookie = "other=1; \(try cookie())"
        #expect(access.verdict(on: asked) == .serve(path: "/page.js"))
        asked.host = "LAB.example:8080"
        #expect(access.verdict(on: asked) == .serve(path: "/page.js"))
    }

    @Test("without the cookie, or with that of another start, nothing is served")
    func noCookie() throws {
        #expect(access.verdict(on: request("/")) == .refuse(.noCookie))
        var random = SystemRandomNumberGenerator()
        let later = PageAccess(port: 8_080, names: [], using: &random)
        var asked = request("/")
        asked.cookie = try cookie()
        #expect(later.verdict(on: asked) == .refuse(.noCookie))
        asked.cookie = "harald-page-8080="
        #expect(access.verdict(on: asked) == .refuse(.noCookie))
    }

    @Test("a token of another start is refused, also when the cookie is right", arguments: ["", "0", "token"])
    func staleToken(_ token: String) throws {
        var asked = request("/?token=\(token)")
        #expect(access.verdict(on: asked) == .refuse(.staleToken))
        asked.cookie = try cookie()
        #expect(access.verdict(on: asked) == .refuse(.staleToken))
    }

    @Test(
        "a request for another host is refused, whatever it knows",
        arguments: ["evil.example:8080", "evil.example", "127.0.0.1", "127.0.0.1:80", "", nil] as [String?]
    )
    func rebinding(_ host: String?) throws {
        var asked = request("/?token=\(access.token)", host: host)
        asked.cookie = try cookie()
        #expect(access.verdict(on: asked) == .refuse(.otherHost))
    }

    @Test(
        "a request of another origin is refused, whatever it knows",
        arguments: [
            "http://evil.example", "https://127.0.0.1:8080", "http://127.0.0.1:8081", "http://localhost:8080", "null",
            "",
        ]
    )
    func otherOrigin(_ origin: String) throws {
        var asked = request("/")
        asked.cookie = try cookie()
        asked.origin = origin
        #expect(access.verdict(on: asked) == .refuse(.otherOrigin))
    }

    @Test("a WebSocket needs the cookie, and the origin that browsers send")
    func socket() throws {
        var asked = request(PageAccess.socketPath)
        asked.isUpgrade = true
        asked.origin = "http://127.0.0.1:8080"
        #expect(access.verdict(on: asked) == .refuse(.noCookie))
        asked.cookie = try cookie()
        #expect(access.verdict(on: asked) == .open)
        asked.isUpgrade = false
        #expect(access.verdict(on: asked) == .refuse(.unknownPath))
        asked.isUpgrade = true
        asked.origin = nil
        #expect(access.verdict(on: asked) == .refuse(.unknownPath))
    }

    @Test("packets are saved with the cookie only, and with the query of the address")
    func download() throws {
        var asked = request("/packets.btsnoop?layer=att")
        #expect(access.verdict(on: asked) == .refuse(.noCookie))
        asked.cookie = try cookie()
        #expect(access.verdict(on: asked) == .download(.btsnoop, query: "layer=att"))
        asked.target = "/packets.pcapng"
        #expect(access.verdict(on: asked) == .download(.pcapng, query: ""))
        asked.target = "/packets.exe"
        #expect(access.verdict(on: asked) == .serve(path: "/packets.exe"))
        asked.origin = "http://evil.example"
        #expect(access.verdict(on: asked) == .refuse(.otherOrigin))
    }

    @Test("other methods than GET and HEAD are refused")
    func methods() throws {
        var asked = request("/")
        asked.cookie = try cookie()
        asked.method = "POST"
        #expect(access.verdict(on: asked) == .refuse(.otherMethod))
        asked.method = "HEAD"
        #expect(access.verdict(on: asked) == .serve(path: "/"))
    }
}
