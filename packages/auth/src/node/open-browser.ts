/** Opens a URL in the user's browser, without a shell that could read it as something else. */

import { spawn } from 'node:child_process'

/** How long a program that opens browsers may take to say that it cannot, in ms. */
const PATIENCE = 2_000

/** Resolves to whether a browser was asked to open; that a user sees it, nobody can say. */
export function openBrowser(url: URL): Promise<boolean> {
  const command = commandFor(url)
  if (command === undefined) return Promise.resolve(false)
  const [program, ...args] = command
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore', detached: true })
    // Some stay as long as the browser is open.
    const timer = setTimeout(resolve, PATIENCE, true)
    const end = (opened: boolean) => {
      clearTimeout(timer)
      resolve(opened)
    }
    child.once('error', () => end(false))
    child.once('exit', (code) => end(code === 0))
    child.unref()
  })
}

function commandFor({ href, protocol }: URL): [string, ...string[]] | undefined {
  if (protocol !== 'https:' && protocol !== 'http:') return undefined
  if (process.platform === 'darwin') return ['open', href]
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', href]
  // Without a screen, what is opened would be a browser in the terminal, or nothing.
  return process.env.DISPLAY || process.env.WAYLAND_DISPLAY ? ['xdg-open', href] : undefined
}
