import DequeModule

/// A call of an app to one of its managers.
enum AppCall {
    case open(ManagerID, ManagerRole, ManagerOptions, any EventSink)
    case close(ManagerID)
    case request(ManagerID, Request)
}

/// The app behind a ``RecordGate``.
protocol RecordGateOwner: AnyObject {
    /// Whether the record of the app has to be durable before a request is performed.
    func changesRecord(_ id: ManagerID, _ request: Request) -> Bool
    /// Makes the record durable, with what `requests` change. `completion` is called once: when it is durable or cannot be saved.
    func record(_ requests: [(id: ManagerID, request: Request)], completion: @escaping () -> Void)
    /// The record has what was to be recorded, and the requests are performed next; or they are dropped.
    func hasRecorded()
    /// Performs a call.
    func perform(_ call: AppCall)
    /// There are too many calls: one is lost.
    func refuse(_ call: AppCall)
}

/// The calls of one app, in order: one that changes the record of the app waits until that is durable, and so do those after it
/// (behaviour 10.15). Other apps go on. Calls that wait together are recorded together.
///
/// Lives on the loop.
final class RecordGate {
    /// Calls that may wait (AB-G05). A process in another place is not read from meanwhile, and leaves less here.
    static let maximumWaiting = 4_096

    /// Called when calls begin to wait, and when they no longer do.
    var onWait: ((Bool) -> Void)?
    /// Whether calls wait for the record.
    private(set) var isWaiting = false

    private unowned let owner: any RecordGateOwner
    private var calls = Deque<AppCall>()
    /// How many of the first calls are in the record that is being saved; nil while none is.
    private var recording: Int?
    private var isPerforming = false

    init(owner: any RecordGateOwner) {
        self.owner = owner
    }

    /// Performs a call, at once or when it has its turn.
    func take(_ call: AppCall) {
        guard calls.count < Self.maximumWaiting else { return owner.refuse(call) }
        calls.append(call)
        advance()
    }

    /// Performs all calls at once: the process is gone, and hears of nothing that comes of them.
    func open() {
        endRecording()
        perform(calls.count)
        tell()
    }

    /// Drops all calls.
    func clear() {
        endRecording()
        calls.removeAll()
        tell()
    }

    /// The end of the save is not waited for.
    private func endRecording() {
        guard recording != nil else { return }
        recording = nil
        owner.hasRecorded()
    }

    private func advance() {
        guard !isPerforming else { return }
        isPerforming = true
        while recording == nil, let call = calls.first {
            if case .request(let id, let request) = call, owner.changesRecord(id, request) {
                record()
            } else {
                calls.removeFirst()
                owner.perform(call)
            }
        }
        isPerforming = false
        tell()
    }

    /// Saves the record for the requests up to the first call that opens or closes a manager.
    private func record() {
        let requests = calls.prefix { $0.request != nil }.compactMap(\.request)
        recording = requests.count
        owner.record(requests) { [weak self] in self?.recorded() }
    }

    private func recorded() {
        guard let count = recording else { return }
        recording = nil
        owner.hasRecorded()
        perform(count)
        advance()
    }

    /// Performs so many of the first calls.
    private func perform(_ count: Int) {
        let wasPerforming = isPerforming
        isPerforming = true
        let batch = Array(calls.prefix(count))
        calls.removeFirst(batch.count)
        for call in batch { owner.perform(call) }
        isPerforming = wasPerforming
    }

    private func tell() {
        guard isWaiting != (recording != nil) else { return }
        isWaiting.toggle()
        onWait?(isWaiting)
    }
}

extension AppCall {
    fileprivate var request: (id: ManagerID, request: Request)? {
        if case .request(let id, let request) = self { (id, request) } else { nil }
    }
}
