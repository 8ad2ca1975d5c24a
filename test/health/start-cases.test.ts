import { describe, expect, test } from 'vitest'
import {
  FILE_CASES,
  ROOT_CASES,
  type StartConditions,
  startOutcome,
  type StartResult,
} from '../../src/health/recovery/start-cases.ts'

/** A plain stop of a minute with both URLs set: statesync_threshold 600, 200 blocks behind. */
const PLAIN: StartConditions = {
  threshold: 600,
  window: 800,
  hasLocalFiles: true,
  hasRemoteFiles: true,
  remoteIsNewerBy: 200,
  hasRemoteSets: true,
  areFilesConsistent: true,
  hasRootBlocks: true,
  database: 'has root',
  isGenesis: false,
  behind: 200,
}

type Row = readonly [name: string, when: Partial<StartConditions>, result: StartResult, uses?: 'remote' | null]

const FAR = { behind: 2000, remoteIsNewerBy: 2100 }

/** Of monad-node/src/state.rs, get_latest_configs. Each row is the case of the same place in FILE_CASES. */
const FILES: readonly Row[] = [
  ['neither local nor remote files', { hasLocalFiles: false, hasRemoteFiles: false }, 'exits', null],
  ['remote files alone', { hasLocalFiles: false, ...FAR }, 'statesyncs', 'remote'],
  ['URLs unset or not reachable, far behind: the old root again', { hasRemoteFiles: false, ...FAR }, 'panics'],
  ['the remote validators file lacks an epoch of the remote forkpoint', { hasRemoteSets: false, ...FAR }, 'panics'],
  ['the remote forkpoint is more than 600 rounds newer', { remoteIsNewerBy: 601 }, 'statesyncs', 'remote'],
  ['the remote forkpoint is 600 rounds newer', { remoteIsNewerBy: 600 }, 'catches up'],
]

/** Of what follows. Each row is the case of the same place in ROOT_CASES. */
const ROOTS: readonly Row[] = [
  ['forkpoint and validators file do not belong together', { areFilesConsistent: false }, 'panics'],
  ['no peer serves the blocks of the root', { hasRootBlocks: false }, 'waits for blocks'],
  [
    'genesis, and the database has no genesis block',
    { isGenesis: true, hasRootBlocks: false, database: 'empty' },
    'panics',
  ],
  ['an empty database', { database: 'empty' }, 'statesyncs'],
  ['the database is more than 30,000 blocks behind the root', { database: 'far behind root' }, 'statesyncs'],
  ['the database has not executed what the root needs', { database: 'behind root' }, 'statesyncs'],
  ['live, and 900 blocks behind', { hasRemoteFiles: false, behind: 900 }, 'panics'],
  ['live, and 899 blocks behind: more than one request covers', { hasRemoteFiles: false, behind: 899 }, 'stalls'],
  ['live, and 800 blocks behind', { hasRemoteFiles: false, behind: 800 }, 'catches up'],
]

describe.each([
  ['files', FILES, FILE_CASES],
  ['root', ROOTS, ROOT_CASES],
] as const)('each case of the source: %s', (_what, rows, cases) => {
  test.each(rows.map((row, index) => ({ row, index })))(
    '$row.0',
    ({ row: [, when, result, uses = 'local'], index }) => {
      expect(startOutcome({ ...PLAIN, ...when })).toMatchObject({ uses, result })
      expect(cases.findIndex((one) => one.when({ ...PLAIN, ...when }))).toBe(index)
    },
  )

  test('has a row', () => {
    expect(rows).toHaveLength(cases.length)
  })
})

test('files copied by hand are the local ones: the database is behind their root', () => {
  const copied = { ...PLAIN, hasRemoteFiles: false, behind: 20, database: 'behind root' } as const
  expect(startOutcome(copied)).toMatchObject({ uses: 'local', result: 'statesyncs' })
})

test('the local root far behind with both URLs: the remote forkpoint, so statesync', () => {
  expect(startOutcome({ ...PLAIN, ...FAR })).toMatchObject({ uses: 'remote', result: 'statesyncs' })
})

test('without local files a remote forkpoint that the database has executed needs no statesync', () => {
  const lost = { ...PLAIN, hasLocalFiles: false, remoteIsNewerBy: 0, behind: 20 }
  expect(startOutcome(lost)).toMatchObject({ uses: 'remote', result: 'catches up' })
})

test('distances follow the setting: 3/2 of it in blocks, and it in rounds', () => {
  const small = { ...PLAIN, threshold: 301, window: 451 }
  expect(startOutcome({ ...small, remoteIsNewerBy: 301, behind: 450 }).result).toBe('catches up')
  expect(startOutcome({ ...small, remoteIsNewerBy: 301, behind: 451 }).result).toBe('panics')
  expect(startOutcome({ ...small, remoteIsNewerBy: 302 }).uses).toBe('remote')
})
