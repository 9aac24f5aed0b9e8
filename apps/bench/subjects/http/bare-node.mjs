// The baseline on Node uses only node:http. Its sessions are only ids.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { answer, event, eventHeaders, progressText, resultOf } from '../parts/bare.mjs'
import { asEvents, host, port, ready } from '../parts/listening.mjs'

const sessions = new Map()

createServer((request, response) => {
  if (request.method === 'GET') return response.writeHead(200, eventHeaders).write(': open\n\n')
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
    respond(JSON.parse(body.toString()), response)
  })
}).listen(port, host, ready)

function respond(message, response) {
  if (message.params?.name === 'count') return stream(message, response)
  const result = resultOf(message)
  if (result === undefined) return response.writeHead(202).end()
  const text = answer(message.id, result)
  const headers = message.method === 'initialize' ? { 'mcp-session-id': open(message.params.clientInfo) } : {}
  if (asEvents) return response.writeHead(200, { ...eventHeaders, ...headers }).end(event(text))
  headers['content-type'] = 'application/json'
  headers['content-length'] = Buffer.byteLength(text)
  response.writeHead(200, headers).end(text)
}

function open(clientInfo) {
  const id = randomUUID()
  sessions.set(id, { clientInfo })
  return id
}

async function stream(message, response) {
  response.writeHead(200, eventHeaders)
  const result = await resultOf(message, async (progress, total) => {
    if (!response.write(event(progressText(message, progress, total)))) await once(response, 'drain')
  })
  response.end(event(answer(message.id, result)))
}
