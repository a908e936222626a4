import EventLoops
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

    @Test("files are served under each name of the server")
    func files() {
        #expect(access.verdict(on: request("/page.js")) == .serve(path: "/page.js"))
        #expect(access.verdict(on: request("/?a=b", host: "LAB.example:8080")) == .serve(path: "/"))
    }

    @Test(
        "a request for another host is refused",
        arguments: ["evil.example:8080", "evil.example", "127.0.0.1", "127.0.0.1:80", "", nil] as [String?]
    )
    func rebinding(_ host: String?) {
        #expect(access.verdict(on: request("/", host: host)) == .refuse(.otherHost))
    }

    @Test(
        "a request of another origin is refused",
        arguments: [
            "http://evil.example", "https://127.0.0.1:8080", "http://127.0.0.1:8081", "http://localhost:8080", "null",
            "",
        ]
    )
    func otherOrigin(_ origin: String) {
        for target in ["/", PageAccess.socketPath, PageAccess.downloadPath + "0"] {
            var asked = request(target)
            asked.isUpgrade = true
            asked.origin = origin
            #expect(access.verdict(on: asked) == .refuse(.otherOrigin))
        }
    }

    @Test("a WebSocket needs the origin that browsers send")
    func socket() {
        var asked = request(PageAccess.socketPath)
        asked.isUpgrade = true
        #expect(access.verdict(on: asked) == .refuse(.unknownPath))
        asked.origin = "http://127.0.0.1:8080"
        #expect(access.verdict(on: asked) == .open)
        asked.isUpgrade = false
        #expect(access.verdict(on: asked) == .refuse(.unknownPath))
    }

    @Test("AB-P04: only the token of this run opens a page")
    func token() {
        var random = SystemRandomNumberGenerator()
        let later = PageAccess(port: 8_080, names: [], using: &random)
        #expect(access.token.count == 32)
        #expect(access.admits(Array(#"{"token":"\#(access.token)"}"#.utf8)))
        #expect(!later.admits(Array(#"{"token":"\#(access.token)"}"#.utf8)))
        for text in ["", "{}", "null", #"{"token":""}"#, #"{"token":null}"#, #"["\#(access.token)"]"#, access.token] {
            #expect(!access.admits(Array(text.utf8)), "\(text)")
        }
    }

    @Test("a download has a ticket, whatever follows it")
    func download() {
        #expect(access.verdict(on: request("/packets/0a?b")) == .download(ticket: "0a"))
        #expect(access.verdict(on: request("/packets/")) == .download(ticket: ""))
        #expect(access.verdict(on: request("/packets.btsnoop")) == .serve(path: "/packets.btsnoop"))
    }

    @Test("other methods than GET and HEAD are refused")
    func methods() {
        var asked = request("/")
        asked.method = "POST"
        #expect(access.verdict(on: asked) == .refuse(.otherMethod))
        asked.method = "HEAD"
        #expect(access.verdict(on: asked) == .serve(path: "/"))
    }

    @Test("AB-P04: a ticket is good for one download within its time, and the oldest makes room")
    func tickets() {
        var tickets = PageTickets()
        let (order, start) = (PageTickets.Order(format: .btsnoop, selection: .init()), Instant(nanoseconds: 0))
        let first = tickets.issue(order, at: start)
        #expect(tickets.redeem("", at: start) == nil)
        #expect(tickets.redeem(first, at: start) == order)
        #expect(tickets.redeem(first, at: start) == nil)
        let late = tickets.issue(order, at: start)
        #expect(tickets.redeem(late, at: start + PageTickets.lifetime) == nil)
        let pushed = tickets.issue(order, at: start)
        let kept = (0..<PageTickets.maximum).map { _ in tickets.issue(order, at: start) }
        #expect(tickets.redeem(pushed, at: start) == nil)
        #expect(tickets.redeem(kept[0], at: start) == order)
    }
}
