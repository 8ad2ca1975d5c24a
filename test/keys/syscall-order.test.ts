import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Call, CHANGES, requireStrace, trace } from '../support/strace.ts'
import { type Bench, createBench } from './bench.ts'
import { withoutRun } from './fault-injection.ts'

const describe = await requireStrace()

const CALLS = [...CHANGES, 'execve', 'umask', 'prlimit64', 'close']

interface Traced {
  /** Calls of the command itself, in order. */
  readonly own: readonly string[]
  /** Calls of the keystore tool and other child processes. */
  readonly others: readonly string[]
  readonly all: readonly Call[]
}

/** The calls of the command and of its child processes on the node's files. */
const traced = async (bench: Bench, argv: readonly string[]): Promise<Traced> => {
  const file = join(bench.folder, 'trace')
  const { code, calls } = await trace(bench.commandLine(argv), { calls: CALLS, file, env: bench.env })
  expect(code).toBe(0)
  const started = new Set(calls.filter(isExecution).map(({ thread }) => thread))
  // The first to be executed is the command itself.
  started.delete(calls[0]?.thread ?? 0)
  const steps = (isOther: boolean): readonly string[] =>
    calls
      // A write of a file name to a pipe or socket is no call on the file.
      .filter(({ arguments: words }) => !/^\d+<(?:pipe|socket):/.test(words))
      .filter((call) => started.has(call.thread) === isOther && !isExecution(call))
      .map((call) => tidy(call, bench.folder))
      .filter((step) => /[<"]\/(?:node|backup)/.test(step) && !step.startsWith('close'))
  return { own: steps(false), others: steps(true), all: calls }
}

const isExecution = ({ name }: Call): boolean => name === 'execve'

/** `fsync </backup>`: without descriptors and what differs between runs. */
const tidy = ({ name, arguments: words }: Call, folder: string): string =>
  withoutRun(`${name} ${words}`, folder, '')
    .replaceAll(/AT_FDCWD<[^>]*>, /g, '')
    .replaceAll(/\b\d+</g, '<')
    .replace(/^(write <[^>]*>), ".*$/s, '$1')
    .replaceAll('|O_CLOEXEC', '')

const READ = /^openat .*O_RDONLY/

/** The umask and the core limit are set before the tool runs. */
const expectGuarded = (all: readonly Call[], folder: string): void => {
  const at = (found: (call: Call) => boolean): number => all.findIndex(found)
  const tool = at((call) => isExecution(call) && call.arguments.includes(`${folder}/bin/chain-keystore`))
  const umask = at(({ name, arguments: words }) => name === 'umask' && words === '077')
  const limit = at(
    ({ name, arguments: words, result }) =>
      name === 'prlimit64' && words.includes('RLIMIT_CORE, {rlim_cur=1, rlim_max=1}') && result === '0',
  )
  expect(Math.min(tool, umask, limit)).toBeGreaterThanOrEqual(0)
  expect(Math.max(umask, limit)).toBeLessThan(tool)
}

describe('system calls of a successful run', () => {
  it('backup: write and sync the new backup, then link the old one, then rename the new one', async () => {
    const bench = await createBench()
    const { own, others, all } = await traced(bench, ['backup', '--type', 'secp'])
    expect(own.filter((step) => !READ.test(step) && !step.startsWith('mkdir'))).toEqual([
      'openat "/backup/.secp-backup.RUN.new", O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW, 0600',
      'fchmod </backup/.secp-backup.RUN.new>, 0600',
      'write </backup/.secp-backup.RUN.new>',
      'fsync </backup/.secp-backup.RUN.new>',
      'link "/backup/secp-backup", "/backup/secp-backup.STAMP.bak"',
      'fsync </backup>',
      'rename "/backup/.secp-backup.RUN.new", "/backup/secp-backup"',
      'fsync </backup>',
    ])
    // The new backup is read back before the old one is linked; only the tool reads the keystore.
    const read = own.findIndex((step) => /^openat .*\.RUN\.new", O_RDONLY/.test(step))
    expect(read).toBeGreaterThan(own.findIndex((step) => step.startsWith('fsync')))
    expect(read).toBeLessThan(own.findIndex((step) => step.startsWith('link')))
    expect(others).toEqual([expect.stringMatching(/^openat "\/node\/config\/id-secp", O_RDONLY/)])
    expectGuarded(all, bench.folder)
  })

  it('restore: verify in a staging directory, then link the old keystore, then rename the new one', async () => {
    const bench = await createBench()
    await bench.putKeystore('secp', 'other')
    const { own, others, all } = await traced(bench, ['restore', '--type', 'secp', '--yes', '--while-running'])
    expect(own.filter((step) => !READ.test(step))).toEqual([
      'openat "/node/config/.id-secp.RUN.new", O_WRONLY|O_CREAT|O_EXCL|O_NOFOLLOW, 0600',
      'fchmod </node/config/.id-secp.RUN.new>, 0600',
      'write </node/config/.id-secp.RUN.new>',
      'fsync </node/config/.id-secp.RUN.new>',
      'link "/node/config/id-secp", "/node/config/id-secp.STAMP.bak"',
      'fsync </node/config>',
      'rename "/node/config/.id-secp.RUN.new", "/node/config/id-secp"',
      'fsync </node/config>',
    ])
    // The tool has opened the existing keystore and no other file of the node.
    expect(others).toEqual([expect.stringMatching(/^openat "\/node\/config\/id-secp", O_RDONLY/)])
    expectGuarded(all, bench.folder)
  })
})
