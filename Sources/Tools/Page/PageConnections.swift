import EventLoops
import HCITransports
import NIOCore

/// The open TCP connections. On the loop only.
///
/// A connection is a stranger until its WebSocket has shown the token. Strangers have little time and little room, and
/// cannot keep the owner of the page out: a new connection replaces the oldest stranger (AB-P03).
final class PageConnections {
    /// The maximum number of strangers at once. Browsers use up to six connections for one page.
    static let maximumStrangers = 512
    /// The time that a stranger has, from its connection to its last octet. It is absolute, so that a request sent
    /// octet by octet gains nothing.
    static let requestTimeout = TimeAmount.seconds(5)
    /// The same for a stranger with the ticket of a download.
    static let downloadTimeout = TimeAmount.seconds(60)

    private struct Stranger {
        let channel: any Channel
        var end: Scheduled<Void>
    }

    private var strangers: [Stranger] = []
    private var owners: [ObjectIdentifier: any Channel] = [:]
    private let loop: NIOEventLoop

    init(loop: NIOEventLoop) { self.loop = loop }

    /// Adds a connection until it closes.
    func add(_ channel: any Channel) {
        if strangers.count == Self.maximumStrangers { remove(strangers[0].channel)?.close(promise: nil) }
        strangers.append(Stranger(channel: channel, end: Self.end(of: channel, after: Self.requestTimeout)))
        let connections = LoopBound(self, loop: loop)
        channel.closeFuture.whenComplete { _ in
            _ = connections.value.remove(channel)
            connections.value.owners[ObjectIdentifier(channel)] = nil
        }
    }

    /// Lets a connection stay that has shown the token.
    func admit(_ channel: any Channel) {
        guard remove(channel) != nil else { return }
        owners[ObjectIdentifier(channel)] = channel
    }

    /// Gives a connection the time for a download.
    func extend(_ channel: any Channel) {
        guard let index = strangers.firstIndex(where: { $0.channel === channel }) else { return }
        strangers[index].end.cancel()
        strangers[index].end = Self.end(of: channel, after: Self.downloadTimeout)
    }

    func closeAll() {
        for channel in strangers.map(\.channel) + owners.values { channel.close(promise: nil) }
    }

    /// Removes a stranger, if it is one.
    private func remove(_ channel: any Channel) -> (any Channel)? {
        guard let index = strangers.firstIndex(where: { $0.channel === channel }) else { return nil }
        let stranger = strangers.remove(at: index)
        stranger.end.cancel()
        return stranger.channel
    }

    private static func end(of channel: any Channel, after time: TimeAmount) -> Scheduled<Void> {
        channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
