/** Shows the content of results: text, images, audio, resources and structured content. */

import type { ContentBlock } from '@mcpx/client'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { plainText } from '../../output/plain-text.ts'
import { Badge, formatSize, LongText, Segments } from './elements.tsx'
import { hrefOf } from './hooks.ts'
import { JsonTree } from './json-tree.tsx'
import { Markdown } from './markdown.tsx'

/** The contents of a resource, as text or in Base64. */
export interface ResourceContents {
  readonly uri: string
  readonly mimeType?: string | undefined
  readonly text?: string | undefined
  readonly blob?: string | undefined
}

/** Shows content blocks. Leaves out a text block that repeats the structured content as JSON. */
export function ContentBlocks({
  blocks,
  structured,
}: {
  readonly blocks: readonly ContentBlock[]
  readonly structured?: unknown
}): VNode {
  const shown = blocks.filter((block) => !(block.type === 'text' && repeats(block.text, structured)))
  return (
    <div class="blocks">
      {structured !== undefined && (
        <section class="block">
          <BlockTitle title="Structured content" />
          <JsonTree value={structured} />
        </section>
      )}
      {shown.map((block, index) => (
        <Block key={index} block={block} />
      ))}
      {shown.length === 0 && structured === undefined && <p class="note">The result has no content.</p>}
    </div>
  )
}

/** A message of a conversation. */
export function ChatMessage({
  role,
  blocks,
}: {
  readonly role: string
  readonly blocks: readonly ContentBlock[]
}): VNode {
  return (
    <div class={`chat ${role === 'assistant' ? 'assistant' : 'user'}`}>
      <p class="chat-role">{plainText(role)}</p>
      {blocks.map((block, index) => (
        <Block key={index} block={block} />
      ))}
    </div>
  )
}

/** One block of content. */
function Block({ block }: { readonly block: ContentBlock }): VNode {
  switch (block.type) {
    case 'text':
      return <TextBlock text={block.text} title="Text" />
    case 'image':
    case 'audio':
      return <Bytes title={block.type} data={block.data} mimeType={block.mimeType} />
    case 'resource':
      return <Contents contents={block.resource} />
    case 'resource_link':
      return (
        <section class="block">
          <BlockTitle title="Link to a resource" detail={block.mimeType} />
          <p>
            <a href={hrefOf('resources', block.uri)}>{plainText(block.title ?? block.name)}</a>{' '}
            <code>{plainText(block.uri)}</code>
          </p>
        </section>
      )
    default:
      return (
        <section class="block">
          <BlockTitle title="Content" />
          <JsonTree value={block} />
        </section>
      )
  }
}

/** The contents of a resource. */
export function Contents({ contents }: { readonly contents: ResourceContents }): VNode {
  const { uri, mimeType, text, blob } = contents
  if (text !== undefined) return <TextBlock title={uri} text={text} mimeType={mimeType} />
  return <Bytes title={uri} data={blob ?? ''} mimeType={mimeType ?? 'application/octet-stream'} />
}

type TextLook = 'text' | 'markdown' | 'tree'

function TextBlock(props: {
  readonly title: string
  readonly text: string
  readonly mimeType?: string | undefined
}): VNode {
  const { title, text, mimeType } = props
  const json = parseJson(text)
  const [chosen, setChosen] = useState<TextLook>()
  const usual = json !== undefined ? 'tree' : /^text\/(?:x-)?markdown\b/i.test(mimeType ?? '') ? 'markdown' : 'text'
  const look = chosen ?? usual
  const looks: [TextLook, string][] = [
    ['text', 'Text'],
    json === undefined ? ['markdown', 'Markdown'] : ['tree', 'JSON'],
  ]
  return (
    <section class="block">
      <BlockTitle title={title} detail={mimeType}>
        <Segments label="Show as" options={looks} value={look} onChange={setChosen} />
      </BlockTitle>
      {look === 'markdown' ? (
        <Markdown text={text} />
      ) : look === 'tree' ? (
        <JsonTree value={json} />
      ) : (
        <LongText text={text} />
      )}
    </section>
  )
}

/** The image types that are shown. Browsers do not run scripts in images, not even in SVG. */
const IMAGE = /^image\/(?:png|jpe?g|gif|webp|avif|bmp|svg\+xml)$/i
const AUDIO = /^audio\/[\w.+-]+$/i

function Bytes({
  title,
  data,
  mimeType,
}: {
  readonly title: string
  readonly data: string
  readonly mimeType: string
}): VNode {
  const [isBroken, setIsBroken] = useState(false)
  const size = formatSize(Math.floor((data.length * 3) / 4))
  const url = `data:${mimeType};base64,${data}`
  const isImage = IMAGE.test(mimeType) && !isBroken
  return (
    <section class="block">
      <BlockTitle title={title} detail={`${mimeType}, ${size}`} />
      {isImage && <img src={url} alt={`${title} from the server`} onError={() => setIsBroken(true)} />}
      {isBroken && <p class="note">The browser cannot show this image. Its bytes are not valid {mimeType}.</p>}
      {/* biome-ignore lint/a11y/useMediaCaption: a server sends no captions */}
      {AUDIO.test(mimeType) && <audio controls src={url} aria-label={title} />}
      {!IMAGE.test(mimeType) && !AUDIO.test(mimeType) && <p class="note">Binary content</p>}
    </section>
  )
}

function BlockTitle(props: {
  readonly title: string
  readonly detail?: string | undefined
  readonly children?: VNode
}): VNode {
  const { title, detail, children } = props
  return (
    <div class="block-title">
      <h3>{plainText(title)}</h3>
      {detail && <Badge>{plainText(detail)}</Badge>}
      {children}
    </div>
  )
}

function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text) || text.length > 5_000_000) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function repeats(text: string, structured: unknown): boolean {
  if (structured === undefined) return false
  const json = parseJson(text)
  return json !== undefined && JSON.stringify(json) === JSON.stringify(structured)
}
