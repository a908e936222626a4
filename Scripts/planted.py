"""Faults that the search has to find: each is a small change of one source file."""
from typing import NamedTuple


class Plant(NamedTuple):
    name: str
    path: str
    old: str
    new: str


PLANTS = [
    Plant(
        "lost wake-up: values do not wake a suspended app",
        "Sources/BluetoothService/Lifecycle/BackgroundRules.swift",
        "        case .channel(_, .room): false\n        case .stateChanged, .central, .peripheral, .channel: true",
        "        case .channel(_, .room), .central(.peer(_, .valueNotified)): false\n"
        "        case .stateChanged, .central, .peripheral, .channel: true",
    ),
    Plant(
        "a subscription is not restored: a new process is told of no subscribers",
        "Sources/BluetoothService/Peripherals/PeripheralSession.swift",
        "subscriptions: Array(subscriptions.prefix(ServiceLimits.restoredSubscriptions))",
        "subscriptions: Array(subscriptions.prefix(0))",
    ),
    Plant(
        "swapped key: the identity key of a peer is taken for one's own",
        "Sources/SMP/Pairing/KeyDistribution.swift",
        "received.identity = .init(key: packet.key, address: .none)",
        "received.identity = .init(key: own.key, address: .none)",
    ),
    Plant(
        "credit leak: of nine and more credits, one does not come back",
        "Sources/BluetoothService/Managers/CreditBatch.swift",
        "let taken = (count: due, isAwaited: spent >= limit)",
        "let taken = (count: due > 8 ? due - 1 : due, isAwaited: spent >= limit)",
    ),
    Plant(
        "a call without an answer: a refused subscription is not reported",
        "Sources/BluetoothService/Links/PeerLink+Attributes.swift",
        "        if subscriptions[handle] != nil, !isOver { subscription(handle, .written(result)) }",
        "        if case .failure = result { return }\n"
        "        if subscriptions[handle] != nil, !isOver { subscription(handle, .written(result)) }",
    ),
    Plant(
        "a repeated event: the first event that waits for a new process is delivered twice",
        "Sources/BluetoothService/Managers/EventMailbox.swift",
        "        lost = 0\n        handOver(on: loop)",
        "        lost = 0\n        if let first = queue.first(where: { !$0.isState }) { sink.accept(first, on: loop) }\n"
        "        handOver(on: loop)",
    ),
    Plant(
        "a link is left over: its last app does not let go of it",
        "Sources/BluetoothService/Centrals/CentralSession.swift",
        "            manager.channels.disconnect(from: peer)\n            link.detach(user)",
        "            manager.channels.disconnect(from: peer)\n            _ = (link, user)",
    ),
    Plant(
        "a trap: a link that ends in the background",
        "Sources/BluetoothService/Centrals/CentralSession.swift",
        "        let isReconnecting = manager.intent.connections[peer]?.reconnectsAutomatically ?? false\n"
        "        if isReconnecting {",
        "        let isReconnecting = manager.intent.connections[peer]?.reconnectsAutomatically ?? false\n"
        "        precondition(manager.life.rules.scansAfresh)\n        if isReconnecting {",
    ),
    Plant(
        "a time-out that does nothing: a request that is never answered",
        "Sources/ATT/ATTBearer.swift",
        "deadline <= loop.now { return close(.requestTimeout) }",
        "deadline <= loop.now { return }",
    ),
    Plant(
        "wrong order: values that wait overtake each other",
        "Sources/BluetoothService/Peripherals/PeripheralSession.swift",
        "        updates.append(Update(handle: handle, value: value, centrals: centrals))",
        "        let update = Update(handle: handle, value: value, centrals: centrals)\n"
        "        updates.insert(update, at: max(0, updates.count - 2))",
    ),
]


def plant(source: str, fault: Plant) -> str:
    """Returns the source with a fault; fails unless there is exactly one place for it."""
    if source.count(fault.old) != 1:
        raise ValueError(f"{fault.path} has {source.count(fault.old)} places for \"{fault.name}\"")
    return source.replace(fault.old, fault.new)
