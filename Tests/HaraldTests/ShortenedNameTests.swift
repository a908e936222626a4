import CoreBluetooth
import Foundation
import Testing

@testable import harald

@Suite struct ShortenedNameTests {
    @Test("the notice about a name that does not fit has the text and the octets that go on the air")
    func theNoticeIsWhatIsAdvertised() throws {
        let name = "A name that is longer than an advertisement"
        let notice = try #require(ShortenedName.notice(name, with: [CBUUID(string: "180D")]))
        #expect(
            notice == """
                the name is shortened to "A name that is longer ": 22 of its 43 octets fit into the advertisement
                """
        )
        let world = VerbWorld()
        world.addSensor(name)
        let scan = try world.run { client async throws(ToolError) in try await client.scan(ScanPlan(seconds: 3)) }
        #expect(scan.lines.last?.contains("\"A name that is longer \"") == true, "\(scan.lines)")
    }

    @Test func aNameThatFitsNeedsNoNotice() {
        #expect(ShortenedName.notice("Harald HR", with: [CBUUID(string: "180D")]) == nil)
        #expect(ShortenedName.notice(String(repeating: "n", count: 22), with: [CBUUID(string: "180D")]) == nil)
    }

    @Test func aNameOfWhichNothingFitsIsNotAdvertised() {
        let services = [CBUUID(string: "4861726C-6420-4543-484F-000000000001")]
        #expect(
            ShortenedName.notice("👩‍👩‍👧‍👦", with: services)
                == "the name is not advertised: none of its 25 octets fit into the advertisement"
        )
    }
}
