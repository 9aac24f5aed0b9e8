/** A process that calls a server with the tokens of a shared file, and prints the statuses. */
import { argv, exit, stdout } from 'node:process'
import { oauth } from '../client/oauth.ts'
import { manualRedirect } from '../client/redirects.ts'
import { fileStore } from './file-store.ts'

const [file = '', url = ''] = argv.slice(2)
const redirect = manualRedirect('http://127.0.0.1:1/callback', () => {
  throw new Error('no user can log in here')
})
const fetch = oauth({ redirect, store: fileStore(file) })((input, init) => globalThis.fetch(input, init), {
  url: new URL(url),
})
const answers = await Promise.all(Array.from({ length: 5 }, () => fetch(url).then(({ status }) => status, String)))
stdout.write(JSON.stringify(answers))
exit(0)
