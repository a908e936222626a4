import Foundation
public import OpenCombine

extension Publishers {
    /// The condition that ends a group of values.
    public enum TimeGroupingStrategy<Context: Scheduler> {
        /// The interval has passed.
        case byTime(Context, Context.SchedulerTimeType.Stride)
        /// The interval has passed, or the group has the given number of values.
        case byTimeOrCount(Context, Context.SchedulerTimeType.Stride, Int)
    }

    /// A publisher of another publisher's values in groups.
    public struct CollectByTime<Upstream: Publisher, Context: Scheduler>: Publisher {
        public typealias Output = [Upstream.Output]
        public typealias Failure = Upstream.Failure

        public let upstream: Upstream
        public let strategy: TimeGroupingStrategy<Context>
        public let options: Context.SchedulerOptions?

        public init(
            upstream: Upstream,
            strategy: TimeGroupingStrategy<Context>,
            options: Context.SchedulerOptions?
        ) {
            self.upstream = upstream
            self.strategy = strategy
            self.options = options
        }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            let group = TimedGroup<Upstream.Output>(limit: strategy.limit)
            let groups = PassthroughSubject<Output, Failure>()
            var work: [any Cancellable] = []
            // The subscriber first, since the upstream may publish at once.
            groups
                .handleEvents(receiveCancel: { group.cancel() })
                .subscribe(subscriber)
            work.append(
                strategy.scheduler.schedule(
                    after: strategy.scheduler.now.advanced(by: strategy.interval),
                    interval: strategy.interval,
                    tolerance: strategy.scheduler.minimumTolerance,
                    options: options
                ) {
                    group.take().map(groups.send)
                }
            )
            work.append(
                upstream.sink { completion in
                    group.take().map(groups.send)
                    groups.send(completion: completion)
                    group.cancel()
                } receiveValue: { value in
                    group.add(value).map(groups.send)
                }
            )
            group.holds(work)
        }
    }
}

extension Publishers.TimeGroupingStrategy {
    fileprivate var scheduler: Context {
        switch self {
        case .byTime(let scheduler, _), .byTimeOrCount(let scheduler, _, _): scheduler
        }
    }

    fileprivate var interval: Context.SchedulerTimeType.Stride {
        switch self {
        case .byTime(_, let interval), .byTimeOrCount(_, let interval, _): interval
        }
    }

    fileprivate var limit: Int {
        switch self {
        case .byTime: .max
        case .byTimeOrCount(_, _, let count): count
        }
    }
}

/// The values since the last tick. Values and ticks arrive on different threads.
private final class TimedGroup<Value> {
    private let lock = NSLock()
    private let limit: Int
    private var values: [Value] = []
    /// The subscriptions to ticks and values. Nil once the publisher has ended.
    private var work: [any Cancellable]? = []

    init(limit: Int) { self.limit = limit }

    func holds(_ work: [any Cancellable]) {
        let isOver = lock.withLock {
            guard self.work != nil else { return true }
            self.work = work
            return false
        }
        if isOver { work.forEach { $0.cancel() } }
    }

    /// Cancels the ticks and the values.
    func cancel() {
        let ended = lock.withLock {
            defer { work = nil }
            return work
        }
        ended?.forEach { $0.cancel() }
    }

    /// Adds a value. Returns the group if that completes it.
    func add(_ value: Value) -> [Value]? {
        lock.withLock {
            values.append(value)
            guard values.count >= limit else { return nil }
            defer { values = [] }
            return values
        }
    }

    /// Removes and returns the group, or nil if it is empty.
    func take() -> [Value]? {
        lock.withLock {
            guard !values.isEmpty else { return nil }
            defer { values = [] }
            return values
        }
    }
}

extension Publisher {
    /// Collects values into groups.
    public func collect<S: Scheduler>(
        _ strategy: Publishers.TimeGroupingStrategy<S>,
        options: S.SchedulerOptions? = nil
    ) -> Publishers.CollectByTime<Self, S> {
        Publishers.CollectByTime(upstream: self, strategy: strategy, options: options)
    }
}
