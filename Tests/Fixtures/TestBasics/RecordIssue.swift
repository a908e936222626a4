import Testing

/// Records an issue. A function without a result can return the call, as it cannot that of `Issue.record`.
package func recordIssue(_ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation) {
    Issue.record(comment, sourceLocation: sourceLocation)
}
