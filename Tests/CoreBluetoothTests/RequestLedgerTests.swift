import ServiceMessages
import Synchronization
import Testing

@testable import CoreBluetooth

@Suite struct RequestLedgerTests {
    @Test(
        "behaviour 15.11: requests that a connection ends are settled in order, and answered ones are not"
    )
    func endedRequestsAreSettledInOrder() throws {
        var ledger = RequestLedger()
        let settled = Mutex<[Int]>([])
        let numbers = (0..<20).map { index in
            ledger.add { _ in settled.withLock { $0.append(index) } }
        }
        #expect(Set(numbers.compactMap { $0 }).count == 20)
        #expect(!numbers.contains(0))
        for index in [3, 11] {
            let number = try #require(numbers[index])
            ledger.remove(number)?(.success(.writeCreditsReturned(1)))
            let again = ledger.remove(number)
            #expect(again == nil)
        }
        for settle in ledger.removeAll() { settle(.success(.writeCreditsReturned(1))) }
        let rest = ledger.removeAll()
        #expect(rest.isEmpty)
        #expect(settled.withLock { $0 } == [3, 11] + (0..<20).filter { $0 != 3 && $0 != 11 })
    }

    @Test("AB-G05: pending requests are bounded, and one that ends frees a place")
    func requestsAreBounded() throws {
        var ledger = RequestLedger()
        let numbers = (0..<RequestLedger.maximum).map { _ in ledger.add { _ in } }
        let refused = ledger.add { _ in }
        #expect(!numbers.contains(nil))
        #expect(refused == nil)
        _ = ledger.remove(try #require(numbers.first ?? nil))
        let taken = ledger.add { _ in }
        #expect(taken != nil)
    }
}
