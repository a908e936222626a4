import EventLoops
import HCITransports
import Synchronization
import Testing

@testable import ServiceProcess

/// Callers of a catalog of apps, one after the other.
@Suite(.timeLimit(.minutes(1))) struct AppCatalogCallerTests {
    @Test("each caller is answered once, in order, after a read of its own")
    func callersAreAnsweredOnce() async {
        let loop = NIOEventLoop()
        let reads = Atomic(0)
        let answers: [Int] = await withCheckedContinuation { continuation in
            loop.submit {
                let catalog = AppCatalog(loop: loop) {
                    ["\(reads.add(1, ordering: .relaxed).newValue)": ["/a"]]
                }
                var answers: [Int] = []
                catalog.refresh {
                    answers.append(1)
                    // Behind all who are answered now.
                    loop.execute {
                        catalog.refresh { answers.append(3) }
                        catalog.refresh {
                            answers.append(4)
                            loop.execute { continuation.resume(returning: answers) }
                        }
                    }
                }
                catalog.refresh { answers.append(2) }
            }
        }
        #expect(answers == [1, 2, 3, 4])
        loop.shutDown()
    }

    @Test("where no directory is named nobody waits, and there are no apps")
    func noDirectory() {
        let loop = VirtualEventLoop()
        let catalog = AppCatalog(loop: loop, nil)
        var isAnswered = false
        catalog.refresh { isAnswered = true }
        #expect(isAnswered)
        #expect(catalog.commands.isEmpty)
    }

    @Test("what a directory says last replaces what it said before")
    func lastEntryReplacesEarlierOnes() async {
        let loop = NIOEventLoop()
        let reads = Atomic(0)
        let heard: [[String]] = await withCheckedContinuation { continuation in
            loop.submit {
                let catalog = AppCatalog(loop: loop) {
                    ["\(reads.add(1, ordering: .relaxed).newValue)": ["/a"]]
                }
                var heard: [[String]] = []
                func ask(_ left: Int) {
                    guard left > 0 else { return continuation.resume(returning: heard) }
                    catalog.refresh {
                        heard.append(Array(catalog.commands.keys))
                        ask(left - 1)
                    }
                }
                ask(3)
            }
        }
        #expect(heard == [["2"], ["3"], ["4"]])
        loop.shutDown()
    }
}
