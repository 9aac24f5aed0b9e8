/** What the packages let their users write and read, interface by interface, and what of it this server does: as the compiler sees it. */

import { join } from 'node:path'
import type { Expression, Node } from 'typescript/unstable/ast'
import {
  isIdentifier,
  isObjectBindingPattern,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
} from 'typescript/unstable/ast/is'
import {
  API,
  type Project,
  SignatureKind,
  SymbolFlags,
  type Type,
  type Symbol as TypeSymbol,
} from 'typescript/unstable/sync'

const ROOT = join(import.meta.dirname, '../../..')
const CONFIG = join(import.meta.dirname, '../tsconfig.json')
const PACKAGES = join(ROOT, 'packages/').toLowerCase()
const HERE = join(import.meta.dirname, '/')

export interface Surface {
  /** The members of each interface that functions of the entries take, give, or lead to. */
  readonly offered: ReadonlyMap<string, ReadonlySet<string>>
  /** Those of them that sources of this server write in an object, or read, as `Interface.member`. */
  readonly used: ReadonlySet<string>
}

/** A file of a package, and which of the functions that it exports are looked at. */
export interface Door {
  readonly file: string
  includes(name: string): boolean
}

/** Reads the sources as they are on the disk. Takes about a second. */
export function readSurface(doors: readonly Door[]): Surface {
  const api = new API({ cwd: ROOT })
  try {
    const [project] = api.updateSnapshot({ openProjects: [CONFIG] }).getProjects()
    if (project === undefined) throw new Error(`There is no project at ${CONFIG}`)
    return { offered: offeredBy(project, doors), used: usedIn(project) }
  } finally {
    api.close()
  }
}

/** The interface that a member is declared in, if it is one of ours. Members of objects without a name belong to nobody. */
function declarerOf(member: TypeSymbol, project: Project): string | undefined {
  const [declaration] = member.declarations
  if (declaration === undefined || !declaration.path.toLowerCase().startsWith(PACKAGES)) return undefined
  const parent = declaration.resolve(project)?.parent as (Node & { name?: { text: string } }) | undefined
  return parent?.name?.text
}

/** The name of an interface; other types, such as `Partial<Options>`, have none of their own. */
function nameOf(type: Type): string | undefined {
  const target = type.isTypeReference() ? type.getTarget() : type
  return target.isClassOrInterface() ? target.getSymbol()?.name : undefined
}

/** Errors: they are thrown by functions that make them. */
function isClass(type: Type): boolean {
  return ((type.getSymbol()?.flags ?? 0) & SymbolFlags.Class) !== 0
}

function basesOf(type: Type): Type[] {
  const bases = (type.isTypeReference() ? type.getTarget() : type).getBaseTypes() ?? []
  return bases.flatMap((base) => [base, ...basesOf(base)])
}

function partsOf(type: Type): readonly Type[] {
  return type.isUnionType() || type.isIntersectionType() ? type.getTypes().flatMap(partsOf) : [type]
}

function offeredBy(project: Project, doors: readonly Door[]): Map<string, Set<string>> {
  const { checker } = project
  const offered = new Map<string, Set<string>>()
  const bases = new Map<string, Set<string>>()
  const seen = new Set<number>()

  function addAll(type: Type | undefined): void {
    for (const part of type === undefined ? [] : partsOf(type)) add(part)
  }

  function add(type: Type): void {
    if (seen.has(type.id)) return
    seen.add(type.id)
    if (type.isTypeParameter()) addAll(checker.getConstraintOfTypeParameter(type))
    if (!type.isObjectType() || isClass(type)) return
    if (type.isTypeReference()) for (const each of checker.getTypeArguments(type)) addAll(each)
    // What a function gets and gives is up to who calls it: for options that is the library.
    if (checker.getSignaturesOfType(type, SignatureKind.Call).length > 0) return
    for (const member of checker.getPropertiesOfType(type)) addMember(type, member)
  }

  function addMember(type: Type, member: TypeSymbol): void {
    const declarer = declarerOf(member, project)
    // Those that begin with `~` carry types, and are nobody's to write.
    if (declarer === undefined || member.name.startsWith('~')) return
    const owner = nameOf(type) ?? declarer
    offered.set(owner, (offered.get(owner) ?? new Set()).add(member.name))
    bases.set(owner, new Set(basesOf(type).flatMap((base) => nameOf(base) ?? [])))
    const inside = checker.getTypeOfSymbol(member)
    addAll(inside)
    // Those are called by authors, so what their methods take is offered too.
    if (inside !== undefined && ['Server', 'Fluent', 'Context'].includes(declarer)) addCalls(inside)
  }

  function addCalls(type: Type): void {
    for (const signature of checker.getSignaturesOfType(type, SignatureKind.Call)) {
      for (const parameter of signature.getParameters()) addAll(checker.getTypeOfSymbol(parameter))
      addAll(checker.getReturnTypeOfSignature(signature))
    }
  }

  for (const { file, includes } of doors) {
    const source = project.program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    if (module === undefined) throw new Error(`This server imports nothing of ${file}`)
    for (const each of checker.getExportsOfModule(module)) {
      const real = each.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each
      const type = real.flags & SymbolFlags.Value && includes(each.name) ? checker.getTypeOfSymbol(real) : undefined
      if (type !== undefined) addCalls(type)
    }
  }
  // What an interface has of another that is offered by itself is looked at there.
  for (const [owner, members] of offered) {
    for (const base of bases.get(owner) ?? []) for (const member of offered.get(base) ?? []) members.delete(member)
  }
  return new Map([...offered].filter(([, members]) => members.size > 0))
}

function usedIn(project: Project): Set<string> {
  const { program, checker } = project
  const used = new Set<string>()

  function mark(type: Type | undefined, name: string | undefined): void {
    for (const part of type === undefined || name === undefined ? [] : partsOf(type)) {
      const member = checker.getPropertyOfType(part, name as string)
      if (member === undefined) continue
      const owners = [declarerOf(member, project), ...[part, ...basesOf(part)].map(nameOf)]
      for (const owner of owners) if (owner !== undefined) used.add(`${owner}.${name}`)
    }
  }

  function visit(node: Node): void {
    if (isObjectLiteralExpression(node)) {
      const type = checker.getContextualType(node)
      for (const each of node.properties) mark(type, 'name' in each ? textOf(each.name) : undefined)
    } else if (isObjectBindingPattern(node)) {
      const type = checker.getTypeAtLocation(node)
      for (const { propertyName, name } of node.elements) mark(type, textOf(propertyName ?? name))
    } else if (isPropertyAccessExpression(node)) {
      mark(checker.getTypeAtLocation(node.expression as Expression), textOf(node.name))
    }
    node.forEachChild(visit)
  }

  for (const file of program.getSourceFileNames()) {
    if (!file.startsWith(HERE)) continue
    const source = program.getSourceFile(file)
    if (source !== undefined) visit(source)
  }
  return used
}

function textOf(name: Node | undefined): string | undefined {
  return name !== undefined && isIdentifier(name) ? name.text : undefined
}
