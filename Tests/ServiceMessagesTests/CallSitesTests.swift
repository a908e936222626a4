import Foundation
import Testing

@testable import ServiceMessages

/// The places of calls, in synchronous and asynchronous code.
@Suite struct CallSitesTests {
    private let listening = CallSites.Listening()

    private func places(of sites: [CallSite?]) -> [CallPlace?] {
        let places = CallSites.places(of: sites.compactMap { $0 })
        return sites.map { $0.flatMap { places[$0] } }
    }

    @Test("a call has the file and the line that make it, and places have numbers of their own")
    func lines() throws {
        let first = (site: CallSites.present(), line: #line)
        let second = (site: CallSites.present(), line: #line)
        #expect(first.site != second.site)
        let places = places(of: [first.site, second.site])
        #expect(places.map { $0?.line } == [first.line, second.line])
        #expect(places.allSatisfy { $0?.file == #filePath })
        #expect("\(try #require(places[0]))" == "CallSitesTests.swift:\(first.line)")
        #expect(places[0]?.function?.contains("CallSitesTests.lines()") == true)
    }

    @Test("the same place has the same number each time")
    func loop() {
        let sites = (0..<10).map { _ in CallSites.present() }
        #expect(Set(sites).count == 1 && sites[0] != nil)
    }

    @Test("an async function that was suspended is the place of its calls")
    func asynchronous() async {
        await Task.yield()
        let (site, line) = (CallSites.present(), #line)
        await Task.yield()
        #expect(places(of: [site])[0]?.description == "CallSitesTests.swift:\(line)")
    }

    @Test("a thread of its own, at the end of its stack")
    func thread() async {
        let site = await withCheckedContinuation { done in
            Thread.detachNewThread { done.resume(returning: CallSites.present()) }
        }
        #expect(places(of: [site])[0]?.file == #filePath)
    }

    @Test("without line tables a place is the app's function with an offset, without names it is unknown")
    func withoutLines() {
        let own = SymbolFrame(mangled: "$s13CoreBluetooth16CBCentralManagerC8stopScanyyF", offset: 3)
        let app = SymbolFrame(mangled: "$s5heart5ModelC5startyyF", offset: 52)
        let main = SymbolFrame(mangled: "main", offset: 8)
        #expect(AppFrame.place(in: [own, app, main])?.description == "heart.Model.start() -> () + 52")
        #expect(AppFrame.place(in: [SymbolFrame(), main]) == nil)
    }

    @Test("a place skips this package's frames, those of the toolchain and those of the compiler, but not demos")
    func frames() {
        let frames = [
            SymbolFrame(file: AppFrame.sources + "App/CoreBluetooth/ManagerLink.swift", line: 1),
            SymbolFrame(file: "/home/build-user/swift/stdlib/public/core/Array.swift", line: 2),
            SymbolFrame(file: "<compiler-generated>", line: 3),
            SymbolFrame(file: "/app/Heart.swift"),
            SymbolFrame(file: AppFrame.sources + "Stage/Demos/Heart.swift", line: 5),
        ]
        #expect(AppFrame.place(in: frames)?.description == "Heart.swift:5")
        #expect(AppFrame.sources.hasSuffix("/Sources/"))
    }

    @Test("a place as text has a bounded length")
    func length() {
        let place = CallPlace(file: "/" + String(repeating: "x", count: 1_000), line: 1)
        #expect(place.description.unicodeScalars.count == CallPlace.maximumLength)
        let addresses = CallPlace(module: "/app/heart", addresses: Array(repeating: 0xABCDEF, count: 100)).description
        #expect(addresses.hasPrefix("heart + 0xabcdef, 0xabcdef"))
        #expect(addresses.hasSuffix(", 0xabcdef"))
        #expect((150...CallPlace.maximumLength).contains(addresses.count))
        let long = CallPlace(module: String(repeating: "x", count: 1_000), addresses: [1]).description
        #expect(long.unicodeScalars.count == CallPlace.maximumLength)
    }

    /// Symbolizers that give no answer. `tail` would wait forever, and `yes` writes forever.
    private static let mute: [(String, Symbolizer)] = [
        ("missing", Symbolizer(nil)),
        ("no program", Symbolizer("/nonexistent/llvm-symbolizer")),
        ("hanging", Symbolizer("/usr/bin/tail", arguments: ["-f", "/dev/null"], timeout: .zero)),
        ("endless", Symbolizer("/usr/bin/yes", arguments: [])),
        ("silent", Symbolizer("/bin/true", arguments: [])),
    ]

    @Test("a symbolizer that is missing, hangs, or writes without end leaves the addresses", arguments: mute)
    func withoutSymbolizer(_ case: String, _ symbolizer: Symbolizer) throws {
        let site = try #require(CallSites.present())
        var names = SiteNames(symbolizer)
        let place = try #require(names.places(of: [site])[site])
        #expect(place.file == nil && place.function == nil)
        #expect(try #require(place.module).hasPrefix("/"))
        #expect(!place.addresses.isEmpty)
        // They are those of the program's file, which the symbolizer names.
        var named = SiteNames()
        let line = try #require(named.places(of: [site])[site])
        #expect(line.line != nil)
        #expect(place.description.wholeMatch(of: /\S+ \+ 0x[0-9a-f]+(, 0x[0-9a-f]+)*/) != nil)
    }

    @Test("a place of another process is not looked up in this one")
    func otherProcess() throws {
        let site = try #require(CallSites.present())
        #expect(CallSites.places(of: [CallSite(number: site.number, process: 1)]).isEmpty)
    }
}
