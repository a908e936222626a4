import Testing

@testable import harald

@Suite struct ControllerNumbersTests {
    @Test func returnedNumbersAreReused() {
        var numbers = ControllerNumbers()
        for _ in 1...5 {
            let number = numbers.take()
            #expect(number == 1)
            numbers.release(number)
        }
    }

    @Test func theLowestFreeNumberIsGivenOutAndNoneTwice() {
        var numbers = ControllerNumbers()
        #expect((1...4).map { _ in numbers.take() } == [1, 2, 3, 4])
        numbers.release(3)
        numbers.release(2)
        #expect(numbers.take() == 2)
        #expect(numbers.take() == 3)
        #expect(numbers.take() == 5)
        // Returning a number that is free or was never allocated changes nothing.
        numbers.release(9)
        numbers.release(5)
        numbers.release(5)
        #expect(numbers.take() == 5)
        #expect(numbers.take() == 6)
    }
}
