import SwiftSyntax

/// The use of the value of an expression statement.
enum ExpressionUse: Equatable {
    /// Not used; in a closure, it may be the result.
    case statement(inClosure: Bool)
    case value(isBool: Bool)
}

extension CodeBlockItemSyntax {
    var expression: ExprSyntax? {
        if let statement = item.as(ExpressionStmtSyntax.self) { return statement.expression }
        return item.as(ExprSyntax.self)
    }

    /// Whether the block has no other statement.
    var isAlone: Bool { parent?.as(CodeBlockItemListSyntax.self)?.count == 1 }

    var closure: ClosureExprSyntax? { parent?.parent?.as(ClosureExprSyntax.self) }

    var use: ExpressionUse {
        guard let owner = parent?.parent, !owner.is(SourceFileSyntax.self) else { return .value(isBool: false) }
        guard isAlone else { return .statement(inClosure: false) }
        if owner.is(ClosureExprSyntax.self) { return .statement(inClosure: true) }
        if let block = owner.as(AccessorBlockSyntax.self) { return .value(isBool: block.isOfBool) }
        if owner.is(SwitchCaseSyntax.self) { return owner.parent?.parent.flatMap(\.branchUse) ?? .value(isBool: false) }
        guard let body = owner.parent else { return .value(isBool: false) }
        if let function = body.as(FunctionDeclSyntax.self) {
            guard let type = function.signature.returnClause?.type else { return .statement(inClosure: false) }
            return .value(isBool: type.isBool)
        }
        if let accessor = body.as(AccessorDeclSyntax.self), accessor.accessorSpecifier.tokenKind == .keyword(.get) {
            return .value(isBool: accessor.parent?.parent?.as(AccessorBlockSyntax.self)?.isOfBool == true)
        }
        if body.is(IfExprSyntax.self) { return body.branchUse ?? .value(isBool: false) }
        return .statement(inClosure: false)
    }

    /// Whether the assignment is likely to be an initialisation, which cannot be removed.
    func initialises(_ target: ExprSyntax) -> Bool {
        var next = parent
        while let node = next, !node.is(FunctionDeclSyntax.self), !node.is(AccessorDeclSyntax.self) {
            if node.is(InitializerDeclSyntax.self) { return true }
            next = node.parent
        }
        guard let name = target.as(DeclReferenceExprSyntax.self)?.baseName.text, let body = next else { return false }
        let finder = UninitialisedFinder(viewMode: .sourceAccurate)
        finder.walk(body)
        return finder.names.contains(name)
    }
}

/// Collects the names of variables that are declared without a value.
private final class UninitialisedFinder: SyntaxVisitor {
    var names: Set<String> = []

    override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
        if node.initializer == nil, node.accessorBlock == nil { names.insert(node.pattern.trimmedDescription) }
        return .visitChildren
    }
}

extension Syntax {
    /// The use of the value of a branch of this `if` or `switch`.
    fileprivate var branchUse: ExpressionUse? {
        if let outer = parent?.as(IfExprSyntax.self) { return Syntax(outer).branchUse }
        let item = parent?.as(ExpressionStmtSyntax.self)?.parent ?? parent
        if let item = item?.as(CodeBlockItemSyntax.self) { return item.use }
        return nil
    }

    /// Whether this is the condition of `while true`.
    var isEndless: Bool { parent?.is(ConditionElementSyntax.self) == true }

    /// Whether this declares text for display.
    var isDescription: Bool {
        guard let variable = self.as(VariableDeclSyntax.self), variable.bindings.first?.accessorBlock != nil else {
            return false
        }
        return ["description", "debugDescription"].contains(variable.bindings.first?.pattern.trimmedDescription)
    }

    /// Whether other modules compile this body.
    var isInlinable: Bool {
        guard let attributes = asProtocol((any WithAttributesSyntax).self)?.attributes else { return false }
        return attributes.contains { ["@inlinable", "@inline(__always)"].contains($0.trimmedDescription) }
    }
}

