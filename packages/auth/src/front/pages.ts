/** The pages for users: the consent to a client, and errors. They contain no script and load nothing. */

import { html, raw } from 'hono/html'
import { sha256 } from '../resource-server/dpop.ts'
import type { OAuthError } from './oauth-error.ts'
import { redirectTarget } from './redirect-uris.ts'

/** The content of the consent page. */
export interface ConsentView {
  /** The name of the protected server. */
  readonly serverName: string
  /** The name of the provider at which the user logs in. */
  readonly providerName: string
  readonly resource: string
  readonly clientName: string
  /** The host whose owner has published the metadata of the client. Undefined if the client chose its name itself. */
  readonly verifiedHost: string | undefined
  readonly redirectUri: string
  /** The requested scopes, each with its description. */
  readonly scopes: readonly (readonly [scope: string, description: string])[]
  /** The URL that receives the form. */
  readonly action: string
  /** The sealed request. */
  readonly request: string
  /** Whether a decision will be remembered. */
  readonly remembers: boolean
}

/**
 * The style of the pages. The buttons react only after a moment, so that a click that was meant for another window has
 * no effect.
 */
const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:3rem auto;padding:0 1rem}
h1{font-size:1.4rem}dt{opacity:.7}dd{margin:0 0 .8rem;overflow-wrap:anywhere}ul{margin:0;padding-left:1.2rem}
.warn{border-left:4px solid #c60;padding-left:.8rem}
button{font:inherit;padding:.5rem 1.2rem;margin:.5rem .5rem 0 0;animation:arm .8s step-end}
@keyframes arm{from{pointer-events:none}}`

/** Asks the user whether a client may use the server. */
export async function consentPage(view: ConsentView): Promise<Response> {
  const { clientName, serverName, providerName, verifiedHost, redirectUri, scopes } = view
  const target = redirectTarget(redirectUri)
  const body = html`<h1>Allow ${clientName} to use ${serverName}?</h1>
<dl>
<dt>Application</dt><dd>${clientName}${
    verifiedHost === undefined
      ? html`<br><small>The application chose this name. It was not verified.</small>`
      : html`<br><small>Published by ${verifiedHost}</small>`
  }</dd>
<dt>You will be sent to</dt><dd><strong>${describeTarget(redirectUri)}</strong></dd>
<dt>Server</dt><dd>${serverName}<br><small>${view.resource}</small></dd>
<dt>It will be able to</dt><dd>${
    scopes.length === 0
      ? 'use the server in your name'
      : html`<ul>${scopes.map(([scope, description]) => html`<li>${description} <small>(${scope})</small></li>`)}</ul>`
  }</dd>
</dl>
<p class="warn">Allow this only if you have just started this login in the application named above${
    target.kind === 'site' ? html`, and trust <strong>${target.name}</strong>` : ' on this device'
  }. Otherwise somebody else may get access in your name.${
    view.remembers ? ' This browser will not be asked again for a while.' : ''
  }</p>
<form method="post" action="${view.action}">
<input type="hidden" name="request" value="${view.request}">
<button name="decision" value="deny">Deny</button>
<button name="decision" value="allow">Allow and continue with ${providerName}</button>
</form>`
  return page(`Allow ${clientName}?`, body, 200, redirectUri)
}

function describeTarget(redirectUri: string): string {
  const { kind, name } = redirectTarget(redirectUri)
  if (kind === 'site') return name
  return kind === 'device' ? `an application on this device (${name})` : `an application that opens ${name} links`
}

/** Shows an error with its remedy. */
export async function errorPage({ code, message, remedy, status }: OAuthError): Promise<Response> {
  const body = html`<h1>The login cannot continue</h1>
<p>${message}</p><p>${remedy}</p><p><small>${code}</small></p>`
  // A status of 401 would need a challenge.
  return page('The login cannot continue', body, status === 401 ? 400 : status)
}

/** @param redirectUri where the form leads in the end: browsers apply `form-action` to redirects, too */
async function page(title: string, body: unknown, status: number, redirectUri?: string): Promise<Response> {
  const text = await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width"><style>${raw(STYLE)}</style></head><body>${body}</body></html>`
  const style = (await sha256(STYLE)).replaceAll('-', '+').replaceAll('_', '/')
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${style}='`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    `form-action ${redirectUri === undefined ? "'none'" : formTargets(redirectUri)}`,
  ]
  return new Response(String(text), {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      // The URL contains the state of the client, which other sites must not see. With `no-referrer`, the form would send `Origin: null`.
      'referrer-policy': 'same-origin',
      ...(status === 503 && { 'retry-after': '5' }),
    },
  })
}

/** Returns the targets of the form: it leads to the provider, whose pages may have any origin, and then to the client. */
function formTargets(redirectUri: string): string {
  const { protocol } = new URL(redirectUri)
  return `'self' https: http:${/^https?:$/.test(protocol) ? '' : ` ${protocol}`}`
}
