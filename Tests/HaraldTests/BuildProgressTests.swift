import Testing

@testable import harald

@Suite struct BuildProgressTests {
    @Test("a build says every ten seconds how many steps and minutes are left")
    func aBuildSaysHowFarItIs() {
        var progress = BuildProgress()
        #expect(progress.text(after: "[1/400] Compiling A a.swift", at: 1) == nil)
        #expect(progress.text(after: "[40/400] Compiling A b.swift", at: 10) == "40 of 400 steps, about 2 minutes left")
        #expect(progress.text(after: "[41/400] Compiling A c.swift", at: 19) == nil)
        #expect(
            progress.text(after: "[50/1000] Compiling B a.swift", at: 20) == "50 of 1000 steps, about 7 minutes left"
        )
        #expect(progress.text(after: "[999/1000] Linking", at: 400) == "999 of 1000 steps, about a minute left")
    }

    @Test(
        "other lines say nothing",
        arguments: [
            "", "[", "[]", "[1/2", "[/]", "[0/5] Planning", "[6/5] A", "[1/2/3] A", "[-1/5] A", "error: [1/2]",
            "[a/b] A",
        ]
    )
    func otherLinesSayNothing(line: String) {
        var progress = BuildProgress()
        #expect(progress.text(after: line, at: 1_000) == nil)
    }
}
