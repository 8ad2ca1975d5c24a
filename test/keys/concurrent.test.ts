import { rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createBench, secretOf } from './bench.ts'

it('a second command on the same node fails and does not disturb the first', async () => {
  const { folder, keys, opens, putKeystore } = await createBench({ isPlain: true })
  await putKeystore('secp', 'other')
  // The tool blocks in `import`.
  const tool = join(folder, 'bin/chain-keystore')
  const [waiting, go] = [join(folder, 'waiting'), join(folder, 'go')]
  await rename(tool, `${tool}.real`)
  const wait = `[ "$1" = import ] && { : > ${waiting}; until [ -e ${go} ]; do sleep 0.05; done; }`
  await writeFile(tool, `#!/bin/sh\n${wait}\nexec ${tool}.real "$@"\n`, { mode: 0o755 })
  const ended = keys('restore', '--type', 'secp', '--yes', '--while-running')
  await eventually(async () => stat(waiting), Boolean, { every: 20 })
  const second = await keys('backup', '--type', 'secp')
  expect(second.code).toBe(1)
  expect(second.stderr).toContain('another `chain-agent keys` process is using them')
  await writeFile(go, '')
  const first = await ended
  expect(first, first.stderr).toMatchObject({ code: 0 })
  expect(await opens('secp')).toBe(secretOf('secp'))
})
