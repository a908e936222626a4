import EventLoops
import HCI
import Testing

@testable import HCIHost

/// Pending answers about connections, tested without any connection.
@Suite struct LinkWatchTests {
    private func instant(_ seconds: Double) -> Instant { .zero + .milliseconds(Int64(seconds * 1_000)) }

    @Test("AB-H06: the end of a link is waited for as long as its supervision timeout and a little more")
    func theEndOfALinkIsWaitedFor() {
        var watch = LinkWatch()
        #expect(watch.handle(.ending(3, timeout: .seconds(6), at: instant(1))).isEmpty)
        #expect(watch.deadline == instant(12))
        #expect(watch.handle(.checked(at: instant(11.9))).isEmpty)
        #expect(watch.handle(.checked(at: instant(12))) == [.fail(.linkNotEnded(.init(rawValue: 3)))])
        #expect(watch.deadline == nil)
    }

    @Test func repeatedRequestsKeepTheDeadline() {
        var watch = LinkWatch()
        _ = watch.handle(.ending(3, timeout: .seconds(6), at: instant(0)))
        _ = watch.handle(.ending(3, timeout: .seconds(6), at: instant(5)))
        #expect(watch.deadline == instant(11))
        _ = watch.handle(.gone(3))
        #expect(watch.deadline == nil)
        #expect(watch.handle(.checked(at: instant(99))).isEmpty)
    }

    @Test("AB-H06: a link whose encryption is never reported is ended")
    func aLinkWhoseEncryptionIsNeverReportedIsEnded() {
        var watch = LinkWatch()
        _ = watch.handle(.encrypting(1, at: instant(0)))
        _ = watch.handle(.encrypting(2, at: instant(0)))
        _ = watch.handle(.encrypted(2))
        #expect(watch.handle(.checked(at: instant(44.9))).isEmpty)
        #expect(watch.handle(.checked(at: instant(45))) == [.end(1, .encryption)])
    }

    @Test("AB-H06: an attempt to connect that was cancelled has to end; one that was not may last")
    func anAttemptThatWasCancelledHasToEnd() {
        var watch = LinkWatch()
        _ = watch.handle(.cancelled(at: instant(0)))
        #expect(watch.deadline == nil, "there was nothing to cancel")
        _ = watch.handle(.connecting)
        #expect(watch.deadline == nil)
        _ = watch.handle(.cancelled(at: instant(1)))
        #expect(watch.handle(.checked(at: instant(20.9))).isEmpty)
        #expect(watch.handle(.checked(at: instant(21))) == [.fail(.attemptNotEnded)])
        _ = watch.handle(.connecting)
        _ = watch.handle(.cancelled(at: instant(30)))
        _ = watch.handle(.connected)
        #expect(watch.deadline == nil)
        _ = watch.handle(.cancelled(at: instant(31)))
        #expect(watch.deadline == nil)
    }

    @Test("AB-L09: data of one link that stay in the controller end the link, of several in a row they are its fault")
    func dataThatStayEndTheLinkAndThenTheController() {
        var watch = LinkWatch()
        #expect(watch.handle(.stalled(1)) == [.end(1, .data)])
        _ = watch.handle(.progressed)
        #expect(watch.handle(.stalled(1)) == [.end(1, .data)])
        #expect(watch.handle(.stalled(2)) == [.fail(.dataNotTaken)])
        var other = LinkWatch()
        #expect(other.handle(.leftData).isEmpty)
        #expect(other.handle(.leftData) == [.fail(.dataNotTaken)])
    }

    @Test("AB-H06: overdue answers are handled in the order of the links, so that a run can be repeated")
    func overdueAnswersAreHandledInOrder() {
        let handles = Array(1...16 as ClosedRange<UInt16>)
        var watch = LinkWatch()
        for handle in handles.reversed() { _ = watch.handle(.encrypting(handle, at: instant(0))) }
        let ends: [LinkWatch.Action] = handles.map { .end($0, .encryption) }
        #expect(watch.handle(.checked(at: instant(45))) == ends)
        for handle in handles.reversed() {
            _ = watch.handle(.encrypting(handle, at: instant(50)))
            _ = watch.handle(.ending(handle, timeout: .seconds(6), at: instant(50)))
        }
        #expect(watch.handle(.checked(at: instant(95))) == [.fail(.linkNotEnded(.init(rawValue: 1)))])
    }
}
