import Testing

@testable import harald

@Suite struct ControllerNumbersTests {
    @Test func whoComesBackAloneFindsItsNumber() {
        var numbers = ControllerNumbers()
        for use in 1...5 {
            let taken = numbers.take()
            #expect(taken == (1, use))
            numbers.giveBack(taken.number)
        }
    }

    @Test func theLowestFreeNumberIsGivenOutAndNoneTwice() {
        var numbers = ControllerNumbers()
        #expect((1...4).map { _ in numbers.take().number } == [1, 2, 3, 4])
        numbers.giveBack(3)
        numbers.giveBack(2)
        #expect(numbers.take() == (2, 2))
        #expect(numbers.take() == (3, 2))
        #expect(numbers.take() == (5, 1))
        // Returning a number that is free or was never allocated changes nothing.
        numbers.giveBack(9)
        numbers.giveBack(5)
        numbers.giveBack(5)
        #expect(numbers.take() == (5, 2))
        #expect(numbers.take() == (6, 1))
    }
}
