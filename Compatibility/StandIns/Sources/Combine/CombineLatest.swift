public import OpenCombine

extension Publishers {
    /// A publisher of the latest values of two publishers, from when both have published.
    public struct CombineLatest<A: Publisher, B: Publisher>: Publisher where A.Failure == B.Failure {
        public typealias Output = (A.Output, B.Output)
        public typealias Failure = A.Failure

        public let a: A
        public let b: B

        public init(_ a: A, _ b: B) {
            self.a = a
            self.b = b
        }

        /// A value of either publisher.
        private enum News {
            case a(A.Output)
            case b(B.Output)
        }

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            let newest: (A.Output?, B.Output?) = (nil, nil)
            Merge(a.map { News.a($0) }, b.map { News.b($0) })
                .scan(newest) { newest, news in
                    switch news {
                    case .a(let value): (value, newest.1)
                    case .b(let value): (newest.0, value)
                    }
                }
                .compactMap { newest in newest.0.flatMap { a in newest.1.map { (a, $0) } } }
                .subscribe(subscriber)
        }
    }
}

extension Publisher {
    /// Publishes the latest values of this publisher and another one.
    public func combineLatest<P: Publisher>(_ other: P) -> Publishers.CombineLatest<Self, P>
    where P.Failure == Failure {
        Publishers.CombineLatest(self, other)
    }

    /// Publishes the latest values of this publisher and another one, transformed.
    public func combineLatest<P: Publisher, T>(
        _ other: P,
        _ transform: @escaping (Output, P.Output) -> T
    ) -> Publishers.Map<Publishers.CombineLatest<Self, P>, T> where P.Failure == Failure {
        combineLatest(other).map(transform)
    }

    /// Publishes the latest values of this publisher and two others.
    public func combineLatest<P: Publisher, Q: Publisher>(
        _ p: P,
        _ q: Q
    ) -> AnyPublisher<(Output, P.Output, Q.Output), Failure> where P.Failure == Failure, Q.Failure == Failure {
        combineLatest(p).combineLatest(q).map { ($0.0, $0.1, $1) }.eraseToAnyPublisher()
    }

    /// Publishes the latest values of this publisher and three others.
    public func combineLatest<P: Publisher, Q: Publisher, R: Publisher>(
        _ p: P,
        _ q: Q,
        _ r: R
    ) -> AnyPublisher<(Output, P.Output, Q.Output, R.Output), Failure>
    where P.Failure == Failure, Q.Failure == Failure, R.Failure == Failure {
        combineLatest(p, q).combineLatest(r).map { ($0.0, $0.1, $0.2, $1) }.eraseToAnyPublisher()
    }
}
