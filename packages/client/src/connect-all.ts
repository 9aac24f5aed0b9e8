/// <reference lib="esnext.disposable" preserve="true" />
/** Connects to several servers and calls them as one: `git.search` is the tool `search` of the server `git`. */

import {
  type Change,
  ConnectionError,
  guarded,
  quoted,
  type ServerCapabilities,
  type SubscriptionFilter,
} from '@mcpx/protocol'
import type { Client } from './client.ts'
import { connect } from './connect.ts'
import { joinListenings, joinListings } from './joined.ts'
import type { Target } from './line.ts'
import type { ListenOptions } from './listening.ts'
import { checkMember, memberContent, memberUri, splitName, splitUri } from './member-names.ts'
import type { ClientOptions } from './options.ts'

type Calls =
  | 'listTools'
  | 'callTool'
  | 'listResources'
  | 'listResourceTemplates'
  | 'readResource'
  | 'listPrompts'
  | 'getPrompt'
  | 'complete'
  | 'listen'
  | 'close'

/** Several clients as one. Names and URIs begin with the name of their server and a dot. */
export interface ClientGroup<Targets = Readonly<Record<string, Target>>> extends Pick<Client, Calls>, AsyncDisposable {
  /** Those that could be connected to. */
  readonly clients: { readonly [Name in keyof Targets]?: Client<Targets[Name]> }
  /** Why the others could not. */
  readonly failures: { readonly [Name in keyof Targets]?: Error }
}

/**
 * Connects to all servers at once. Those that fail are reported and left out; rejects with an `AggregateError` when
 * all of them fail.
 *
 * ```ts
 * await using all = await connectAll({ git: spawn('git-server'), mail: http('https://mail.example/mcp') })
 * await all.callTool('git.search', { query: 'fix' })
 * ```
 */
export async function connectAll<const Targets extends Readonly<Record<string, Target>>>(
  targets: Targets,
  options: ClientOptions = {},
): Promise<ClientGroup<Targets>> {
  const names = Object.keys(targets)
  names.forEach(checkMember)
  const report = guarded(options.onWarning)
  const clients = new Map<string, Client>()
  const failures = new Map<string, Error>()
  const connecting = names.map(async (name) => {
    try {
      clients.set(name, await connect(targets[name] as Parameters<typeof connect>[0], options))
    } catch (error) {
      failures.set(name, error as Error)
      report(new Error(`The server ${quoted(name)} could not be connected to`, { cause: error }))
    }
  })
  await Promise.all(connecting)
  if (clients.size === 0 && names.length > 0) {
    throw new AggregateError(failures.values(), 'None of the servers could be connected to')
  }
  const ordered = names.flatMap((name): [string, Client][] => {
    const client = clients.get(name)
    return client === undefined ? [] : [[name, client]]
  })
  return Object.assign(createGroup(ordered, report), {
    clients: Object.fromEntries(ordered),
    failures: Object.fromEntries(failures),
  }) as unknown as ClientGroup<Targets>
}

type Members = readonly [string, Client][]

function createGroup(members: Members, report: (problem: Error) => void): Pick<Client, Calls> & AsyncDisposable {
  const of = (member: string, full: string): Client => {
    const client = members.find(([name]) => name === member)?.[1]
    if (client !== undefined) return client
    const hint = `Names begin with one of ${members.map(([name]) => `${name}.`).join(', ')}`
    throw new ConnectionError('unsupported', `No server of this group has ${quoted(full)}`, { hint })
  }
  const fail = (member: string, error: Error) =>
    report(new Error(`The server ${quoted(member)} failed`, { cause: error }))
  const having = <Source>(part: keyof ServerCapabilities, sourceOf: (client: Client) => Source) =>
    members
      .filter(([, client]) => client.server.capabilities[part] !== undefined)
      .map(([member, client]) => ({ member, source: sourceOf(client) }))
  const named = <Item extends { name: string }>(member: string, item: Item): Item => ({
    ...item,
    name: `${member}.${item.name}`,
  })
  const close = async () => {
    await Promise.all(members.map(([, client]) => client.close()))
  }

  return {
    listTools: (options) =>
      joinListings(
        having('tools', (client) => client.listTools(options)),
        named,
        fail,
      ),
    listPrompts: (options) =>
      joinListings(
        having('prompts', (client) => client.listPrompts(options)),
        named,
        fail,
      ),
    listResources: (options) =>
      joinListings(
        having('resources', (client) => client.listResources(options)),
        (member, resource) => ({ ...named(member, resource), uri: memberUri(member, resource.uri) }),
        fail,
      ),
    listResourceTemplates: (options) =>
      joinListings(
        having('resources', (client) => client.listResourceTemplates(options)),
        (member, each) => ({ ...named(member, each), uriTemplate: memberUri(member, each.uriTemplate) }),
        fail,
      ),
    ...createGroupCalls(of),
    listen: (filter, options) => listenToAll(members, filter, options, fail),
    close,
    [Symbol.asyncDispose]: close,
  }
}

type MemberOf = (member: string, full: string) => Client

function createGroupCalls(of: MemberOf): Pick<Client, 'callTool' | 'readResource' | 'getPrompt' | 'complete'> {
  return {
    async callTool(full, args, options) {
      const { member, name } = splitName(full) ?? { member: '', name: '' }
      const result = await of(member, full).callTool(name, args, options)
      return { ...result, content: result.content.map((block) => memberContent(member, block)) }
    },
    async readResource(full, options) {
      const { member, uri } = splitUri(full) ?? { member: '', uri: '' }
      const result = await of(member, full).readResource(uri, options)
      const contents = result.contents.map((each) => ({ ...each, uri: memberUri(member, each.uri) }))
      return { ...result, contents }
    },
    async getPrompt(full, args, options) {
      const { member, name } = splitName(full) ?? { member: '', name: '' }
      const result = await of(member, full).getPrompt(name, args, options)
      const messages = result.messages.map((each) => ({ ...each, content: memberContent(member, each.content) }))
      return { ...result, messages }
    },
    async complete(params, options) {
      const { ref } = params
      if (ref.type === 'ref/prompt') {
        const { member, name } = splitName(ref.name) ?? { member: '', name: '' }
        return of(member, ref.name).complete({ ...params, ref: { ...ref, name } }, options)
      }
      const { member, uri } = splitUri(ref.uri) ?? { member: '', uri: '' }
      return of(member, ref.uri).complete({ ...params, ref: { ...ref, uri } }, options)
    },
  }
}

function listenToAll(
  members: Members,
  filter: SubscriptionFilter,
  options: ListenOptions | undefined,
  fail: (member: string, error: Error) => void,
) {
  const { resourceSubscriptions = [], ...lists } = filter
  const parts = members.map(([member, client]) => {
    const uris = resourceSubscriptions.flatMap((full) => {
      const split = splitUri(full)
      return split?.member === member ? [split.uri] : []
    })
    const own = uris.length === 0 ? lists : { ...lists, resourceSubscriptions: uris }
    return { member, source: client.listen(own, options) }
  })
  const rename = (member: string, change: Change): Change =>
    change.kind === 'resource' ? { kind: 'resource', uri: memberUri(member, change.uri) } : change
  // A server that tells of none of this is no failure of the group.
  return joinListenings(parts, rename, (member, error) => {
    if (!(error instanceof ConnectionError && error.reason === 'unsupported')) fail(member, error)
  })
}
