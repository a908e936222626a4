import SwiftSyntax

/// Finds the places for mutants in a file whose operators are folded. Mutants that the type checker still rejects are
/// dropped by `Mutation/run`, which parses its errors.
final class MutantFinder: SyntaxAnyVisitor {
    private(set) var found: [FoundMutant] = []
    /// The conditions that are already inverted.
    private var inverted: Set<SyntaxIdentifier> = []

    override func visitAny(_ node: Syntax) -> SyntaxVisitorContinueKind {
        guard !isLeftAlone(node) else { return .skipChildren }
        if let item = node.as(CodeBlockItemSyntax.self) {
            statement(item)
            result(item)
        }
        if let element = node.as(ConditionElementSyntax.self) { condition(element) }
        if let clause = node.as(WhereClauseSyntax.self) {
            invert(clause.condition)
            found.append(.alwaysTrue(clause.condition))
        }
        if let ternary = node.as(TernaryExprSyntax.self) { invert(ternary.condition) }
        if let `return` = node.as(ReturnStmtSyntax.self), `return`.isOfBool { `return`.expression.map(invert) }
        if let closure = node.as(ClosureExprSyntax.self) { predicate(closure) }
        if let infix = node.as(InfixOperatorExprSyntax.self) { operation(infix) }
        if let literal = node.as(BooleanLiteralExprSyntax.self), !node.isEndless { invert(ExprSyntax(literal)) }
        if let literal = node.as(IntegerLiteralExprSyntax.self) { number(literal) }
        return .visitChildren
    }

    /// Whether to skip a node. Types, patterns, attributes, default arguments and raw values cannot contain a call.
    /// Messages, and checks for programming errors, are no behaviour to defend.
    private func isLeftAlone(_ node: Syntax) -> Bool {
        if node.is(TypeSyntax.self) || node.is(PatternSyntax.self) || node.is(AttributeListSyntax.self) { return true }
        if node.is(IfConfigDeclSyntax.self) || node.is(StringLiteralExprSyntax.self) { return true }
        if node.is(FunctionParameterClauseSyntax.self) || node.is(EnumCaseDeclSyntax.self) { return true }
        if node.is(MacroExpansionExprSyntax.self) || node.is(ClosureSignatureSyntax.self) { return true }
        if let call = node.as(FunctionCallExprSyntax.self) { return call.isPromise }
        return node.isDescription || node.isInlinable
    }

    // MARK: - Conditions

    private func invert(_ expression: ExprSyntax) {
        // The switch goes inside the parentheses of `!(…)` and `(…)`.
        let expression = expression.withoutParentheses
        guard !expression.is(IfExprSyntax.self), !expression.is(SwitchExprSyntax.self) else { return }
        if inverted.insert(expression.id).inserted { found.append(.inverted(expression)) }
    }

    private func condition(_ element: ConditionElementSyntax) {
        guard case .expression(let expression) = element.condition else { return }
        guard !expression.is(BooleanLiteralExprSyntax.self) else { return }
        let owner = element.parent?.parent
        if owner?.is(WhileStmtSyntax.self) == true { return found.append(.alwaysFalse(expression)) }
        invert(expression)
        found.append(owner?.is(GuardStmtSyntax.self) == true ? .alwaysTrue(expression) : .alwaysFalse(expression))
    }

    private func operation(_ infix: InfixOperatorExprSyntax) {
        guard let token = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator else { return }
        switch token.text {
        case "&&", "||":
            for operand in [infix.leftOperand, infix.rightOperand] where operand.logicalOperator != token.text {
                found.append(token.text == "&&" ? .alwaysTrue(operand) : .alwaysFalse(operand))
            }
        case "==", "!=", "===", "!==", "~=": invert(ExprSyntax(infix))
        default: if let shift = FoundMutant.shifted(infix, token) { found.append(shift) }
        }
    }

    /// The closure of `contains(where:)` and similar functions.
    private func predicate(_ closure: ClosureExprSyntax) {
        guard closure.statements.count == 1, closure.isPredicate else { return }
        if let expression = closure.statements.first?.expression { invert(expression) }
    }

    /// The value of a body that consists of one expression.
    private func result(_ item: CodeBlockItemSyntax) {
        guard let expression = item.expression, item.use == .value(isBool: true) else { return }
        invert(expression)
    }

    // MARK: - Numbers

    private func number(_ literal: IntegerLiteralExprSyntax) {
        guard let value = literal.representedLiteralValue else { return }
        if value < Int.max { found.append(.literal(literal, value + 1)) }
        if value > 0 { found.append(.literal(literal, value - 1)) }
    }

    // MARK: - Statements

    private func statement(_ item: CodeBlockItemSyntax) {
        guard let expression = item.expression, case .statement(let inClosure) = item.use else { return }
        if let infix = expression.withoutTry.as(InfixOperatorExprSyntax.self) {
            if infix.isAssignment, !item.initialises(infix.leftOperand) { found.append(.removed(expression)) }
            return
        }
        guard let call = expression.withoutTry.asCall, !call.isLeftIn else { return }
        if inClosure, item.isAlone, item.closure?.isTransform == true { return }
        found.append(.removed(expression))
    }
}
