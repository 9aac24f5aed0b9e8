import { expect, it } from 'vitest'
import { childEnvironment } from './environment.ts'

it('passes the variables that any program needs, and no others', () => {
  const own = { PATH: '/bin', HOME: '/h', AWS_SECRET_ACCESS_KEY: 'x', NODE_OPTIONS: 'x', LANG: 'C', npm_token: 'x' }
  expect(childEnvironment({}, own, 'linux')).toEqual({ PATH: '/bin', HOME: '/h', LANG: 'C' })
})

it('drops exported shell functions', () => {
  expect(childEnvironment({}, { TERM: '() { :;}; echo x', USER: 'u' }, 'darwin')).toEqual({ USER: 'u' })
})

it('adds, changes and removes the given variables', () => {
  const given = { PATH: '/other', KEY: 'k', HOME: undefined }
  expect(childEnvironment(given, { PATH: '/bin', HOME: '/h' }, 'linux')).toEqual({ PATH: '/other', KEY: 'k' })
})

it('ignores the case of names on Windows, and only there', () => {
  const own = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', Secret: 'x' }
  expect(childEnvironment({ PATH: 'D:\\bin' }, own, 'win32')).toEqual({ PATH: 'D:\\bin', SystemRoot: 'C:\\Windows' })
  expect(childEnvironment({ path: undefined }, own, 'win32')).toEqual({ SystemRoot: 'C:\\Windows' })
  expect(childEnvironment({}, own, 'linux')).toEqual({})
})
