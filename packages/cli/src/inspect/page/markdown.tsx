/** Shows Markdown of a server. Shows HTML as text, requests no images, and supports only links to web pages. */

import { lexer, type Token, type Tokens } from 'marked'
import type { ComponentChildren, VNode } from 'preact'
import { plainText } from '../../output/plain-text.ts'
import { LongText } from './elements.tsx'

/** Longer text is shown without formatting. */
const MAX_LENGTH = 200_000
/** Deeper structures are shown as text. */
const MAX_DEPTH = 20

/** Markdown as elements. No HTML is parsed. */
export function Markdown({ text }: { readonly text: string }): VNode {
  if (text.length > MAX_LENGTH) return <LongText text={text} />
  try {
    return <div class="markdown">{renderTokens(lexer(text), 0)}</div>
  } catch {
    return <LongText text={text} />
  }
}

function renderTokens(tokens: readonly Token[] | undefined, depth: number): ComponentChildren {
  return tokens?.map((token) => (depth > MAX_DEPTH ? token.raw : renderToken(token as Tokens.Generic, depth + 1)))
}

function renderToken(token: Tokens.Generic, depth: number): ComponentChildren {
  const inner = () => renderTokens(token.tokens, depth)
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading': {
      // Use lower levels, because the page has its own headings.
      const Heading = `h${Math.min(6, Number(token.depth) + 2)}` as 'h3'
      return <Heading>{inner()}</Heading>
    }
    case 'paragraph':
      return <p>{inner()}</p>
    case 'strong':
      return <strong>{inner()}</strong>
    case 'em':
      return <em>{inner()}</em>
    case 'del':
      return <del>{inner()}</del>
    case 'codespan':
      return <code>{plainText(String(token.text))}</code>
    case 'code':
      return (
        <pre class="text" tabIndex={0}>
          {plainText(String(token.text))}
        </pre>
      )
    case 'blockquote':
      return <blockquote>{inner()}</blockquote>
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'checkbox':
      return <input type="checkbox" checked={token.checked === true} disabled aria-label="done" />
    case 'list':
      return renderList(token as unknown as Tokens.List, depth)
    case 'table':
      return renderTable(token as unknown as Tokens.Table, depth)
    case 'link':
      return <SafeLink href={String(token.href)}>{inner()}</SafeLink>
    case 'image':
      return <SafeImage href={String(token.href)} text={String(token.text)} />
    case 'text':
    case 'escape':
      return token.tokens === undefined ? plainText(unescapeEntities(String(token.text))) : inner()
    default:
      // HTML and unknown tokens are shown as text.
      return plainText(token.raw)
  }
}

function renderList({ ordered, start, items }: Tokens.List, depth: number): VNode {
  const children = items.map((item) => <li>{renderTokens(item.tokens, depth)}</li>)
  return ordered ? <ol start={Number(start) || 1}>{children}</ol> : <ul>{children}</ul>
}

function renderTable({ header, rows }: Tokens.Table, depth: number): VNode {
  return (
    <section class="table" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell) => (
              <th>{renderTokens(cell.tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{renderTokens(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** A link that opens in a new tab. Links with other schemes than HTTP, such as `javascript:`, are shown as text. */
export function SafeLink({ href, children }: { readonly href: string; readonly children?: ComponentChildren }): VNode {
  const isWeb = /^https?:\/\//i.test(href) && URL.canParse(href)
  if (!isWeb)
    return (
      <span>
        {children} <code>{plainText(href)}</code>
      </span>
    )
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
      {children ?? plainText(href)}
    </a>
  )
}

/**
 * An image. Only `data:` images are shown. Others are shown as links, because a request would reveal the reader to
 * their server.
 */
function SafeImage({ href, text }: { readonly href: string; readonly text: string }): VNode {
  if (/^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i.test(href)) return <img src={href} alt={text} />
  return <SafeLink href={href}>Image: {plainText(text)}</SafeLink>
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Reverses the escapes of HTML characters that the lexer of marked adds. */
function unescapeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')
}
