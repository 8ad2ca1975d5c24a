import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { cli, startCli } from '../../support/cli.ts'
import { it as inDirectory } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { type Fault, startQueryServer } from '../../support/query-server.ts'
import { history, TOKEN } from '../../support/token-logs.ts'
import { withOtherContract } from './unrequested.ts'

/** A query of five pages of four logs each, and the output that it has without a fault. */
const it = inDirectory.extend('run', async ({ directory, onTestFinished }) => {
  const server = await startQueryServer({ logs: history(10), height: 300, pageBlocks: 2 })
  onTestFinished(server.close)
  const file = join(directory, 'logs')
  const argv = ['query', '--url', server.url, '--to-block', '9', '--quiet', '-o', file]
  await cli([...argv.slice(0, -1), `${file}.expected`])
  return { server, file, argv, expected: await readFile(`${file}.expected`, 'utf8') }
})

interface Run {
  readonly server: Awaited<ReturnType<typeof startQueryServer>>
  readonly file: string
  readonly argv: readonly string[]
}

/** Starts the query. It waits for the page of this block, which never gets a response. */
const startUntil = async (block: number, { server, argv }: Omit<Run, 'file'>, before?: Fault) => {
  server.faults = ({ path, from }) => (path !== '/query' ? undefined : from >= block ? { kind: 'hang' } : before)
  const seen = server.seen.length
  const running = startCli(argv)
  await eventually(() => server.seen.slice(seen).some(({ from }) => from >= block), true, { every: 5 })
  return {
    interrupt: async (): Promise<void> => {
      expect((await running.interrupt()).code).toBe(130)
      server.faults = () => undefined
    },
  }
}

/** Interrupts the query at its third page and returns its partial output. */
const interrupted = async (run: Run): Promise<Buffer> => {
  await (await startUntil(4, run)).interrupt()
  return readFile(`${run.file}.partial`)
}

describe('the partial output', () => {
  it.for([
    ['one of its bytes was changed', (bytes: Buffer) => bytes.fill('9', 20, 21), 'it was changed after its'],
    ['its last byte is missing', (bytes: Buffer) => bytes.subarray(0, -1), 'it is shorter than at its last checkpoint'],
    ['it is empty', () => Buffer.alloc(0), 'it is shorter than at its last checkpoint'],
  ] as const)('is not resumed if %s', async ([, edit, happened], { run }) => {
    const partial = await interrupted(run)
    const changed = edit(partial)
    await writeFile(`${run.file}.partial`, changed)
    const before = run.server.seen.length
    const { code, out, err } = await cli([...run.argv, '--resume'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`Could not resume from ${run.file}.partial: ${happened}`)
    expect(err).toContain('what to do: remove it to start again\n')
    expect(run.server.seen.slice(before).filter(({ path }) => path === '/query')).toEqual([])
    expect(await readFile(`${run.file}.partial`)).toEqual(changed)
  })

  it('is resumed if a killed process wrote more after its checkpoint, and in two steps', async ({ run }) => {
    const partial = await interrupted(run)
    await writeFile(`${run.file}.partial`, Buffer.concat([partial, Buffer.from('{"block_number":4,"log_in')]))
    const resumed = { ...run, argv: [...run.argv, '--resume'] }
    // Each resumed run reads no block again and adds to the fingerprint of the earlier one.
    await (await startUntil(8, resumed)).interrupt()
    expect((await cli(resumed.argv)).code).toBe(0)
    expect(await readFile(run.file, 'utf8')).toBe(run.expected)
  })
})

it('a resumed run counts the logs that the earlier one left out', async ({ run }) => {
  const argv = [...run.argv, '--address', TOKEN]
  const running = await startUntil(4, { ...run, argv }, { kind: 'alter', alter: withOtherContract })
  await running.interrupt()
  const { code, err } = await cli([...argv, '--resume'])
  expect(code).toBe(0)
  // Two logs in each of ten blocks; the second of the blocks 0 to 3 is of another contract.
  expect(err).toContain('Left out: 4 logs of another contract')
  expect(err).toContain(`16 logs through block 9, in ${run.file}.`)
})

it('of two runs at once the second is rejected, and the first can be resumed', async ({ run }) => {
  const running = await startUntil(4, run)
  const { url } = run.server
  const balances = `balances --url ${url} --standard erc20 --token ${TOKEN} --format csv -q -o ${run.file}`.split(' ')
  for (const argv of [run.argv, [...run.argv, '--resume'], balances]) {
    expect(await cli(argv)).toEqual({
      code: 1,
      out: '',
      err: `Could not use ${run.file}.checkpoint: another run of chain-agent is using it\n  what to do: wait until the other process has ended, then run the command again\n`,
    })
  }
  await running.interrupt()
  // The lock ends with the run.
  expect((await cli([...run.argv, '--resume'])).code).toBe(0)
  expect(await readFile(run.file, 'utf8')).toBe(run.expected)
})
