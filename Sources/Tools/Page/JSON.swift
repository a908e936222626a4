import Administration

/// JSON for the page.
enum JSON {
    /// Returns a value as JSON; `null` for one without, such as a NaN.
    static func of(_ value: some Encodable) -> String { JSONText.of(value) ?? "null" }

    /// Returns a text as JSON.
    static func text(_ text: String) -> String { of(text) }
}
