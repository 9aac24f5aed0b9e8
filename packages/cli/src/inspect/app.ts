/** The HTTP interface of `mcpx inspect`: the page, its calls, and the stream of events. */

import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isObject } from '@mcpx/protocol'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { InspectEvent, PageCall } from './api.ts'
import type { Inspection } from './inspection.ts'

/** The longest body of a call, in bytes. */
const MAX_BODY = 16 * 1024 * 1024
/**
 * How many events may wait for a page that reads slowly. Above this number, messages are left out, and only the newest
 * progress of each call and one change of each kind are kept.
 */
const MAX_WAITING = 5_000
/** After this time without an event, a comment is sent, in ms. */
const KEEP_ALIVE = 15_000

/** The files of the page and their types. */
const FILES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'page.mjs': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
}

/** The options of `createApp`. */
export interface AppOptions {
  readonly inspection: Inspection
  /** The secret part of the address. */
  readonly token: string
  /** The secret part of an address that opens the page once. */
  readonly entrance: string
  /** The origin of the page, such as `http://127.0.0.1:6200`. */
  readonly origin: string
  /** The origin of the documents of views. */
  readonly viewOrigin: string
  /** The folder with the files of the page. */
  readonly folder: URL
}

/** Creates the app of the page. All its addresses are below the token. */
export function createApp(options: AppOptions): Hono {
  const { inspection, token, folder } = options
  const app = new Hono()
  app.use(createGuard(options))
  app.get(`/:token/`, (context) => sendFile(context, folder, 'index.html'))
  app.get('/:token/events', () => streamEvents(inspection))
  app.get('/:token/messages/:number', (context) => {
    const text = inspection.log.textOf(Number(context.req.param('number')))
    if (text === undefined) return context.text('The message is no longer kept', 404)
    return context.body(text, 200, { 'content-type': 'application/json' })
  })
  app.post('/:token/calls', bodyLimit({ maxSize: MAX_BODY }), async (context) => {
    const call = await readCall(context, inspection)
    if (typeof call === 'string') return context.text(call, 400)
    // Respond before the result is known, because a browser has few connections. The result is sent as an event.
    void inspection.run(call)
    return context.body(null, 202)
  })
  app.get('/:token/:file', (context) => sendFile(context, folder, context.req.param('file')))
  app.get(`/${token}`, (context) => context.redirect(`/${token}/`))
  return app
}

/** Adds the security headers, and refuses requests of other pages and requests without the token. */
function createGuard({ token, entrance, origin, viewOrigin }: AppOptions): MiddlewareHandler {
  let isEntered = false
  const { host } = new URL(origin)
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    'media-src data:',
    "connect-src 'self'",
    `frame-src ${viewOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')
  return async (context, next) => {
    context.header('content-security-policy', policy)
    context.header('cross-origin-opener-policy', 'same-origin')
    context.header('cross-origin-resource-policy', 'same-origin')
    context.header('referrer-policy', 'no-referrer')
    context.header('x-content-type-options', 'nosniff')
    context.header('x-frame-options', 'DENY')
    context.header('cache-control', 'no-store')
    // Another site whose name resolves to this machine sends its own name (DNS rebinding).
    if (context.req.header('host') !== host) return context.text(`Host: expected ${host}`, 421)
    const sender = context.req.header('origin')
    const isPost = context.req.method !== 'GET'
    if (isPost ? sender !== origin : sender !== undefined && sender !== origin)
      return context.text('Origin: requests of other pages are refused', 403)
    const site = context.req.header('sec-fetch-site')
    const isVisit =
      context.req.header('sec-fetch-mode') === 'navigate' && context.req.header('sec-fetch-dest') === 'document'
    if (!isVisit && site !== undefined && site !== 'same-origin' && site !== 'none')
      return context.text('Sec-Fetch-Site: requests of other pages are refused', 403)
    const [, given = ''] = context.req.path.split('/')
    if (!isEntered && isSameSecret(given, entrance)) {
      isEntered = true
      return context.redirect(`/${token}/`, 303)
    }
    if (!isSameSecret(given, token)) return context.text('Open the address that mcpx inspect has printed', 404)
    return next()
  }
}

/** Compares secrets in constant time. */
function isSameSecret(one: string, other: string): boolean {
  const digestOf = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digestOf(one), digestOf(other))
}

async function sendFile(context: Context, folder: URL, name: string): Promise<Response> {
  const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined
  if (type === undefined) return context.text('Not found', 404)
  try {
    return context.body(await readFile(new URL(name, folder), 'utf8'), 200, { 'content-type': type })
  } catch {
    return context.text('The page has not been built: run "npm run build" in the repository', 500)
  }
}

/** Returns the call, or a sentence that says why it is invalid. */
async function readCall(context: Context, inspection: Inspection): Promise<PageCall | string> {
  const body: unknown = await context.req.json().catch(() => undefined)
  if (!isObject(body)) return 'body: expected an object of JSON'
  const { id, method, params } = body as Record<string, unknown>
  if (typeof id !== 'string' || id.length > 100) return 'id: expected a string of at most 100 characters'
  if (!inspection.hasMethod(method)) return `method: ${JSON.stringify(method)} does not exist`
  if (!isObject(params)) return 'params: expected an object'
  return { id, method, params }
}

/** Sends events as server-sent events until the page closes the stream. */
function streamEvents(inspection: Inspection): Response {
  const encoder = new TextEncoder()
  let hasGap = false
  /** The events that are kept for a page that reads slowly. */
  const newest = new Map<string, InspectEvent>()
  let stop: () => void = () => {}
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const write = (text: string) => controller.enqueue(encoder.encode(text))
        const timer = setInterval(() => write(':\n\n'), KEEP_ALIVE)
        const stopObserving = inspection.observe((event: InspectEvent) => {
          const isBehind = hasGap || (controller.desiredSize ?? 0) < -MAX_WAITING
          if (isBehind && event.type === 'message') hasGap = true
          else if (isBehind && event.type === 'progress') newest.set(`progress ${event.id}`, event)
          else if (isBehind && event.type === 'change') newest.set(JSON.stringify(event.change), event)
          else write(eventText(event))
        })
        stop = () => {
          clearInterval(timer)
          stopObserving()
        }
      },
      pull(controller) {
        for (const event of newest.values()) controller.enqueue(encoder.encode(eventText(event)))
        newest.clear()
        if (!hasGap) return
        hasGap = false
        controller.enqueue(encoder.encode(eventText({ type: 'log', messages: inspection.log.messages })))
      },
      cancel: () => stop(),
    },
    // The queue counts events, not bytes.
    { highWaterMark: 1 },
  )
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
}

function eventText(event: InspectEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`
}
