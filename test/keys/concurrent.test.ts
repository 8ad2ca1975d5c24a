import { rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type Bench, createBench, secretOf } from './bench.ts'

const RESTORE = ['restore', '--type', 'secp', '--yes', '--while-running']

let one: Bench
let other: Bench
beforeEach(async () => {
  one = await createBench({ isPlain: true })
  other = await createBench({ isPlain: true })
  for (const bench of [one, other]) await bench.putKeystore('secp', 'other')
})

/** Starts a restore whose tool blocks in `import` until `finish` is called. */
const begin = async ({ folder, keys }: Bench) => {
  const tool = join(folder, 'bin/chain-keystore')
  const [waiting, go] = [join(folder, 'waiting'), join(folder, 'go')]
  await rename(tool, `${tool}.real`)
  const wait = `[ "$1" = import ] && { : > ${waiting}; until [ -e ${go} ]; do sleep 0.05; done; }`
  await writeFile(tool, `#!/bin/sh\n${wait}\nexec ${tool}.real "$@"\n`, { mode: 0o755 })
  const ended = keys(...RESTORE)
  await eventually(async () => stat(waiting), Boolean, { every: 20 })
  return {
    finish: async () => {
      await writeFile(go, '')
      return ended
    },
  }
}

it('two nodes of one host can be restored at the same time', async () => {
  const { finish } = await begin(one)
  const [second, first] = [await other.keys(...RESTORE), await finish()]
  expect(second, second.stderr).toMatchObject({ code: 0 })
  expect(first, first.stderr).toMatchObject({ code: 0 })
  for (const bench of [one, other]) expect(await bench.opens('secp')).toBe(secretOf('secp'))
})

it('a second command on the same node fails and does not disturb the first', async () => {
  const { finish } = await begin(one)
  const second = await one.keys('backup', '--type', 'secp')
  expect(second.code).toBe(1)
  expect(second.stderr).toContain('another `chain-agent keys` process is using them')
  const first = await finish()
  expect(first, first.stderr).toMatchObject({ code: 0 })
  expect(await one.opens('secp')).toBe(secretOf('secp'))
})
