/** A custom extension: methods, a subscription and a tool option that the protocol does not have. */
import { defineMethod, defineSubscription, RpcError, type Server, type ServerExtension } from '@mcpx/server'
import { z } from 'zod'

declare module '@mcpx/server' {
  interface ExtensionToolOptions {
    /** The unit of the numbers that a tool returns. */
    unit?: string | undefined
  }
}

const NO_PAPER = -32050
const notes: string[] = []
const listeners = new Set<(note: string) => void>()

export const noteExtension: ServerExtension = {
  id: 'com.example/notes',
  settings: { maxLength: 100 },
  eras: ['modern', 'legacy'],
  methods: {
    'com.example/notes/list': defineMethod({ cacheable: true }, () => ({ notes, ttlMs: 1_000 })),
    'com.example/notes/add': defineMethod(
      { params: z.object({ text: z.string().max(100) }), requiresDeclaration: true, mayAsk: true },
      async ({ text }, ctx) => {
        if (notes.length >= 1_000) throw new RpcError(NO_PAPER, 'There is no paper left')
        if (text === '') {
          const answer = await ctx.elicit('text', {
            message: 'What should the note say?',
            schema: z.object({ text: z.string() }),
          })
          text = answer.content?.text ?? ''
        }
        notes.push(text)
        for (const listener of listeners) listener(text)
        return { resultType: 'com.example/saved', count: notes.length }
      },
    ),
  },
  resultTypes: { 'com.example/saved': ['com.example/notes/add'] },
  errorCodes: [NO_PAPER],
  notifications: ['notifications/com.example/note'],
  subscriptions: {
    notes: defineSubscription({ value: z.boolean(), requiresDeclaration: true }, (isWanted, { notify, ctx }) => {
      if (!isWanted || ctx.auth === undefined) return undefined
      const listener = (text: string) => void notify('notifications/com.example/note', { text })
      listeners.add(listener)
      return { acknowledged: true, close: () => void listeners.delete(listener) }
    }),
  },
  toolOptions: {
    unit: {
      check: (value) => (typeof value === 'string' ? undefined : 'expected a string'),
      define: (tool, unit) => ({ ...tool, _meta: { ...tool._meta, 'com.example/unit': unit } }),
    },
  },
  handler: {
    listResources: () => ({ resources: [{ uri: 'notes://all', name: 'notes', mimeType: 'text/plain' }] }),
    readResource: ({ uri }) => ({ contents: [{ uri, text: notes.join('\n') }] }),
    owns: (kind, name) => kind === 'resource' && name === 'notes://all',
  },
  install: (host) => ({
    middleware(request, ctx, next) {
      const { unit } = host.toolOptions(String(request.params.name), ctx) ?? {}
      if (unit !== undefined) ctx.log.debug(`the result is in ${unit}`)
      return next()
    },
  }),
}

export function addDistance(server: Server): void {
  server.tool('distance', { description: 'The distance to the moon', unit: 'km' }, (_, ctx) =>
    ctx.client.supports(noteExtension.id) ? '384400' : '384400 km',
  )
}
