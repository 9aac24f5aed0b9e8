/// <reference lib="esnext.disposable" preserve="true" />
/** Connects to several servers and uses them as one: `git.search` is the tool `search` of the server `git`. */

import {
  type Change,
  ConnectionError,
  type Connector,
  type ContentBlock,
  guarded,
  quoted,
  type ResourceTemplate,
  type Responder,
  type ServerCapabilities,
  type SubscriptionFilter,
} from '@mcpx/protocol'
import { checkString } from './calls.ts'
import { createChangeQueue, overflowError } from './change-queue.ts'
import type { Listening } from './change-stream.ts'
import type { Client, ClientCalls, ServerOf } from './client.ts'
import { connect } from './connect.ts'
import { type CallOptions, type ClientOptions, checkCallOptions, checkClientOptions } from './options.ts'
import type { Listing } from './pagination.ts'

type GroupMembers = Exclude<keyof ClientCalls, 'request'> | 'listen' | 'close'

/** Several clients as one. Names and URIs begin with the name of their server and a dot. */
export interface ClientGroup<Servers = Readonly<Record<string, unknown>>>
  extends Pick<Client, GroupMembers>,
    AsyncDisposable {
  /** The clients of the servers that could be connected to. */
  readonly clients: { readonly [Name in keyof Servers]?: Client<ServerOf<Servers[Name]>> }
  /** The errors of the other servers. */
  readonly failures: { readonly [Name in keyof Servers]?: Error }
}

/** The targets of `connectAll`, by the names of their servers. */
type Targets<Servers> = { readonly [Name in keyof Servers]: Connector | (Responder & Servers[Name]) }

/**
 * Connects to several servers at once. Servers that fail are warnings and left out; rejects with an `AggregateError` when all
 * of them fail.
 *
 * ```ts
 * await using all = await connectAll({ git: spawn('git-server'), mail: http('https://mail.example/mcp') })
 * await all.callTool('git.search', { query: 'fix' })
 * ```
 *
 * @throws RangeError for a name that cannot begin a URI
 */
export async function connectAll<Servers extends Readonly<Record<string, unknown>>>(
  targets: Targets<Servers>,
  options: ClientOptions = {},
): Promise<ClientGroup<Servers>> {
  checkClientOptions(options)
  const names = Object.keys(targets)
  names.forEach(checkServerName)
  const onWarning = guarded(options.onWarning)
  const clients: Record<string, Client> = {}
  const failures: Record<string, Error> = {}
  const results = await Promise.allSettled(names.map((name) => connect(targets[name] as Connector, options)))
  results.forEach((result, index) => {
    const name = names[index] as string
    if (result.status === 'fulfilled') {
      clients[name] = result.value
      return
    }
    failures[name] = result.reason
    onWarning(new Error(`The server ${quoted(name)} could not be connected to`, { cause: result.reason }))
  })
  if (names.length > 0 && Object.keys(clients).length === 0) throw noServerError(failures)
  // The types of the clients follow from the type parameter.
  return { clients, failures, ...createGroup(clients, onWarning) } as ClientGroup as ClientGroup<Servers>
}

function noServerError(failures: Readonly<Record<string, Error>>): AggregateError {
  const reasons = Object.entries(failures).map(([name, error]) => `${quoted(name)}: ${error.message}`)
  return new AggregateError(Object.values(failures), `No server could be connected to. ${reasons.join('; ')}`)
}

/** A client and the name of its server. */
interface Member {
  readonly name: string
  readonly client: Client
}

