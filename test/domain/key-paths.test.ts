import { expect, test } from 'vitest'
import { resolveFolders, resolvePath } from '../../src/domain/key-paths.ts'

const DEFAULTS = {
  directory: '/home/{prefix}/{prefix}-bft',
  environmentFile: '/home/{prefix}/.env',
  backupDirectory: '/opt/{prefix}/backup',
}

const lookupOf = (prefix: string, existing: readonly string[]) => ({
  prefix,
  files: { look: (path: string) => Promise.resolve(existing.includes(path) ? {} : 'missing') },
})

const at = (home: string, backup: string) => ({
  directory: `/home/${home}/${home}-bft`,
  keystoreDirectory: `/home/${home}/${home}-bft/config`,
  environmentFile: `/home/${home}/.env`,
  backupDirectory: `/opt/${backup}/backup`,
})

const inVarLib = (name: string) => ({
  directory: `/var/lib/${name}`,
  keystoreDirectory: `/var/lib/${name}/private`,
  environmentFile: `/etc/${name}/env`,
  backupDirectory: `/opt/${name}/backup`,
})
const WITHOUT_BFT = { directory: '/home/kinet/kinet', keystoreDirectory: '/home/kinet/kinet/config' }
const home = (name: string) => [`/home/${name}/${name}-bft`, `/home/${name}/.env`]
const all = (name: string) => [...home(name), `/opt/${name}/backup`]

test.each([
  ['nothing exists', 'chain', [], at('chain', 'chain')],
  ['paths of both exist', 'chain', [...all('chain'), ...all('monad')], at('chain', 'chain')],
  ['only paths with monad exist', 'chain', all('monad'), at('monad', 'monad')],
  ['no backup yet: it goes where the node directory is', 'chain', ['/home/monad/monad-bft'], at('monad', 'monad')],
  ['earlier backups stay in use', 'chain', [...home('monad'), '/opt/chain/backup'], at('monad', 'chain')],
  ['no backup yet on a node with the prefix', 'chain', ['/home/chain/chain-bft'], at('chain', 'chain')],
  ['the prefix is monad', 'monad', [], at('monad', 'monad')],
  ['a package with /etc and /var/lib', 'chain', ['/var/lib/chain', '/etc/chain/env'], inVarLib('chain')],
  ['the same with the fixed prefix', 'chain', ['/var/lib/monad', '/etc/monad/env'], inVarLib('monad')],
  ['what was left behind', 'monad', [...home('monad'), '/var/lib/monad', '/etc/monad/env'], at('monad', 'monad')],
  ['without -bft', 'kinet', ['/home/kinet/kinet', '/home/kinet/.env'], { ...at('kinet', 'kinet'), ...WITHOUT_BFT }],
])('folders: %s', async (...[, prefix, existing, expected]) => {
  expect(await resolveFolders(DEFAULTS, lookupOf(prefix, existing))).toEqual(expected)
})

test.each([
  ['config/forkpoint/forkpoint.toml', '/var/lib/chain/forkpoint/forkpoint.toml'],
  ['config/validators/validators.toml', '/var/lib/chain/validators/validators.toml'],
  ['config/node.toml', '/etc/chain/node.toml'],
  ['ledger', '/var/lib/chain/ledger'],
  ['wal', '/var/lib/chain/wal'],
])('%s of a package with /etc and /var/lib', async (file, expected) => {
  const template = `${DEFAULTS.directory}/${file}`
  expect(await resolvePath(template, lookupOf('chain', ['/var/lib/chain', expected]))).toBe(expected)
  // Absent in every layout: the path that the documentation names.
  expect(await resolvePath(template, lookupOf('chain', ['/var/lib/chain']))).toBe(`/home/chain/chain-bft/${file}`)
})

test('a path without {prefix} is used as configured, and not looked up', async () => {
  const files = { look: () => Promise.reject(new Error('looked up')) }
  expect(await resolvePath('/srv/node', { prefix: 'chain', files })).toBe('/srv/node')
})

test.each([
  ['denied', '/home/monad/x'],
  ['pending', '/home/chain/x'],
  ['failed', '/home/chain/x'],
])('the path with the prefix is %s, the one with monad exists', async (trouble, expected) => {
  const files = { look: (path: string) => Promise.resolve(path.includes('monad') ? {} : trouble) }
  expect(await resolvePath('/home/{prefix}/x', { prefix: 'chain', files })).toBe(expected)
})
