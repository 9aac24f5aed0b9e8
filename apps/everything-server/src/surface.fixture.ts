/** Reads with the compiler which members the public interfaces of the packages have, and which of them this server uses. */

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
  /** The members of each interface that is reachable from the parameters and results of exported functions. */
  readonly members: ReadonlyMap<string, ReadonlySet<string>>
  /** The members that sources of this server write or read, as `Interface.member`. */
  readonly used: ReadonlySet<string>
}

/** An entry file of a package, and a filter for its exported functions. */
export interface EntryFile {
  readonly file: string
  includes(name: string): boolean
}

/** Reads the sources from the disk. Takes about one second. */
export function readSurface(entryFiles: readonly EntryFile[]): Surface {
  const api = new API({ cwd: ROOT })
  try {
    const [project] = api.updateSnapshot({ openProjects: [CONFIG] }).getProjects()
    if (project === undefined) throw new Error(`There is no project at ${CONFIG}`)
    return { members: readPublicMembers(project, entryFiles), used: readUsedMembers(project) }
  } finally {
    api.close()
  }
}

/**
 * Returns the name of the interface that declares a member, if this repository declares it. Returns undefined for
 * anonymous types.
 */
function declarerOf(member: TypeSymbol, project: Project): string | undefined {
  const [declaration] = member.declarations
  if (declaration === undefined || !declaration.path.toLowerCase().startsWith(PACKAGES)) return undefined
  const parent = declaration.resolve(project)?.parent as (Node & { name?: { text: string } }) | undefined
  return parent?.name?.text
}

/** Returns the name of an interface. Returns undefined for other types, such as `Partial<Options>`. */
function nameOf(type: Type): string | undefined {
  const target = type.isTypeReference() ? type.getTarget() : type
  return target.isClassOrInterface() ? target.getSymbol()?.name : undefined
}

/** The only classes are errors, which users do not write. */
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

function readPublicMembers(project: Project, entryFiles: readonly EntryFile[]): Map<string, Set<string>> {
  const { checker } = project
  const members = new Map<string, Set<string>>()
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
    // Callbacks in options are called by the library, so their parameters are not inspected.
    if (checker.getSignaturesOfType(type, SignatureKind.Call).length > 0) return
    for (const member of checker.getPropertiesOfType(type)) addMember(type, member)
  }

  function addMember(type: Type, member: TypeSymbol): void {
    const declarer = declarerOf(member, project)
    // Members that begin with `~` only carry types.
    if (declarer === undefined || member.name.startsWith('~')) return
    const owner = nameOf(type) ?? declarer
    members.set(owner, (members.get(owner) ?? new Set()).add(member.name))
    bases.set(owner, new Set(basesOf(type).flatMap((base) => nameOf(base) ?? [])))
    const memberType = checker.getTypeOfSymbol(member)
    addAll(memberType)
    // Users call the methods of these interfaces, so the parameters of the methods count too.
    if (memberType !== undefined && ['Server', 'Fluent', 'Context'].includes(declarer)) addCalls(memberType)
  }

  function addCalls(type: Type): void {
    for (const signature of checker.getSignaturesOfType(type, SignatureKind.Call)) {
      for (const parameter of signature.getParameters()) addAll(checker.getTypeOfSymbol(parameter))
      addAll(checker.getReturnTypeOfSignature(signature))
    }
  }

  for (const { file, includes } of entryFiles) {
    const source = project.program.getSourceFile(file)
    const module = source && checker.getSymbolAtLocation(source)
    if (module === undefined) throw new Error(`${file}: expected an import of it in this server, got none`)
    for (const each of checker.getExportsOfModule(module)) {
      const real = each.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each
      const type = real.flags & SymbolFlags.Value && includes(each.name) ? checker.getTypeOfSymbol(real) : undefined
      if (type !== undefined) addCalls(type)
    }
  }
  // Inherited members belong to the base interface if the base interface is public too.
  for (const [owner, ownMembers] of members) {
    for (const base of bases.get(owner) ?? []) for (const member of members.get(base) ?? []) ownMembers.delete(member)
  }
  return new Map([...members].filter(([, ownMembers]) => ownMembers.size > 0))
}

function readUsedMembers(project: Project): Set<string> {
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
