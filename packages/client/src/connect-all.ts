/// <reference lib="esnext.disposable" preserve="true" />
/** Connects to several servers and combines their items: `git_search` is the tool `search` of the server `git`. */

import {
  type CallToolResult,
  type Change,
  ConnectionError,
  type Connector,
  type ContentBlock,
  guarded,
  isObject,
  type JsonObject,
  kindOf,
  quoted,
  type Responder,
  refuseUnknownOption,
  type ServerCapabilities,
  type SubscriptionFilter,
} from '@mcpx/protocol'
import { checkString } from './calls.ts'
import { createChangeQueue, overflowError } from './change-queue.ts'
import type { Listening } from './change-stream.ts'
import type { Client, ClientCalls, ServerOf } from './client.ts'
import { connectAs, settingsError } from './connect.ts'
import {
  checkSeparator,
  checkServerName,
  GroupNames,
  groupUri,
  type MemberName,
  schemeOf,
  splitUri,
} from './group-names.ts'
import {
  type CallOptions,
  type ClientOptions,
  checkCallOptions,
  checkClientOptions,
  checkGroupOptions,
  type GroupOptions,
  type HandleCallOptions,
  type ToolCallOptions,
} from './options.ts'
import type { Listing } from './pagination.ts'
import type { TaskHandle } from './tasks.ts'

/** The methods of a group. */
type GroupCalls = Omit<ClientCalls, 'request'> & Pick<Client, 'listen' | 'close'>

/**
 * Several clients with one interface. The names of tools and prompts begin with the name of their server and the
 * separator. URIs begin with the name of their server and a dot.
 */
export interface ClientGroup<Servers = Readonly<Record<string, unknown>>> extends GroupCalls, AsyncDisposable {
  /** The clients of the servers to which a connection was opened. */
  readonly clients: { readonly [Name in keyof Servers]?: Client<ServerOf<Servers[Name]>> }
  /** The errors of the servers to which no connection could be opened. */
  readonly failures: { readonly [Name in keyof Servers]?: Error }
}

/** The targets of `connectAll`, by the names of their servers. */
type Targets<Servers> = { readonly [Name in keyof Servers]: Connector | (Responder & Servers[Name]) }

/**
 * Connects to several servers at once. Servers that fail are left out and reported to `onWarning`. Rejects with an
 * `AggregateError` if all of them fail.
 *
 * ```ts
 * await using all = await connectAll({ git: spawn('git-server'), mail: http('https://mail.example/mcp') })
 * await all.callTool('git_search', { query: 'fix' })
 * ```
 *
 * @throws RangeError if a name of a server cannot be the beginning of a URI
 * @throws TypeError for an unknown option
 */
export async function connectAll<Servers extends Readonly<Record<string, unknown>>>(
  targets: Targets<Servers>,
  options: GroupOptions<NoInfer<keyof Servers & string>> = {},
): Promise<ClientGroup<Servers>> {
  const { separator = '_', servers, ...shared } = options
  checkTargets(targets)
  const names = Object.keys(targets)
  checkGroupOptions(options)
  checkClientOptions(shared)
  checkSeparator(separator)
  for (const name of names) checkServerName('connectAll', name)
  refuseUnknownOption('connectAll: servers', servers ?? {}, names)
  const own = new Map(Object.entries<ClientOptions | undefined>(servers ?? {}))
  const onWarning = guarded(options.onWarning)
  const clients: Record<string, Client> = {}
  const failures: Record<string, Error> = {}
  const optionsOf = (name: string): ClientOptions => ({ ...shared, ...own.get(name) })
  for (const name of names) checkClientOptions(own.get(name) ?? {}, `connectAll: servers.${name}`)
  const results = await Promise.allSettled(
    names.map((name) => connectAs(name, targets[name] as Connector, optionsOf(name))),
  )
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
  return { clients, failures, ...createGroup(clients, separator, onWarning) } as ClientGroup as ClientGroup<Servers>
}

