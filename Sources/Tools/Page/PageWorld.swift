/// A simulated world that the page shows and controls. From any thread.
package protocol PageWorld: AnyObject, Sendable {
    /// Handles a message of a page, a JSON object.
    ///
    /// - Parameter answer: Receives the reason for a refusal, empty if there is none, and a value for this page alone.
    func handle(_ message: [UInt8], answer: @escaping @Sendable (_ error: String, PageValue?) -> Void)
    /// Calls `show` with each value that a page which opens has to know.
    func welcome(_ show: @escaping @Sendable (PageValue) -> Void)
    /// Lets its time begin, now that the hub follows its events and packets. Called after each (re)start.
    func begin()
    /// Sends what it looks like to all pages again, for those that have missed it.
    func refresh()
}

/// A value for pages, under a name.
package struct PageValue: Sendable {
    /// The name, which is not escaped.
    let name: String
    /// The value as JSON.
    let json: String
    /// Whether a later value of this name takes the place of this one, so that a page which does not keep up may go
    /// without it.
    let isReplaced: Bool

    package init(name: String, json: String, isReplaced: Bool) {
        (self.name, self.json, self.isReplaced) = (name, json, isReplaced)
    }
}
