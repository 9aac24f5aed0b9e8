// Writes the repository and the author into the package.json of every published package.
//
//   node scripts/set-repository.mjs <url> "<author>"   replaces the placeholder: https://<host>/<owner>/<name>
//   node scripts/set-repository.mjs                    gives a new package the fields of the other packages
//   node scripts/set-repository.mjs --check            fails if a package names the placeholder, or lacks a field
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const placeholder = { url: 'https://example.com/mcpx', author: 'the mcpx contributors' }
const folder = fileURLToPath(new URL('../packages', import.meta.url))

/** Returns the fields of one package. */
function fieldsOf({ url, author }, name) {
  return {
    author,
    homepage: `${url}/tree/main/packages/${name}#readme`,
    repository: { type: 'git', url: `git+${url}.git`, directory: `packages/${name}` },
    bugs: { url: `${url}/issues` },
  }
}

/** Returns a sentence for each package that cannot be published as it is. */
function findPlaceholders(packages) {
  const command = 'run `node scripts/set-repository.mjs <url> "<author>"`'
  return packages.flatMap(({ name, manifest }) => {
    const { repository, homepage, bugs, author } = manifest
    const url = /^git\+(.+)\.git$/.exec(repository?.url ?? '')?.[1]
    if (url === undefined || !author) return [`packages/${name} has no repository or author: ${command}`]
    const expected = fieldsOf({ url, author }, name)
    if (homepage !== expected.homepage || bugs?.url !== expected.bugs.url)
      return [`packages/${name} has a homepage or bugs of another repository: ${command}`]
    return url === placeholder.url ? [`packages/${name} names the placeholder ${url}: ${command}`] : []
  })
}

function argumentProblems(url, author) {
  const isUrl = /^https:\/\/[^/\s]+\/\S*[^/\s]$/.test(url) && !url.endsWith('.git')
  if (!isUrl) return [`url: expected https://<host>/<owner>/<name> without .git at the end, got ${url}`]
  return author ? [] : ['author: expected "Name <address>", got nothing']
}

function published() {
  return readdirSync(folder)
    .map((name) => ({ name, file: join(folder, name, 'package.json') }))
    .filter(({ file }) => existsSync(file))
    .map(({ name, file }) => ({ name, file, manifest: JSON.parse(readFileSync(file, 'utf8')) }))
    .filter(({ manifest }) => manifest.private !== true)
}

/** Returns the URL and the author that the packages name now. */
function current(packages) {
  const found = packages.find(({ manifest }) => manifest.repository !== undefined)
  if (found === undefined) return placeholder
  return { url: found.manifest.repository.url.replace(/^git\+|\.git$/g, ''), author: found.manifest.author }
}

function write({ name, file, manifest }, values) {
  const { license, author: _, homepage: _h, repository: _r, bugs: _b, ...rest } = manifest
  const entries = Object.entries(rest)
  const place = entries.findIndex(([key]) => key === 'description') + 1
  entries.splice(place, 0, ['license', license], ...Object.entries(fieldsOf(values, name)))
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`)
}

const [first, author] = process.argv.slice(2)
const packages = published()
if (first === '--check') {
  stopOn(findPlaceholders(packages))
} else {
  stopOn(first === undefined ? [] : argumentProblems(first, author))
  const values = first === undefined ? current(packages) : { url: first, author }
  for (const each of packages) write(each, values)
  console.log(`${packages.length} packages name ${values.url}`)
}

function stopOn(problems) {
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exit(1)
}
