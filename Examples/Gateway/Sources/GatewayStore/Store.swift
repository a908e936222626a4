import CSQLite
import Foundation
import SensorRecords

/// An error of the database, with its text.
package struct StoreError: Error, CustomStringConvertible {
    package let description: String
}

/// The records on disk that the broker has not acknowledged, and the last record of each sensor.
///
/// Changes are durable when a method returns: they survive the end of the process and the loss
/// of power. A store is used by one thread at a time.
package final class Store {
    /// The default limit of the number of records that wait for the broker.
    package static let maximumRecords = 1_000_000
    /// The number of milliseconds to wait for another thread's transaction.
    private static let busyTimeout: Int32 = 10_000

    /// A record that waits for the broker.
    package struct Waiting: Hashable, Sendable {
        package let id: Int64
        package let sensor: String
        package let record: SensorRecord
        /// The time at which the gateway received the record, in microseconds since 1970.
        package let received: UInt64
    }

    private let handle: OpaquePointer
    private let limit: Int

    /// Opens the file, or creates it.
    ///
    /// - Parameters:
    ///   - path: The path of the file. SQLite adds two more next to it.
    ///   - limit: The maximum number of records that wait for the broker.
    package init(path: String, limit: Int = Store.maximumRecords) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else {
            throw StoreError(description: "\(path) cannot be opened as a database")
        }
        handle = opened
        self.limit = limit
        sqlite3_busy_timeout(handle, Self.busyTimeout)
        // With a write-ahead log, a commit is one write and one fsync; FULL makes it survive the loss of power.
        try run("PRAGMA journal_mode=WAL")
        try run("PRAGMA synchronous=FULL")
        try run(
            """
            CREATE TABLE IF NOT EXISTS waiting(
                id INTEGER PRIMARY KEY AUTOINCREMENT, sensor TEXT NOT NULL, sequence INTEGER NOT NULL,
                repeated INTEGER NOT NULL, made INTEGER NOT NULL, value INTEGER NOT NULL, received INTEGER NOT NULL,
                published INTEGER NOT NULL DEFAULT 0)
            """
        )
        try run("CREATE TABLE IF NOT EXISTS sensor(name TEXT PRIMARY KEY, last INTEGER NOT NULL)")
    }

    deinit { sqlite3_close(handle) }

    // MARK: Records of sensors

    /// Stores records of a sensor in one transaction, without those that were stored before.
    ///
    /// - Returns: Whether there was room. If not, nothing is stored.
    package func add(_ records: [SensorRecord], of sensor: String, received: UInt64) throws -> Bool {
        try transaction {
            guard try count() + records.count <= limit else { return false }
            var last = try query("SELECT last FROM sensor WHERE name = ?", .text(sensor)).first?[0] ?? 0
            for record in records where Int64(record.sequence) > last {
                try insert(record, of: sensor, received: received)
                last = Int64(record.sequence)
            }
            try run("INSERT OR REPLACE INTO sensor VALUES (?, ?)", .text(sensor), .integer(last))
            return true
        }
    }

    private func insert(_ record: SensorRecord, of sensor: String, received: UInt64) throws {
        try run(
            "INSERT INTO waiting(sensor, sequence, repeated, made, value, received) VALUES (?, ?, ?, ?, ?, ?)",
            .text(sensor),
            .integer(Int64(record.sequence)),
            .integer(record.isRepeated ? 1 : 0),
            .integer(Int64(record.time)),
            .integer(Int64(record.value)),
            .integer(Int64(received))
        )
    }

    /// Returns the number of records that wait for the broker.
    package func count() throws -> Int { Int(try query("SELECT count(*) FROM waiting").first?[0] ?? 0) }

    // MARK: Publishing

    /// Marks the records that were published and not acknowledged as repeated, so that they are published again.
    package func forgetConnection() throws {
        try run("UPDATE waiting SET repeated = 1, published = 0 WHERE published = 1")
    }

    /// Forgets records that the broker has acknowledged, returns the oldest ones that have not been published on this
    /// connection, and marks these as published.
    ///
    /// One transaction, and none if there is nothing to do.
    package func next(_ count: Int, removing ids: [Int64] = []) throws -> [Waiting] {
        let found = count > 0 ? try select(count) : []
        guard !found.isEmpty || !ids.isEmpty else { return [] }
        return try transaction {
            for id in ids { try run("DELETE FROM waiting WHERE id = ?", .integer(id)) }
            if let last = found.last {
                try run("UPDATE waiting SET published = 1 WHERE published = 0 AND id <= ?", .integer(last.id))
            }
            return found
        }
    }

    private func select(_ count: Int) throws -> [Waiting] {
        let statement = try prepare(
            """
            SELECT id, sequence, repeated, made, value, received, sensor FROM waiting WHERE published = 0
            ORDER BY id LIMIT ?
            """,
            [.integer(Int64(count))]
        )
        defer { sqlite3_finalize(statement) }
        var found: [Waiting] = []
        while try step(statement) {
            func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
            let record = SensorRecord(
                sequence: UInt32(truncatingIfNeeded: integer(1)),
                isRepeated: integer(2) != 0,
                time: UInt64(integer(3)),
                value: UInt16(truncatingIfNeeded: integer(4))
            )
            let sensor = sqlite3_column_text(statement, 6).map { String(cString: $0) } ?? ""
            found.append(Waiting(id: integer(0), sensor: sensor, record: record, received: UInt64(integer(5))))
        }
        return found
    }

    // MARK: Statements

    private enum Value {
        case integer(Int64)
        case text(String)
    }

    private func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try run("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            try? run("ROLLBACK")
            throw error
        }
    }

    private func run(_ text: String, _ values: Value...) throws {
        let statement = try prepare(text, values)
        defer { sqlite3_finalize(statement) }
        while try step(statement) {}
    }

    private func query(_ text: String, _ values: Value...) throws -> [[Int64]] {
        let statement = try prepare(text, values)
        defer { sqlite3_finalize(statement) }
        var rows: [[Int64]] = []
        while try step(statement) {
            rows.append((0..<sqlite3_column_count(statement)).map { sqlite3_column_int64(statement, $0) })
        }
        return rows
    }

    private func prepare(_ text: String, _ values: [Value]) throws -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw failure(text)
        }
        // SQLITE_TRANSIENT, a macro that Swift does not import: SQLite copies the text.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, value) in values.enumerated() {
            switch value {
            case .integer(let number): sqlite3_bind_int64(statement, Int32(index + 1), number)
            case .text(let text): sqlite3_bind_text(statement, Int32(index + 1), text, -1, copied)
            }
        }
        return statement
    }

    private func step(_ statement: OpaquePointer) throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: true
        case SQLITE_DONE: false
        default: throw failure("step")
        }
    }

    private func failure(_ text: String) -> StoreError {
        StoreError(description: "\(String(cString: sqlite3_errmsg(handle))) in \(text)")
    }
}
