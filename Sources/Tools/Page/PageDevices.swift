import Foundation
import ServiceMessages

/// The process by which the page uses devices, from its first line of input to the end of the input.
package enum PageDevices {
    /// The time after which devices that were not left are left anyway.
    private static let disconnectTimeout = Duration.seconds(3)

    /// Does what the lines say, and answers each.
    ///
    /// - Parameters:
    ///   - lines: Messages of the page, one in each line.
    ///   - say: Prints a line. From any thread.
    package static func run(
        _ connection: any ServiceConnection,
        lines: AsyncStream<String>,
        say: @escaping @Sendable (String) -> Void
    ) async {
        let central = ServiceLocator.$current.withValue(connection) {
            PageCentral { name, json in say(JSON.of(PageLine(type: name, value: json, id: nil))) }
        }
        await withDiscardingTaskGroup { group in
            for await line in lines {
                guard let message = try? JSONDecoder().decode(PageMessage.self, from: Data(line.utf8)) else { continue }
                // Side by side, since a device that does not answer must not hold up another one.
                group.addTask {
                    let error = await error(of: message, central)
                    say(JSON.of(PageLine(type: "outcome", value: error, id: message.id)))
                }
            }
            group.cancelAll()
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await central.leave() }
            group.addTask { try? await Task.sleep(for: disconnectTimeout) }
            await group.next()
            group.cancelAll()
        }
    }

    private static func error(of message: PageMessage, _ central: PageCentral) async -> String {
        guard let deed = message.action else { return "a part of the message is missing; reload the page" }
        do {
            try await deed(central)
            return ""
        } catch {
            return PageFault.words(for: error)
        }
    }
}
