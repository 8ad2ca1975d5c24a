import { expect, test } from 'vitest'
import { resolveFolders, resolvePath } from '../../src/core/key-paths.ts'

const DEFAULTS = {
  directory: '/home/{prefix}/{prefix}-bft',
  environmentFile: '/home/{prefix}/.env',
  backupDirectory: '/opt/{prefix}/backup',
}

const lookupOf = (prefix: string, existing: readonly string[]) => ({
  prefix,
  files: { look: (path: string) => Promise.resolve(existing.includes(path) ? {} : 'none') },
})

const at = (home: string, backup: string) => ({
  directory: `/home/${home}/${home}-bft`,
  environmentFile: `/home/${home}/.env`,
  backupDirectory: `/opt/${backup}/backup`,
})

test.each([
  ['nothing exists', 'chain', [], at('chain', 'chain')],
  [
    'paths with the prefix exist, and so do those with monad',
    'chain',
    [
      '/home/chain/chain-bft',
      '/home/chain/.env',
      '/opt/chain/backup',
      '/home/monad/monad-bft',
      '/home/monad/.env',
      '/opt/monad/backup',
    ],
    at('chain', 'chain'),
  ],
  [
    'only paths with monad exist',
    'chain',
    ['/home/monad/monad-bft', '/home/monad/.env', '/opt/monad/backup'],
    at('monad', 'monad'),
  ],
  ['no backup yet: it goes where the node directory is', 'chain', ['/home/monad/monad-bft'], at('monad', 'monad')],
  [
    'earlier backups under the prefix stay in use',
    'chain',
    ['/home/monad/monad-bft', '/home/monad/.env', '/opt/chain/backup'],
    at('monad', 'chain'),
  ],
  ['no backup yet on a node with the prefix', 'chain', ['/home/chain/chain-bft'], at('chain', 'chain')],
  ['the prefix is monad', 'monad', [], at('monad', 'monad')],
])('default folders: %s', async (...[, prefix, existing, expected]) => {
  expect(await resolveFolders(DEFAULTS, lookupOf(prefix, existing))).toEqual(expected)
})

test('a path without {prefix} is used as configured, and not looked up', async () => {
  const files = { look: () => Promise.reject(new Error('looked up')) }
  expect(await resolvePath('/srv/node', { prefix: 'chain', files })).toBe('/srv/node')
})

test.each([
  ['barred', '/home/monad/x'],
  ['waiting', '/home/chain/x'],
  ['broken', '/home/chain/x'],
])('the path with the prefix is %s, the one with monad exists', async (trouble, expected) => {
  const files = {
    look: (path: string) => Promise.resolve(path.includes('monad') ? {} : trouble),
  }
  expect(await resolvePath('/home/{prefix}/x', { prefix: 'chain', files })).toBe(expected)
})