extension ExprSyntax {
    var withoutTry: ExprSyntax {
        if let node = self.as(TryExprSyntax.self) { return node.expression.withoutTry }
        if let node = self.as(AwaitExprSyntax.self) { return node.expression.withoutTry }
        return self
    }

    var withoutParentheses: ExprSyntax {
        guard let tuple = self.as(TupleExprSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first
        else {
            return self
        }
        return only.expression.withoutParentheses
    }

    /// The call, including that in `object?.call()`.
    var asCall: FunctionCallExprSyntax? {
        self.as(FunctionCallExprSyntax.self) ?? self.as(OptionalChainingExprSyntax.self)?.expression.asCall
    }

    var logicalOperator: String? {
        self.as(InfixOperatorExprSyntax.self)?.operator.as(BinaryOperatorExprSyntax.self)?.operator.text
    }
}

extension InfixOperatorExprSyntax {
    /// Whether this is `=`, or `+=` and similar.
    var isAssignment: Bool {
        if `operator`.is(AssignmentExprSyntax.self) { return !leftOperand.is(DiscardAssignmentExprSyntax.self) }
        let text = `operator`.as(BinaryOperatorExprSyntax.self)?.operator.text ?? ""
        return text.hasSuffix("=") && !["==", "!=", "<=", ">=", "===", "!==", "~="].contains(text)
    }
}

extension FunctionCallExprSyntax {
    private var words: [String] {
        calledExpression.trimmedDescription.split { !$0.isLetter }.map(String.init)
    }

    /// Whether this is a check for a programming error.
    var isPromise: Bool {
        ["precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError"].contains(words.first)
    }

    /// Whether the call must stay: it only logs, constructs an enum value, or is necessary to compile.
    var isLeftIn: Bool {
        if calledExpression.as(MemberAccessExprSyntax.self).map({ $0.base == nil }) == true { return true }
        return words.last == "init" || words.contains { ["log", "logger", "trace", "print"].contains($0) }
    }
}

extension ClosureExprSyntax {
    /// The name of the function that receives this closure.
    private var taker: String? {
        var next = parent
        while let node = next {
            if let call = node.as(FunctionCallExprSyntax.self) {
                return call.calledExpression.trimmedDescription.split { !$0.isLetter }.last.map(String.init)
            }
            guard node.is(LabeledExprSyntax.self) || node.is(LabeledExprListSyntax.self) else { return nil }
            next = node.parent
        }
        return nil
    }

    /// Whether its result is a Bool.
    var isPredicate: Bool {
        ["contains", "first", "last", "filter", "allSatisfy", "removeAll", "firstIndex", "lastIndex", "drop", "prefix"]
            .contains(taker)
    }

    /// Whether its result is likely to be used.
    var isTransform: Bool {
        if signature?.returnClause != nil || parent?.is(InitializerClauseSyntax.self) == true { return true }
        return isPredicate || taker?.hasPrefix("with") == true
            || ["map", "compactMap", "flatMap", "reduce", "sorted", "min", "max", "sort", "check", "list", "table"]
                .contains(taker)
    }
}

extension TypeSyntax {
    var isBool: Bool { trimmedDescription == "Bool" }
}

extension AccessorBlockSyntax {
    var isOfBool: Bool {
        parent?.as(PatternBindingSyntax.self)?.typeAnnotation?.type.isBool
            ?? parent?.as(SubscriptDeclSyntax.self)?.returnClause.type.isBool ?? false
    }
}

extension ReturnStmtSyntax {
    /// Whether it returns from a function or a getter whose result is a Bool.
    var isOfBool: Bool {
        var next = parent
        while let node = next {
            if let function = node.as(FunctionDeclSyntax.self) {
                return function.signature.returnClause?.type.isBool == true
            }
            if let block = node.as(AccessorBlockSyntax.self) { return block.isOfBool }
            if node.is(ClosureExprSyntax.self) { return false }
            next = node.parent
        }
        return false
    }
}
