import Testing

@testable import harald

@Suite struct ControllerNumbersTests {
    @Test func whoComesBackAloneFindsItsNumber() {
        var numbers = ControllerNumbers()
        for _ in 1...5 {
            let number = numbers.take()
            #expect(number == 1)
            numbers.giveBack(number)
        }
    }

    @Test func theLowestFreeNumberIsGivenOutAndNoneTwice() {
        var numbers = ControllerNumbers()
        #expect((1...4).map { _ in numbers.take() } == [1, 2, 3, 4])
        numbers.giveBack(3)
        numbers.giveBack(2)
        #expect(numbers.take() == 2)
        #expect(numbers.take() == 3)
        #expect(numbers.take() == 5)
        // Returning a number that is free or was never allocated changes nothing.
        numbers.giveBack(9)
        numbers.giveBack(5)
        numbers.giveBack(5)
        #expect(numbers.take() == 5)
        #expect(numbers.take() == 6)
    }
}
