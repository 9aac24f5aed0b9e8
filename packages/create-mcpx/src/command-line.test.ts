import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import pty from '@lydell/node-pty'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createProject, packageNameOf, refuseName, templates } from './index.ts'

const main = fileURLToPath(new URL('./main.ts', import.meta.url))
const root = fileURLToPath(new URL('../../..', import.meta.url))

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'create-mcpx-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Runs the program without a terminal. */
function run(cwd: string, args: readonly string[], userAgent = 'npm/11.0.0 node/v24.0.0') {
  const env = { ...process.env, npm_config_user_agent: userAgent }
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { cwd, env, encoding: 'utf8' })
  return { code: status, stdout, stderr }
}

const readManifest = async (folder: string) => JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))

describe('create-mcpx', () => {
  it.each(Object.keys(templates))('creates a project from the template %s without questions', async (template) => {
    const cwd = await emptyFolder()
    const result = run(cwd, ['my-server', '--template', template, '--yes'])
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout).toContain(`  cd my-server\n  npm install\n  npm run test\n  npm run dev\n`)
    const files = await readdir(join(cwd, 'my-server'))
    expect(files).toEqual(expect.arrayContaining(['.gitignore', 'README.md', 'package.json', 'src', 'tsconfig.json']))
    expect(files).not.toContain('.git')
    expect(await readManifest(join(cwd, 'my-server'))).toMatchObject({ name: 'my-server' })
  })

  it('shows the commands of the package manager that runs it, or of the one that is named', async () => {
    const cwd = await emptyFolder()
    expect(run(cwd, ['one', '--yes'], 'pnpm/12.0.0 npm/? node/v24.0.0').stdout).toContain('pnpm install\n')
    expect(await readFile(join(cwd, 'one/README.md'), 'utf8')).toContain('pnpm exec mcpx install')
    expect(run(cwd, ['two', '--yes', '-p', 'bun'], 'pnpm/12.0.0').stdout).toContain('bun install\n')
    expect(run(cwd, ['three', '--yes'], 'unknown/1').stdout).toContain('npm install\n')
  })

  it('names the package and the server after the folder, and quotes the folder', async () => {
    const cwd = await emptyFolder()
    expect(run(cwd, ['My Server!', '-y']).stdout).toContain('  cd "My Server!"\n')
    expect(await readManifest(join(cwd, 'My Server!'))).toMatchObject({ name: 'my-server' })
    expect(run(cwd, ['other', '-y', '--name', '@me/other.server', '-t', 'workers']).code).toBe(0)
    expect(await readManifest(join(cwd, 'other'))).toMatchObject({ name: '@me/other.server' })
    expect(await readFile(join(cwd, 'other/wrangler.jsonc'), 'utf8')).toContain('"name": "other-server"')
    expect(await readFile(join(cwd, 'other/src/server.ts'), 'utf8')).toContain("name: '@me/other.server'")
  })

  it.runIf(process.platform !== 'win32')('prints commands that a shell can run for any folder', async () => {
    const cwd = await emptyFolder()
    for (const folder of ['$(touch x)', '`touch x`', '~root', "a'b$HOME", 'c"d', 'e\\f', '-g', 'ünï cödé']) {
      const { stdout } = run(cwd, ['-y', '--', folder])
      const [, enter = ''] = /^ {2}(cd .+)$/m.exec(stdout) ?? []
      const { stdout: entered } = spawnSync('sh', ['-c', `${enter} && pwd`], { cwd, encoding: 'utf8' })
      expect([folder, entered]).toEqual([folder, `${join(cwd, folder)}\n`])
    }
    expect(await readdir(cwd)).not.toContain('x')
  })

  it('names the error of the file system', async () => {
    const cwd = await emptyFolder()
    const { code, stderr } = run(cwd, ['a'.repeat(300), '-y'])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^\S+aaa: cannot be read or written \(ENAMETOOLONG\)\. .+\n$/),
    ])
  })

  it('creates a git repository on request, and fills a folder that contains nothing but one', async () => {
    const cwd = await emptyFolder()
    expect(run(cwd, ['.', '-y', '--git', '--name', 'here']).stdout).not.toContain('cd ')
    expect(await readdir(cwd)).toContain('.git')
    expect(run(cwd, ['other', '-y', '--git', '--no-git']).code).toBe(0)
    expect(await readdir(join(cwd, 'other'))).not.toContain('.git')
    await rm(join(cwd, 'other'), { recursive: true })
    await rm(join(cwd, 'src'), { recursive: true })
    for (const name of await readdir(cwd)) if (name !== '.git') await rm(join(cwd, name))
    expect(run(cwd, ['.', '-y'])).toMatchObject({ code: 0 })
  })

  it('refuses a folder that is not empty, and changes nothing', async () => {
    const cwd = await emptyFolder()
    await mkdir(join(cwd, 'full'))
    await writeFile(join(cwd, 'full/package.json'), 'mine')
    const { code, stdout, stderr } = run(cwd, ['full', '--yes'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/full: expected an empty folder, got package\.json\. Choose another folder\.\n$/)
    expect(await readdir(join(cwd, 'full'))).toEqual(['package.json'])
    expect(await readFile(join(cwd, 'full/package.json'), 'utf8')).toBe('mine')
    await expect(createProject({ folder: join(cwd, 'full'), template: 'stdio' })).rejects.toMatchObject({
      name: 'ProjectError',
      code: 'folder-not-empty',
    })
    expect(run(cwd, ['full/package.json', '--yes']).stderr).toContain('expected a folder, got a file')
  })

  it.each([
    [{ folder: 'new', template: '../src' }, 'template: expected one of stdio, hono, workers, full-stack, got ../src.'],
    [
      { folder: 'new', template: 'stdio', packageManager: 'deno' },
      'packageManager: expected one of npm, pnpm, yarn, bun, got deno.',
    ],
    [{ template: 'stdio' }, 'folder: expected the path of a folder, got undefined.'],
  ])('refuses the options %j of createProject', async (options, message) => {
    await expect(createProject(options as never)).rejects.toMatchObject({ code: 'usage', message })
  })

  it.each([
    [['a', '--template', 'php', '-y'], '--template: expected one of stdio, hono, workers, full-stack, got php.'],
    [['a', '-p', 'cargo', '-y'], '--package-manager: expected one of npm, pnpm, yarn, bun, got cargo.'],
    [['a', 'b', '-y'], 'folder: expected one folder, got a b.'],
    [['a', '--tempalte', 'stdio', '-y'], "Unknown option '--tempalte'"],
    [['--template', 'stdio'], 'folder: expected the name of a folder, got none, and there is no terminal to ask.'],
    [['a'], '--template: expected a template, got none, and there is no terminal to ask.'],
  ])('refuses %j with the exit code 2', async (args, message) => {
    const cwd = await emptyFolder()
    const { code, stderr } = run(cwd, args)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
    expect(await readdir(cwd)).toEqual([])
  })

  it('prints its help and its version', async () => {
    const cwd = await emptyFolder()
    const { version } = await readManifest(fileURLToPath(new URL('..', import.meta.url)))
    expect(run(cwd, ['--version']).stdout).toBe(`${version}\n`)
    expect(run(cwd, ['--help']).stdout).toContain('--template <name>')
  })

  it('asks in a terminal for what the arguments leave open', async () => {
    const cwd = await emptyFolder()
    const terminal = openTerminal(cwd, [])
    await terminal.answer('In which folder?', 'asked\r')
    await terminal.answer('Which template?', '\x1b[B\r')
    await terminal.answer('Which package manager?', '\r')
    await terminal.answer('Create a git repository?', 'n')
    expect(await terminal.exited).toBe(0)
    expect(terminal.text()).toContain('cd asked')
    expect(await readdir(join(cwd, 'asked/src'))).toContain('app.ts')
  })

  it('does not ask for what the arguments say', async () => {
    const cwd = await emptyFolder()
    const terminal = openTerminal(cwd, ['asked', '-t', 'stdio', '-p', 'npm', '--no-git'])
    expect(await terminal.exited).toBe(0)
    expect(await readdir(join(cwd, 'asked'))).not.toContain('.git')
  })

  it('creates nothing if the user cancels', async () => {
    const cwd = await emptyFolder()
    const terminal = openTerminal(cwd, ['asked'])
    await terminal.answer('Which template?', '\x03')
    expect(await terminal.exited).toBe(130)
    expect(await readdir(cwd)).toEqual([])
  })
})

