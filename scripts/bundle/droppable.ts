/**
 * Lets bundlers drop what nobody uses of a file. They keep the value of a constant unless they see that computing it does
 * nothing else, and they see little: a power, a spread and a member of an import are kept. Each of our constants may go, as
 * `sideEffects: false` says of whole files.
 */
import { parseAst } from 'rolldown/parseAst'

/** What is used of a node of the syntax tree. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

const MARK = '/* @__PURE__ */ '

/** The code, where each constant that bundlers would keep is marked as pure, by way of a function if need be. */
export function droppable(code: string): string {
  const { body } = parseAst(code) as unknown as { readonly body: readonly Node[] }
  const kept = body
    .map(declarationOf)
    .flatMap((declaration) => (declaration?.declarations ?? []) as readonly Node[])
    .map(({ init }) => init as Node | null)
    .filter((value) => value !== null)
    .filter((value) => !isDropped(value, code))
  return kept.reduceRight((text, value) => {
    const { start, end } = value
    const made = isDropped(value, code, true) ? text.slice(start, end) : `(() => (${text.slice(start, end)}))()`
    return text.slice(0, start) + (isMarked(value, code) ? '' : MARK) + made + text.slice(end)
  }, code)
}

function declarationOf(statement: Node): Node | undefined {
  const declared = statement.type === 'ExportNamedDeclaration' ? (statement.declaration as Node | null) : statement
  return declared?.type === 'VariableDeclaration' ? declared : undefined
}

/** Whether any bundler sees that a value can go; when in doubt, it does not. Or would, if the value itself were marked. */
function isDropped(value: Node, code: string, wereMarked = false): boolean {
  const areDropped = (nodes: unknown): boolean =>
    (nodes as readonly (Node | null)[]).every((node) => node === null || isDropped(node, code))
  switch (value.type) {
    case 'Literal':
    case 'Identifier':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return true
    case 'UnaryExpression':
      return (value.argument as Node).type === 'Literal'
    case 'ArrayExpression':
      return areDropped(value.elements)
    case 'ObjectExpression':
      return areDropped(value.properties)
    case 'Property':
      return value.computed === false && isDropped(value.value as Node, code)
    case 'ClassExpression':
      return isPlainClass(value)
    case 'CallExpression':
    case 'NewExpression':
      return (wereMarked || isMarked(value, code)) && areDropped(value.arguments)
    default:
      return false
  }
}

/** Nothing runs when it is defined. */
function isPlainClass({ superClass, body }: Node): boolean {
  const members = (body as { readonly body: readonly Node[] }).body
  const isFree = (member: Node): boolean =>
    member.type !== 'StaticBlock' &&
    member.computed !== true &&
    (member.static !== true || member.type === 'MethodDefinition')
  return [undefined, 'Identifier'].includes((superClass as Node | null)?.type) && members.every(isFree)
}

function isMarked({ start }: Node, code: string): boolean {
  return /\/\*\s*[@#]__PURE__\s*\*\/\s*$/.test(code.slice(Math.max(0, start - 40), start))
}
