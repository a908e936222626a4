import Combine
import Foundation
import HeartRateKit

let monitor = HeartRateMonitor()

let states = monitor.$state.removeDuplicates().map { "state: \($0)" }
let rates = monitor.rates.map { "rate: \($0)" }.prefix(3)
let failures = monitor.failures.map { "failure: \($0.localizedDescription)" }

let printing = Publishers.MergeMany([
    states.eraseToAnyPublisher(), rates.eraseToAnyPublisher(), failures.eraseToAnyPublisher(),
])
.receive(on: DispatchQueue.main)
.sink { print($0) }

let ending = monitor.rates.collect(3).receive(on: RunLoop.main).sink { rates in
    print("done: \(rates.count) rates")
    exit(0)
}

monitor.start()
RunLoop.main.run()
