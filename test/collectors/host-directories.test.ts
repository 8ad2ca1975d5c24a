import { mkdir, open, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createDiskUsage } from '../../src/sources/disk-usage.ts'
import { manualClock } from '../support/manual-clock.ts'
import { plant, watchHost } from './host-bench.ts'

const cleanUp: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const clear of cleanUp.splice(0)) await clear()
})

const start = async (mostFiles?: number) => {
  const { root, clear } = await plant({
    'node/ledger/1': 'a',
    'node/ledger/2': 'b',
    'node/config/forkpoint/forkpoint.toml': 'x',
  })
  cleanUp.push(clear)
  const places = { procfs: root, sysfs: root, bootDirectory: root, smartDirectory: null }
  const watch = (ledger: string, nodeDirectory: string) =>
    watchHost({
      clock: manualClock(),
      places,
      directories: { ledger },
      nodeDirectory,
      space: createDiskUsage(mostFiles),
    })
  return { node: join(root, 'node'), watch }
}

test('a directory with too many files to sum is no trouble: one among what is not told', async () => {
  const { node, watch } = await start(1)
  const { values, states } = await watch(join(node, 'ledger'), node).look()
  expect(values).toHaveProperty(['host_filesystem_size_bytes{ledger}'])
  expect(values).not.toHaveProperty(['host_directory_bytes{ledger}'])
  expect(states['host, not told here']).toContain('directory ledger (too many files to sum)')
  expect(Object.keys(states)).not.toContain('host, directory ledger')
})

test('a directory that is held and was made anew is unknown, and says what to do', async () => {
  const { node, watch } = await start()
  const paths = [join(node, 'ledger'), join(node, 'config/forkpoint')]
  const [ledger, forkpoint] = await Promise.all(paths.map((path) => open(path)))
  cleanUp.push(async () => {
    await Promise.all([ledger?.close(), forkpoint?.close()])
  })
  for (const path of paths) {
    await rm(path, { recursive: true })
    await mkdir(path)
  }
  // As by a bind mount: config/forkpoint is what is held.
  const seen = await plant({ 'config/x': '' })
  cleanUp.push(seen.clear)
  await symlink(`/proc/self/fd/${forkpoint?.fd}`, join(seen.root, 'config/forkpoint'))
  const { values, states } = await watch(`/proc/self/fd/${ledger?.fd}`, seen.root).look()
  expect(values).not.toHaveProperty(['host_directory_bytes{ledger}'])
  expect(values).not.toHaveProperty(['host_file_modified_timestamp_seconds{forkpoint}'])
  const words = 'it was removed, and maybe made anew; restart the agent to see it'
  expect(states['host, directory ledger']).toContain(words)
  expect(states['host, file forkpoint']).toContain(words)
})
