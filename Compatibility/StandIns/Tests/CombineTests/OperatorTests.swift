import Combine
import XCTest

/// The additions of the stand-in to OpenCombine, compared with Apple's Combine.
final class OperatorTests: XCTestCase {
    private let left = PassthroughSubject<Int, OperatorError>()
    private let right = PassthroughSubject<Int, OperatorError>()

    private struct OperatorError: Error, Equatable {}

    private func record<P: Publisher>(_ publisher: P) -> Record<P.Output> where P.Failure == OperatorError {
        Record(publisher)
    }

    private final class Record<Value> {
        var values: [Value] = []
        var ending: Subscribers.Completion<OperatorError>?
        var subscription: AnyCancellable?

        init<P: Publisher>(_ publisher: P) where P.Output == Value, P.Failure == OperatorError {
            subscription = publisher.sink { [weak self] in
                self?.ending = $0
            } receiveValue: { [weak self] in
                self?.values.append($0)
            }
        }
    }

    func testAMergeHasBothInOrderAndEndsWithTheLast() {
        let record = record(left.map { $0 * 10 }.merge(with: right))
        left.send(1)
        right.send(2)
        left.send(completion: .finished)
        right.send(3)
        XCTAssertNil(record.ending)
        right.send(completion: .finished)
        XCTAssertEqual(record.values, [10, 2, 3])
        XCTAssertEqual(record.ending, .finished)
    }

    func testAMergeFailsWithTheFirst() {
        let record = record(Publishers.MergeMany(left, right))
        right.send(completion: .failure(OperatorError()))
        left.send(1)
        XCTAssertEqual(record.values, [])
        XCTAssertEqual(record.ending, .failure(OperatorError()))
    }

    func testAMergeOfThreeAndFourHasAll() {
        let one = Just(1), two = Just(2), three = Just(3)
        var values: [Int] = []
        _ = one.merge(with: two, three).sink { values.append($0) }
        _ = one.merge(with: two, three, Just(4)).sink { values.append($0) }
        XCTAssertEqual(values, [1, 2, 3, 1, 2, 3, 4])
    }

    func testTheLatestOfTwoComesFromWhenBothHavePublished() {
        let record = record(left.combineLatest(right) { "\($0) \($1)" })
        left.send(1)
        left.send(2)
        right.send(3)
        left.send(4)
        XCTAssertEqual(record.values, ["2 3", "4 3"])
        left.send(completion: .finished)
        right.send(5)
        right.send(completion: .finished)
        XCTAssertEqual(record.values, ["2 3", "4 3", "4 5"])
        XCTAssertEqual(record.ending, .finished)
    }

    func testGroupsEndByTimeByCountAndWithTheValues() {
        let scheduler = DispatchQueue(label: "groups")
        let ended = expectation(description: "the end")
        var groups: [[Int]] = []
        let subscription = left.collect(.byTimeOrCount(scheduler, .milliseconds(50), 3))
            .receive(on: DispatchQueue.main)
            .sink { _ in
                ended.fulfill()
            } receiveValue: {
                groups.append($0)
            }
        for value in 1...4 { left.send(value) }
        // The fourth value waits for the tick, and the fifth for the end.
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(200)) { [left] in
            left.send(5)
            left.send(completion: .finished)
        }
        wait(for: [ended], timeout: 10)
        XCTAssertEqual(groups, [[1, 2, 3], [4], [5]])
        subscription.cancel()
    }
}