describe('names', () => {
  it.each(['my-server', '@me/my.server', 'a', '7', 'a~b_c', 'a'.repeat(214)])('accepts %s', (name) => {
    expect(() => refuseName(name)).not.toThrow()
  })

  it.each([
    ['', 'has other characters'],
    ['My-Server', 'upper-case'],
    ['.hidden', 'begins with "."'],
    ['_private', 'begins with'],
    ['a b', 'has other characters'],
    ['a/b', 'has other characters'],
    ["a'; process.exit() //", 'has other characters'],
    ['../up', 'has other characters'],
    ['@me/', 'has other characters'],
    ['http', 'is reserved'],
    ['node_modules', 'is reserved'],
    ['a'.repeat(215), 'longer than 214 characters'],
    ['größe', 'has other characters'],
  ])('refuses %j', (name, problem) => {
    expect(() => refuseName(name)).toThrow(problem)
    expect(() => refuseName(packageNameOf(name))).not.toThrow()
  })
})

describe('the templates', () => {
  const names = Object.keys(templates) as (keyof typeof templates)[]

  it('have the version ranges of this repository', async () => {
    const own = await readManifest(fileURLToPath(new URL('..', import.meta.url)))
    const { devDependencies: tools } = await readManifest(root)
    const { peerDependencies } = await readManifest(join(root, 'packages/transport-http'))
    const { dependencies } = await readManifest(join(root, 'packages/transport-http'))
    const { peerDependencies: peersOfTesting } = await readManifest(join(root, 'packages/testing'))
    const workspace = await readFile(join(root, 'pnpm-workspace.yaml'), 'utf8')
    const majorOf = (version: string) => `^${version.replace(/\..*/, '')}.0.0`
    const expected: Record<string, string> = {
      zod: /^ {2}zod: (.+)$/m.exec(workspace)?.[1] ?? '',
      hono: peerDependencies.hono,
      '@hono/node-server': dependencies['@hono/node-server'],
      vitest: peersOfTesting.vitest,
      typescript: majorOf(tools.typescript),
      '@types/node': majorOf(tools['@types/node']),
      // Nothing in this repository uses these. The check of packages installs them.
      vite: '^8.0.0',
      wrangler: '^4.80.0',
    }
    const folder = await emptyFolder()
    for (const template of names) {
      await createProject({ folder: join(folder, template), template })
      const manifest = await readManifest(join(folder, template))
      for (const [name, range] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }))
        expect([template, name, range]).toEqual([template, name, expected[name] ?? own.devDependencies[name]])
    }
  })

  it('contain no placeholder once they are filled', async () => {
    const folder = await emptyFolder()
    for (const template of names) {
      const files = await createProject({ folder: join(folder, template), template })
      for (const file of files) expect(await readFile(join(folder, template, file), 'utf8')).not.toContain('{{')
    }
  })

  it('are released whenever a package that they use is released', async () => {
    const changesets = await Promise.all(
      (await readdir(join(root, '.changeset')))
        .filter((name) => name.endsWith('.md'))
        .map((name) => readFile(join(root, '.changeset', name), 'utf8')),
    )
    const { devDependencies } = await readManifest(fileURLToPath(new URL('..', import.meta.url)))
    const isReleased = (name: string) => changesets.some((text) => text.includes(`"${name}":`))
    const used = Object.keys(devDependencies).filter((name) => name.startsWith('@mcpx/'))
    // Without a release of create-mcpx, `npm create mcpx` would install the old versions.
    expect(isReleased('create-mcpx') || !used.some(isReleased)).toBe(true)
  })
})

/** Runs the program in a terminal. */
function openTerminal(cwd: string, args: readonly string[]) {
  const env = { ...process.env, TERM: 'xterm-256color', npm_config_user_agent: 'npm/11.0.0' }
  const program = pty.spawn(process.execPath, [main, ...args], { cols: 100, rows: 40, cwd, env })
  let output = ''
  program.onData((data) => {
    output += data
  })
  const exited = new Promise<number>((resolve) => program.onExit(({ exitCode }) => resolve(exitCode)))
  const text = () => stripVTControlCharacters(output)
  return {
    text,
    exited,
    /** Types the keys when the question is shown. */
    async answer(question: string, keys: string): Promise<void> {
      await expect.poll(text, { timeout: 10_000 }).toContain(question)
      program.write(keys)
    },
  }
}
