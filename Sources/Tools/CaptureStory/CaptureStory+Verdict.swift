import BluetoothTypes

extension CaptureStory {
    /// Returns the verdict of the story, once it is finished.
    ///
    /// - Parameter connection: The number of the connection that it is about; nil for the whole capture.
    package func verdict(of connection: Int? = nil) -> Verdict {
        let failed = failures.list.filter { connection == nil || $0.connection == connection }
        let worst = failed.map(\.weight).max()
        guard let main = failed.first(where: { $0.weight == worst }) else { return success(connection) }
        var verdict = Verdict(
            outcome: main.weight == .fruitless ? .fruitless : .failed,
            begin: totals.begin ?? 0,
            attempted: attempted(main),
            cause: main.cause,
            effect: main.effect,
            connection: main.connection
        )
        let others = failed.filter { $0 != main && $0.weight != .fruitless }
        verdict.others = others.count + (connection == nil ? failures.omitted : 0)
        verdict.nextPacket = others.map(\.cause.packet).min()
        return verdict
    }

    private func attempted(_ failure: StoryFailure) -> String {
        var text = failure.attempted
        if failure.connection != nil || failure.redemption == .connection {
            text += " \(failure.peer.map(book.label) ?? "a device")"
        }
        if failure.count > 1 { text += ", \(failure.count) times" }
        return text
    }

    private func success(_ connection: Int?) -> Verdict {
        var parts: [String] = []
        if let connection {
            parts = links.first { $0.number == connection }.map { [$0.lines[0]] } ?? ["connection \(connection)"]
        } else if let first = deeds.first {
            parts = whole(first)
        } else {
            parts = [withoutLinks]
        }
        return Verdict(
            outcome: .succeeded,
            begin: totals.begin ?? 0,
            attempted: parts.joined(separator: ", "),
            cause: connection == nil ? deeds.recovered?.first.cause : nil
        )
    }

    private func whole(_ first: (connection: Int, beginning: String, end: String)) -> [String] {
        let number = totals.connections
        var parts = [number == 1 ? first.beginning : "\(number) connections; first, \(first.beginning)"]
        if deeds.pairings > 0 { parts.append("paired") }
        if deeds.requests > 0 { parts.append(StoryWords.count(deeds.requests, "request")) }
        if deeds.values > 0 { parts.append(StoryWords.count(deeds.values, "value")) }
        if totals.connections == 1 { parts.append(first.end) }
        return parts
    }

    private var withoutLinks: String {
        let heard = devices.count + forgottenDevices
        if heard > 0 { return "\(StoryWords.count(heard, "device")) heard, and no connection" }
        return "\(StoryWords.count(totals.records, "packet")) without a connection"
    }
}
