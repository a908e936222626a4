import CLinux
import Synchronization

/// The places in this process that have called `CoreBluetooth` while something listened.
///
/// A call is identified by the return addresses on its stack, which are read at the edge of `CoreBluetooth`. Without a
/// listener that costs one relaxed load. The callers of an async function that has been suspended are not on the stack:
/// where such a function belongs to this package, the place is unknown. All members may be used from any thread.
package enum CallSites {
    /// The maximum number of places. Calls from further ones have none.
    package static let maximum = 4_096
    /// The maximum number of return addresses of a call. In debug builds about ten belong to this package.
    static let maximumDepth = 32

    /// A call's return addresses, the innermost first.
    struct Stack: Hashable {
        var addresses: [UInt64]
    }

    private struct Table {
        var numbers: [UInt64: UInt32] = [:]
        var stacks: [Stack] = []
    }

    private static let listeners = Atomic(0)
    private static let table = Mutex(Table())

    /// Keeps calls recorded for as long as it exists.
    package final class Listening: Sendable {
        package init() { listeners.add(1, ordering: .relaxed) }

        deinit { listeners.subtract(1, ordering: .relaxed) }
    }

    /// Whether a listener wants to know the places of calls.
    @inline(__always)
    package static var isRecording: Bool { listeners.load(ordering: .relaxed) > 0 }

    /// Returns the place of the running call, if calls are recorded.
    @inline(__always)
    package static func present() -> CallSite? { isRecording ? record() : nil }

    @inline(never)
    private static func record() -> CallSite? {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: maximumDepth) { addresses in
            let count = Int(harald_call_stack(addresses.baseAddress, Int32(maximumDepth)))
            guard count > 0 else { return nil }
            // FNV-1a, with a word instead of an octet at a time.
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for address in addresses.prefix(count) { hash = (hash ^ address) &* 0x0000_0100_0000_01B3 }
            return table.withLock { table in
                if let number = table.numbers[hash] { return CallSite(number: number) }
                guard table.stacks.count < maximum else { return nil }
                table.stacks.append(Stack(addresses: Array(addresses.prefix(count))))
                let number = UInt32(table.stacks.count)
                table.numbers[hash] = number
                return CallSite(number: number)
            }
        }
    }

    static func stack(of site: CallSite) -> Stack? {
        guard site.process == 0 else { return nil }
        return table.withLock { table in
            let index = Int(site.number) - 1
            return table.stacks.indices.contains(index) ? table.stacks[index] : nil
        }
    }

    /// Looks up places in the program's debugging information. Blocks for about a second, the first time for a place,
    /// and never longer than `Symbolizer.timeout`.
    ///
    /// - Parameter sites: Places of this process.
    /// - Returns: The names of those that have one, and the addresses of those that may have one.
    package static func places(of sites: some Collection<CallSite>) -> [CallSite: CallPlace] {
        SiteNames.shared.withLock { $0.places(of: sites) }
    }
}
