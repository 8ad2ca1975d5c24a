import { mkdir, open, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createDiskUsage } from '../../src/sources/file-tree.ts'
import { manualClock } from '../support/manual-clock.ts'
import { createTree, runHost } from './run-host.ts'

const cleanUp: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const clear of cleanUp.splice(0)) await clear()
})

const start = async (maxFiles?: number) => {
  const ledgerFiles = { 'node/ledger/1': 'a', 'node/ledger/2': 'b', 'node/ledger/3': 'c' }
  const { root, clear } = await createTree({ ...ledgerFiles, 'node/config/forkpoint/forkpoint.toml': 'x' })
  cleanUp.push(clear)
  const run = (ledger: string, nodeDirectory: string) => {
    const space = createDiskUsage(maxFiles)
    return runHost({ clock: manualClock(), places: root, directories: { ledger }, nodeDirectory, space })
  }
  return { node: join(root, 'node'), run }
}

test('a directory with more files than one poll reads is not available at first, and not a failure', async () => {
  const { node, run } = await start(1)
  const host = run(join(node, 'ledger'), node)
  const { values, states } = await host.poll()
  expect(values).toHaveProperty(['host_filesystem_size_bytes{ledger}'])
  expect(values).not.toHaveProperty(['host_directory_bytes{ledger}'])
  expect(states['host, not available']).toContain('directory ledger (its many files are being summed)')
  expect(Object.keys(states)).not.toContain('host, directory ledger')
})

test('the end of the collector closes the directories', async () => {
  const { node } = await start()
  let releases = 0
  const release = () => Promise.resolve((releases += 1)).then(() => undefined)
  await runHost({ clock: manualClock(), places: node, space: { ...createDiskUsage(), release } }).poll()
  expect(releases).toBe(1)
})

test.each([
  ['free space below 0', { sizeBytes: 1000n, availableBytes: 2n ** 64n - 4096n }, [1000, undefined]],
  ['more free than all', { sizeBytes: 1000n, availableBytes: 1001n }, [1000, undefined]],
  ['a file system without a size', { sizeBytes: 0n, availableBytes: 0n }, [undefined, 0]],
  ['a full file system', { sizeBytes: 1000n, availableBytes: 0n }, [1000, 0]],
])('%s', async (_, fileSystem, expected) => {
  const { node } = await start()
  const space = { ...createDiskUsage(), fileSystem: async () => Promise.resolve(fileSystem) }
  const { values } = await runHost({ clock: manualClock(), places: node, space, fileSystems: ['/'] }).poll()
  const names = ['host_filesystem_size_bytes{/}', 'host_filesystem_available_bytes{/}']
  expect(names.map((name) => values[name])).toEqual(expected)
})

test('of another file system only the space is measured', async () => {
  const { node } = await start()
  const fileSystems = [node, node, '/nonexistent']
  const { values, states } = await runHost({ clock: manualClock(), places: node, fileSystems }).poll()
  expect(values[`host_filesystem_size_bytes{${node}}`]).toBeGreaterThan(
    values[`host_filesystem_available_bytes{${node}}`] ?? Infinity,
  )
  expect(Object.keys(values).filter((name) => name.startsWith('host_directory_bytes'))).toEqual([])
  expect(states['host, file system of /nonexistent']).toContain('not found')
})

test('a directory that was removed and created again is unknown, and the state has the advice', async () => {
  const { node, run } = await start()
  const paths = [join(node, 'ledger'), join(node, 'config/forkpoint')]
  const [ledger, forkpoint] = await Promise.all(paths.map((path) => open(path)))
  cleanUp.push(async () => {
    await Promise.all([ledger?.close(), forkpoint?.close()])
  })
  for (const path of paths) {
    await rm(path, { recursive: true })
    await mkdir(path)
  }
  // As with a bind mount: config/forkpoint is the old directory.
  const seen = await createTree({ 'config/x': '' })
  cleanUp.push(seen.clear)
  await symlink(`/proc/self/fd/${forkpoint?.fd}`, join(seen.root, 'config/forkpoint'))
  const { values, states } = await run(`/proc/self/fd/${ledger?.fd}`, seen.root).poll()
  expect(values).not.toHaveProperty(['host_directory_bytes{ledger}'])
  expect(values).not.toHaveProperty(['host_file_modified_timestamp_seconds{forkpoint}'])
  const advice = 'it was removed, and possibly created again; restart the agent to read it'
  expect(states['host, directory ledger']).toContain(advice)
  expect(states['host, file forkpoint']).toContain(advice)
})

test.each([
  ['statesync_threshold = 450\n[network]\nbind_address_port = 8000\n', 450, undefined],
  ['statesync_threshold = "450"\n', undefined, /^not known: .*statesync_threshold/],
  ['node_name = "a"\n', undefined, /^not known: .*statesync_threshold/],
  ['statesync_threshold = 65536\n', undefined, /^not known: .*statesync_threshold/],
  ['statesync_threshold =\n', undefined, /^not known: .*TOML/],
])('the setting of the node in %j', async (text, threshold, problem) => {
  const { root, clear } = await createTree({ 'config/node.toml': text })
  cleanUp.push(clear)
  const { values, states } = await runHost({ clock: manualClock(), places: root, nodeDirectory: root }).poll()
  expect(values['node_statesync_threshold_blocks']).toBe(threshold)
  if (problem !== undefined) expect(states['host, statesync_threshold']).toMatch(problem)
})

test('without node.toml the setting is unknown, not the default', async () => {
  const { node, run } = await start()
  const { values } = await run(join(node, 'ledger'), node).poll()
  expect(values).not.toHaveProperty('node_statesync_threshold_blocks')
})
