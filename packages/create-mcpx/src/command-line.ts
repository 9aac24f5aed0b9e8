/** The command line: reads the arguments, asks for the rest in a terminal, and prints the next commands. */

import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, relative, resolve } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { cancel, confirm, intro, isCancel, outro, select, text } from '@clack/prompts'
import { createProject, refuseFullFolder } from './project.ts'
import { ProjectError, packageNameOf, refuseName, unknownValue } from './project-name.ts'
import {
  isPackageManager,
  isTemplate,
  type PackageManager,
  packageManagers,
  runningPackageManager,
  type TemplateName,
  templates,
} from './templates.ts'

const usage = `Usage: npm create mcpx [folder] -- [options]

Options:
  -t, --template <name>         ${Object.keys(templates).join(', ')}
  -n, --name <name>             the name of the package and of the server. Default: that of the folder
  -p, --package-manager <name>  ${Object.keys(packageManagers).join(', ')}. Default: the package manager that runs this program
      --git                     create a git repository; --no-git does not
  -y, --yes                     ask nothing, and use defaults: my-server, stdio, no git
  -h, --help                    print this text
      --version                 print the version
`

/** The decisions about a project. */
interface Choices {
  readonly folder: string
  readonly name: string
  readonly template: TemplateName
  readonly packageManager: PackageManager
  readonly git: boolean
}

/** Runs `create-mcpx` with these arguments. Returns the exit code: 0, 1 if nothing was created, 2 for wrong arguments, or 130 if the user cancelled. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  try {
    return await run(args)
  } catch (error) {
    if (error instanceof ProjectError) {
      process.stderr.write(`${error.message}\n`)
      return error.code === 'usage' ? 2 : 1
    }
    const { syscall, path, code } = error as NodeJS.ErrnoException
    if (syscall === undefined || path === undefined) throw error
    process.stderr.write(`${path}: cannot be read or written (${code}). Choose another folder.\n`)
    return 1
  }
}

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args)
  if (values.help) return print(usage)
  if (values.version) return print(`${await readVersion()}\n`)
  const isInteractive = !values.yes && process.stdin.isTTY === true && process.stdout.isTTY === true
  const choices = isInteractive ? await ask(values, positionals[0]) : withDefaults(values, positionals[0])
  if (choices === undefined) return 130
  await createProject(choices)
  const note = choices.git ? initGit(choices.folder) : ''
  const summary = `${note}Created ${choices.name} from the template ${choices.template}. Next:\n\n${nextCommands(choices)}\n`
  if (!isInteractive) return print(summary)
  outro(summary)
  return 0
}

function print(output: string): number {
  process.stdout.write(output)
  return 0
}

type Arguments = ReturnType<typeof readArguments>['values']

function readArguments(args: readonly string[]) {
  const flag = { type: 'boolean' } as const
  const option = { type: 'string' } as const
  const parsed = parse()
  const { positionals, values } = parsed
  if (positionals.length > 1)
    throw new ProjectError('usage', `folder: expected one folder, got ${positionals.join(' ')}.`)
  const { template = 'stdio', 'package-manager': manager = 'npm', name } = values
  if (!isTemplate(template)) throw unknownValue('--template', template, templates)
  if (!isPackageManager(manager)) throw unknownValue('--package-manager', manager, packageManagers)
  if (name !== undefined) refuseName(name)
  return parsed

  function parse() {
    try {
      return parseArgs({
        args: [...args],
        allowPositionals: true,
        options: {
          template: { ...option, short: 't' },
          name: { ...option, short: 'n' },
          'package-manager': { ...option, short: 'p' },
          git: flag,
          'no-git': flag,
          yes: { ...flag, short: 'y' },
          help: { ...flag, short: 'h' },
          version: flag,
        },
      })
    } catch (error) {
      throw new ProjectError('usage', `${(error as Error).message}\n\n${usage}`)
    }
  }
}

async function readVersion(): Promise<string> {
  const file = createRequire(import.meta.url).resolve('create-mcpx/package.json')
  const { version } = JSON.parse(await readFile(file, 'utf8')) as { version: string }
  return version
}

/**
 * Returns the choices of the arguments and the defaults. Without `--yes`, the folder and the template have no default.
 */
function withDefaults(values: Arguments, given: string | undefined): Choices {
  if (!values.yes && (given === undefined || values.template === undefined)) {
    const missing = given === undefined ? 'folder: expected the name of a folder' : '--template: expected a template'
    throw new ProjectError(
      'usage',
      `${missing}, got none, and there is no terminal to ask. Add it, or --yes for the defaults.`,
    )
  }
  const folder = resolve(given ?? 'my-server')
  return {
    folder,
    name: values.name ?? packageNameOf(basename(folder)),
    template: (values.template as TemplateName | undefined) ?? 'stdio',
    packageManager: managerOf(values),
    git: values.git === true && values['no-git'] !== true,
  }
}

function managerOf(values: Arguments): PackageManager {
  const chosen = values['package-manager'] as PackageManager | undefined
  return chosen ?? runningPackageManager(process.env.npm_config_user_agent)
}

/** Asks for the choices that the arguments leave open. Returns undefined if the user cancels. */
async function ask(values: Arguments, given: string | undefined): Promise<Choices | undefined> {
  intro('create-mcpx')
  if (given !== undefined) await refuseFullFolder(resolve(given))
  const folder =
    given ?? (await text({ message: 'In which folder?', defaultValue: 'my-server', placeholder: 'my-server' }))
  if (isCancel(folder)) return cancelled()
  await refuseFullFolder(resolve(folder))
  const template = values.template ?? (await select({ message: 'Which template?', options: optionsOf(templates) }))
  if (isCancel(template)) return cancelled()
  const packageManager = values['package-manager'] ?? (await askManager())
  if (isCancel(packageManager)) return cancelled()
  const git = values['no-git'] !== true && (values.git ?? (await confirm({ message: 'Create a git repository?' })))
  if (isCancel(git)) return cancelled()
  return { ...withDefaults({ ...values, yes: true, template, 'package-manager': packageManager }, folder), git }
}

function askManager() {
  const options = Object.keys(packageManagers).map((value) => ({ value, label: value }))
  const initialValue: string = managerOf({})
  return select({ message: 'Which package manager?', options, initialValue })
}

function optionsOf(items: Readonly<Record<string, string>>) {
  return Object.entries(items).map(([value, hint]) => ({ value, label: value, hint }))
}

function cancelled(): undefined {
  cancel('Nothing was created.')
}

/** Creates a git repository. Returns a sentence if that fails; the project is complete without it. */
function initGit(folder: string): string {
  const { status, stderr, error } = spawnSync('git', ['init', '--quiet'], { cwd: folder, encoding: 'utf8' })
  return status === 0 ? '' : `git init failed: ${error?.message ?? stderr.trim()}\n`
}

function nextCommands({ folder, packageManager }: Choices): string {
  const { install, run } = packageManagers[packageManager]
  const path = relative(process.cwd(), folder)
  const enter = path === '' ? [] : [`cd ${quotePath(path)}`]
  return [...enter, install, `${run} test`, `${run} dev`].map((command) => `  ${command}`).join('\n')
}

/** Quotes a path for a shell, so that the shell does not execute a part of it. */
function quotePath(path: string): string {
  const isWindows = process.platform === 'win32'
  if ((isWindows ? /^[\w./\\:@+-]+$/ : /^[\w./:@+-]+$/).test(path)) return path.startsWith('-') ? `./${path}` : path
  return isWindows || !/[$`"\\]/.test(path) ? `"${path}"` : `'${path.replaceAll("'", `'\\''`)}'`
}
