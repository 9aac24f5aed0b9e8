/** Creates projects with a server from templates: `npm create mcpx`, and as functions. */

export { runCommandLine } from './command-line.ts'
export { createProject, type ProjectOptions } from './project.ts'
export { ProjectError, type ProjectErrorCode, packageNameOf, refuseName } from './project-name.ts'
export { type PackageManager, packageManagers, type TemplateName, templates } from './templates.ts'
