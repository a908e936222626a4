import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Answers the one request of a connection, and closes it.
///
/// Nothing is read after the request, so requests that follow it cost nothing (AB-P01). On loopback, a connection for
/// each file costs a browser less than it can notice.
final class PageResponder: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case waiting
        case received(HTTPRequestHead)
        case answered
    }

    private let access: PageAccess
    private let download: (_ ticket: String) -> PageFiles.Download?
    private var state = State.waiting

    /// - Parameter download: Returns the file that a ticket stands for, once.
    init(_ access: PageAccess, download: @escaping (_ ticket: String) -> PageFiles.Download?) {
        (self.access, self.download) = (access, download)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .waiting): state = .received(head)
        case (.end, .received(let head)):
            state = .answered
            // A handler that has read may be about to read again.
            context.channel.setOption(.autoRead, value: false).whenFailure { _ in }
            answer(head, context)
        // The page sends no body, and one request.
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A refused WebSocket is answered like any other request.
        if error is NIOWebSocketUpgradeError { return }
        context.close(promise: nil)
    }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        switch access.verdict(on: PageAccess.Request(head)) {
        case .serve(let path):
            guard let file = PageFiles.file(at: path) else { return refuse(.unknownPath, head, context) }
            respond(200, [], file.type, file.octets, to: head, context)
        case .download(let ticket):
            guard let file = download(ticket) else { return refuse(.staleTicket, head, context) }
            let name = [("Content-Disposition", "attachment; filename=\"\(file.name)\"")]
            respond(200, name, "application/octet-stream", file.octets, to: head, context)
        // The upgrader has refused the handshake.
        case .open: refuse(.unknownPath, head, context)
        case .refuse(let refusal): refuse(refusal, head, context)
        }
    }

    private func refuse(_ refusal: PageAccess.Refusal, _ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let text = refusal.text + "\n"
        respond(refusal.status, [], "text/plain; charset=utf-8", Array(text.utf8), to: head, context)
    }

    private func respond(
        _ status: Int,
        _ more: [(String, String)],
        _ type: String,
        _ octets: [UInt8],
        to request: HTTPRequestHead,
        _ context: ChannelHandlerContext
    ) {
        var headers = HTTPHeaders(PageFiles.headers + more)
        headers.add(name: "Content-Type", value: type)
        headers.add(name: "Content-Length", value: "\(octets.count)")
        headers.add(name: "Connection", value: "close")
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD {
            let body = context.channel.allocator.buffer(bytes: octets)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }
}

extension PageAccess.Request {
    init(_ head: HTTPRequestHead) {
        self.init(
            method: head.method.rawValue,
            target: head.uri,
            host: head.headers.single("Host"),
            origin: head.headers.single("Origin"),
            isUpgrade: head.headers[canonicalForm: "Upgrade"].contains { $0.lowercased() == "websocket" }
        )
    }
}

extension HTTPHeaders {
    /// The value of a field that occurs once.
    fileprivate func single(_ name: String) -> String? {
        let values = self[name]
        // Two hosts or origins are a trick; neither is trusted.
        return values.count > 1 ? "" : values.first
    }
}