function createGroup(
  clients: Readonly<Record<string, Client>>,
  onWarning: (warning: Error) => void,
): Pick<Client, GroupMembers> & AsyncDisposable {
  const members = Object.entries(clients).map(([name, client]): Member => ({ name, client }))

  function memberOf(name: string, full: string): Client {
    const client = members.find((member) => member.name === name)?.client
    if (client !== undefined) return client
    const hint = `Names begin with one of ${members.map((member) => `${member.name}.`).join(', ')}`
    throw new ConnectionError('unsupported', `No server of this group has ${quoted(full)}`, { hint })
  }

  /** A server that fails does not end the lists and streams of the others. */
  function handleFailure({ name }: Member, error: unknown): void {
    onWarning(new Error(`The server ${quoted(name)} failed`, { cause: error }))
  }

  function join<Item>(
    capability: keyof ServerCapabilities,
    options: CallOptions = {},
    list: (client: Client) => Listing<Item>,
    rename: (member: string, item: Item) => Item,
  ): Listing<Item> {
    checkCallOptions(`${capability} of a group`, options)
    const able = members.filter(({ client }) => client.server.capabilities[capability] !== undefined)
    return joinListings(able, list, rename, (member, error) => {
      if (options.signal?.aborted) throw error
      handleFailure(member, error)
    })
  }

  async function close(): Promise<void> {
    await Promise.all(members.map(({ client }) => client.close()))
  }

  return {
    listTools: (options) => join('tools', options, (client) => client.listTools(options), withName),
    listPrompts: (options) => join('prompts', options, (client) => client.listPrompts(options), withName),
    listResources: (options) => join('resources', options, (client) => client.listResources(options), withNameAndUri),
    listResourceTemplates: (options) =>
      join('resources', options, (client) => client.listResourceTemplates(options), withNameAndTemplate),
    async callTool(full, args, options) {
      checkString('callTool(name, args)', full)
      const { member, name } = splitName(full)
      const result = await memberOf(member, full).callTool(name, args, options)
      return { ...result, content: result.content.map((block) => withUri(member, block)) }
    },
    async readResource(full, options) {
      checkString('readResource(uri)', full)
      const { member, uri } = splitUri(full)
      const result = await memberOf(member, full).readResource(uri, options)
      return { ...result, contents: result.contents.map((each) => ({ ...each, uri: groupUri(member, each.uri) })) }
    },
    async getPrompt(full, args, options) {
      checkString('getPrompt(name, args)', full)
      const { member, name } = splitName(full)
      const result = await memberOf(member, full).getPrompt(name, args, options)
      return {
        ...result,
        messages: result.messages.map((each) => ({ ...each, content: withUri(member, each.content) })),
      }
    },
    async complete(params, options) {
      const { ref } = params
      if (ref.type === 'ref/prompt') {
        const { member, name } = splitName(ref.name)
        return memberOf(member, ref.name).complete({ ...params, ref: { ...ref, name } }, options)
      }
      const { member, uri } = splitUri(ref.uri)
      return memberOf(member, ref.uri).complete({ ...params, ref: { ...ref, uri } }, options)
    },
    listen(filter, options) {
      const streams = members.map((member) => ({
        member,
        stream: member.client.listen(filterOf(member.name, filter), options),
      }))
      return joinStreams(streams, (member, error) => {
        // A server that announces none of these changes has not failed.
        const isUnsupported = error instanceof ConnectionError && error.reason === 'unsupported'
        if (!isUnsupported) handleFailure(member, error)
      })
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

// Lists

function joinListings<Item>(
  members: readonly Member[],
  list: (client: Client) => Listing<Item>,
  rename: (member: string, item: Item) => Item,
  onFailure: (member: Member, error: unknown) => void,
): Listing<Item> {
  async function* pages(): AsyncGenerator<readonly Item[]> {
    for (const member of members) {
      try {
        for await (const page of list(member.client).pages()) yield page.map((item) => rename(member.name, item))
      } catch (error) {
        onFailure(member, error)
      }
    }
  }

  async function allOf(member: Member): Promise<Item[]> {
    try {
      return (await list(member.client).all()).map((item) => rename(member.name, item))
    } catch (error) {
      onFailure(member, error)
      return []
    }
  }

  return {
    pages,
    all: async () => (await Promise.all(members.map(allOf))).flat(),
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* page
    },
  }
}

// Changes

interface MemberStream {
  readonly member: Member
  readonly stream: Listening
}

/** Joins streams to one that ends when all of them have ended. */
function joinStreams(streams: readonly MemberStream[], onFailure: (member: Member, error: unknown) => void): Listening {
  const queue = createChangeQueue()
  const close = () => {
    for (const { stream } of streams) stream.close()
  }
  const read = async ({ member, stream }: MemberStream) => {
    try {
      for await (const change of stream) {
        if (queue.push(groupChange(member.name, change))) continue
        queue.end(overflowError())
        close()
      }
    } catch (error) {
      onFailure(member, error)
    }
  }
  void Promise.all(streams.map(read)).then(() => queue.end())
  const ready = joinFollowed(streams)
  ready.catch(() => {})

  return {
    ready,
    close,
    next: () => queue.next(),
    async return() {
      close()
      queue.end()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Resolves to everything that the servers follow. Rejects when that is nothing. */
async function joinFollowed(streams: readonly MemberStream[]): Promise<SubscriptionFilter> {
  const results = await Promise.allSettled(streams.map(({ stream }) => stream.ready))
  const followed: SubscriptionFilter = {}
  results.forEach((result, index) => {
    if (result.status === 'rejected') return
    const { resourceSubscriptions = [], ...lists } = result.value
    Object.assign(followed, lists)
    const name = streams[index]?.member.name ?? ''
    const uris = resourceSubscriptions.map((uri) => groupUri(name, uri))
    if (uris.length > 0) followed.resourceSubscriptions = [...(followed.resourceSubscriptions ?? []), ...uris]
  })
  if (Object.keys(followed).length > 0) return followed
  throw new ConnectionError('unsupported', 'No server announces a change that was asked for')
}

/** Returns the part of a filter that concerns one server. */
function filterOf(member: string, { resourceSubscriptions = [], ...lists }: SubscriptionFilter): SubscriptionFilter {
  const uris = resourceSubscriptions.map(splitUri).filter((each) => each.member === member)
  return uris.length === 0 ? lists : { ...lists, resourceSubscriptions: uris.map(({ uri }) => uri) }
}

function groupChange(member: string, change: Change): Change {
  return change.kind === 'resource' ? { kind: 'resource', uri: groupUri(member, change.uri) } : change
}

// Names: that of the server, a dot, and the own name

/** URI schemes that hosts recognize; they stay, and the name of the server becomes the first segment of the path. */
const KNOWN_SCHEMES = ['ui://', 'skill://']

/** `config://app` of `git` becomes `git.config://app`, and `ui://view` becomes `ui://git/view`. */
function groupUri(member: string, uri: string): string {
  const scheme = KNOWN_SCHEMES.find((each) => uri.startsWith(each))
  return scheme === undefined ? `${member}.${uri}` : `${scheme}${member}/${uri.slice(scheme.length)}`
}

/** Returns the server of a URI, and the URI at that server. The server is an empty string for a URI of no server. */
function splitUri(full: string): { member: string; uri: string } {
  const scheme = KNOWN_SCHEMES.find((each) => full.startsWith(each))
  if (scheme === undefined) {
    const { member, name } = splitName(full)
    return { member, uri: name }
  }
  const end = full.indexOf('/', scheme.length)
  if (end < 0) return { member: '', uri: '' }
  return { member: full.slice(scheme.length, end), uri: scheme + full.slice(end + 1) }
}

function splitName(full: string): { member: string; name: string } {
  const dot = full.indexOf('.')
  return dot < 1 ? { member: '', name: '' } : { member: full.slice(0, dot), name: full.slice(dot + 1) }
}

function withName<Item extends { readonly name: string }>(member: string, item: Item): Item {
  return { ...item, name: `${member}.${item.name}` }
}

function withNameAndUri<Item extends { readonly name: string; readonly uri: string }>(
  member: string,
  item: Item,
): Item {
  return { ...withName(member, item), uri: groupUri(member, item.uri) }
}

function withNameAndTemplate(member: string, template: ResourceTemplate): ResourceTemplate {
  return { ...withName(member, template), uriTemplate: groupUri(member, template.uriTemplate) }
}

/** Renames the URI of a resource or of a link to one. */
function withUri<Block extends ContentBlock>(member: string, block: Block): Block {
  if (block.type === 'resource_link') return { ...block, uri: groupUri(member, block.uri) }
  if (block.type !== 'resource') return block
  return { ...block, resource: { ...block.resource, uri: groupUri(member, block.resource.uri) } }
}

/** Throws for a name that cannot begin both a name and a URI scheme. */
function checkServerName(name: string): void {
  if (/^[A-Za-z][A-Za-z0-9-]*$/.test(name)) return
  const expected = 'expected a letter, then letters, digits and hyphens, such as "git"'
  throw new RangeError(`connectAll: ${quoted(name)} cannot begin names and URIs; ${expected}`)
}