/** Throws for settings, for one connector, and for values that are not objects. */
function checkTargets(targets: unknown): void {
  const expected = 'connectAll: expected an object of connectors by the names of their servers'
  if (!isObject(targets)) throw new TypeError(`${expected}, got ${kindOf(targets)}`)
  if ('mcpServers' in targets) throw settingsError('connectAll')
  if (typeof targets.connect === 'function' || typeof targets.respond === 'function') {
    throw new TypeError(`${expected}, got one connector; write connectAll({ git: connector })`)
  }
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
  separator: string,
  onWarning: (warning: Error) => void,
): GroupCalls & AsyncDisposable {
  const members = Object.entries(clients).map(([name, client]): Member => ({ name, client }))
  const memberNames = members.map(({ name }) => name)
  const tools = createNames(memberNames, separator, (member, options) => clientOf(member).listTools(options))
  const prompts = createNames(memberNames, separator, (member, options) => clientOf(member).listPrompts(options))

  function clientOf(member: string): Client {
    return clients[member] as Client
  }

  /** Returns the server that a URI belongs to. Throws if the URI does not begin with the name of a server. */
  function ownerOfUri(full: string): ReturnType<typeof splitUri> {
    const owner = splitUri(full)
    const beginnings = memberNames.map((name) => `${schemeOf(name)}.`)
    if (!memberNames.includes(owner.member)) throw noSuchServer(full, beginnings)
    return owner
  }

  /** Reports the failure of one server. The lists and streams of the other servers continue. */
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

  /** Renames a resource or a template. The length of the name is not limited, because it is only displayed. */
  function withName<Item extends { readonly name: string }>(member: string, item: Item): Item {
    return { ...item, name: `${member}${separator}${item.name}` }
  }

  return {
    listTools: (options) => join('tools', options, (client) => client.listTools(options), tools.rename),
    listPrompts: (options) => join('prompts', options, (client) => client.listPrompts(options), prompts.rename),
    listResources: (options) =>
      join(
        'resources',
        options,
        (client) => client.listResources(options),
        (member, resource) => ({ ...withName(member, resource), uri: groupUri(member, resource.uri) }),
      ),
    listResourceTemplates: (options) =>
      join(
        'resources',
        options,
        (client) => client.listResourceTemplates(options),
        (member, template) => ({
          ...withName(member, template),
          uriTemplate: groupUri(member, template.uriTemplate),
        }),
      ),
    callTool: (async (full: string, args?: JsonObject, options?: ToolCallOptions) => {
      checkString('callTool(name, args)', full)
      const { member, name } = await tools.ownerOf(full, options)
      const rename = (result: CallToolResult): CallToolResult => ({
        ...result,
        content: result.content.map((block) => withUri(member, block)),
      })
      if (options?.task === undefined) return rename(await clientOf(member).callTool(name, args, options))
      const handle = await clientOf(member).callTool(name, args, options as HandleCallOptions)
      return { ...handle, result: async (own) => rename(await handle.result(own)) } satisfies TaskHandle
    }) as GroupCalls['callTool'],
    async readResource(full, options) {
      checkString('readResource(uri)', full)
      const { member, uri } = ownerOfUri(full)
      const result = await clientOf(member).readResource(uri, options)
      return { ...result, contents: result.contents.map((each) => ({ ...each, uri: groupUri(member, each.uri) })) }
    },
    async getPrompt(full, args, options) {
      checkString('getPrompt(name, args)', full)
      const { member, name } = await prompts.ownerOf(full, options)
      const result = await clientOf(member).getPrompt(name, args, options)
      return {
        ...result,
        messages: result.messages.map((each) => ({ ...each, content: withUri(member, each.content) })),
      }
    },
    async complete(params, options) {
      const { ref } = params
      if (ref.type === 'ref/prompt') {
        const { member, name } = await prompts.ownerOf(ref.name, options)
        return clientOf(member).complete({ ...params, ref: { ...ref, name } }, options)
      }
      const { member, uri } = ownerOfUri(ref.uri)
      return clientOf(member).complete({ ...params, ref: { ...ref, uri } }, options)
    },
    listen(filter, options) {
      const streams = members.map((member) => ({
        member,
        stream: member.client.listen(filterOf(member.name, filter), options),
      }))
      return joinStreams(streams, (member, error) => {
        // A server that does not support any of these changes has not failed.
        const isUnsupported = error instanceof ConnectionError && error.reason === 'unsupported'
        if (!isUnsupported) handleFailure(member, error)
      })
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

// Names

/** Creates the names of the tools or of the prompts of the group. */
function createNames(
  memberNames: readonly string[],
  separator: string,
  list: (member: string, options: CallOptions) => Listing<{ readonly name: string }>,
) {
  const names = new GroupNames(memberNames, separator)
  const listed = new Set<string>()

  async function learn(member: string, options: CallOptions): Promise<void> {
    if (listed.has(member)) return
    try {
      for (const { name } of await list(member, options).all()) names.add(member, name)
      listed.add(member)
    } catch {
      // Ignore the error, because the call that needs the name fails for the same reason.
    }
  }

  return {
    rename: <Item extends { readonly name: string }>(member: string, item: Item): Item => ({
      ...item,
      name: names.add(member, item.name),
    }),
    /**
     * Returns the server that a name belongs to. If the name was not listed yet, lists the servers that may have it,
     * once. Also lists servers whose names may conflict with it, because conflicting names are changed. Throws if
     * the name does not begin with the name of a server.
     */
    async ownerOf(full: string, { signal, timeout }: CallOptions = {}): Promise<MemberName> {
      const known = names.find(full)
      if (known !== undefined) return known
      for (const member of names.membersInConflict(full)) await learn(member, { signal, timeout })
      const owner = names.find(full) ?? names.guess(full)[0]
      if (owner !== undefined) return owner
      throw noSuchServer(
        full,
        memberNames.map((name) => `${name}${separator}`),
      )
    },
  }
}

function noSuchServer(full: string, beginnings: readonly string[]): ConnectionError {
  const hint = `Names begin with one of ${beginnings.join(', ')}`
  return new ConnectionError('unsupported', `No server of this group has ${quoted(full)}`, { hint })
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

  async function allOf(member: Member): Promise<readonly Item[]> {
    try {
      return await list(member.client).all()
    } catch (error) {
      onFailure(member, error)
      return []
    }
  }

  return {
    pages,
    async all() {
      const items = await Promise.all(members.map(allOf))
      return members.flatMap(({ name }, index) => (items[index] ?? []).map((item) => rename(name, item)))
    },
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

/** Combines streams into one stream, which ends when all of them have ended. */
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

/** Resolves to the combination of all confirmed filters. Rejects if no server has confirmed a filter. */
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

/** Returns the part of a filter that belongs to one server. */
function filterOf(member: string, { resourceSubscriptions = [], ...lists }: SubscriptionFilter): SubscriptionFilter {
  const uris = resourceSubscriptions.map(splitUri).filter((each) => each.member === member)
  return uris.length === 0 ? lists : { ...lists, resourceSubscriptions: uris.map(({ uri }) => uri) }
}

function groupChange(member: string, change: Change): Change {
  return change.kind === 'resource' ? { kind: 'resource', uri: groupUri(member, change.uri) } : change
}

/** Renames the URI of an embedded resource or of a link to a resource. */
function withUri<Block extends ContentBlock>(member: string, block: Block): Block {
  if (block.type === 'resource_link') return { ...block, uri: groupUri(member, block.uri) }
  if (block.type !== 'resource') return block
  return { ...block, resource: { ...block.resource, uri: groupUri(member, block.resource.uri) } }
}
