/// The keys of each object of the format. The schema has the same, which a test compares.
enum FormatKeys {
    static let accessory = [
        "$schema", "format", "name", "description", "advertising", "security", "values", "faults", "services",
    ]
    static let advertising = ["name", "services", "manufacturerData", "serviceData", "interval", "connectable"]
    static let manufacturerData = ["company", "data"]
    static let serviceData = ["uuid", "value"]
    static let security = ["pairing", "io", "fixedAddress", "addressLifetime"]
    static let hiddenValue = ["id", "value"]
    static let service = ["uuid", "primary", "includes", "characteristics"]
    static let characteristic = [
        "uuid", "id", "properties", "permission", "value", "changes", "repeat", "notifyEvery", "notifyChanges",
        "onRead", "onWrite", "descriptors",
    ]
    static let permission = ["read", "write", "notify"]
    static let descriptor = ["uuid", "value"]
    static let change = ["after", "value"]
    static let response = ["delay", "fault", "everyNth"]
    static let scheduledFault = ["fault", "at", "until", "onWrite"]
    static let fault = ["attError", "length", "noAnswer"]
    static let rule = ["if", "whenValues", "unlessSubscribed", "delay", "fault", "everyNth", "then"]
    static let content = ["equals", "beginsWith", "length"]
    static let condition = ["characteristic", "value"]
    static let effect = ["set", "notify", "append", "cancel", "value", "after", "everyNth"]
    static let part =
        ["hex", "text", "written", "value", "size", "crc32"] + Accessory.NumberFormat.allCases.map(\.rawValue)
    static let written = ["from", "count"]

    /// All objects, by the names of their definitions in the schema.
    static let all = [
        "accessory": accessory, "advertising": advertising, "manufacturerData": manufacturerData,
        "serviceData": serviceData, "security": security, "service": service, "characteristic": characteristic,
        "hiddenValue": hiddenValue, "scheduledFault": scheduledFault, "permission": permission,
        "descriptor": descriptor, "change": change,
        "response": response, "fault": fault,
        "rule": rule, "content": content, "condition": condition, "effect": effect, "part": part, "written": written,
    ]
}
