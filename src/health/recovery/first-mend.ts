import { freeChunks } from '../facts.ts'
import { LIMITS } from '../limits.ts'
import { list, percent } from '../words.ts'
import { areElsewhere, keyFiles } from './key-files.ts'
import { announce, type Finder, NEVER_ALONE, restartAll, startAll, stopAll } from './way.ts'

/** A keystore that is gone or broken: whatever begins with a start would end there. */
export const lostKeys: Finder = (situation) => {
  const files = keyFiles(situation)
  const lost = files.filter(
    ({ kind, state }) => kind === 'keystore' && (state === 'missing' || state === 'invalid'),
  )
  // That nothing at all is there says more of where we look.
  if (lost.length === 0 || areElsewhere(situation)) return undefined
  const keys = lost.map(({ key }) => key).filter((key) => key !== 'password')
  const what = list([
    ...(keys.length === 0
      ? []
      : [`the ${keys.length === 1 ? 'keystore' : 'keystores'} of ${list(keys)}`]),
    ...(keys.length === lost.length ? [] : ['the password of the keystores']),
  ])
  const runs = !situation.bft.isDown
  return {
    path: 'restore keys',
    says: `put back ${what} from the backup: the node does not start without`,
    why: lost.map(({ key, state }) => `The file of ${key} is ${state}.`),
    steps: [
      'See which backups are there, on this host and in the vault: `sudo chain-agent check`',
      "Put it back from the backup by the maker's procedure of import, with the owner it had and mode 0600.",
      runs
        ? 'See that its state is ok before anything is restarted: `sudo chain-agent check`'
        : `Then start the services together: \`${startAll(situation)}\``,
    ],
    notNow: [
      ...(runs
        ? ['Do not restart the node: it runs on the keys in its memory, and would not come back.']
        : []),
      'Do not create new keys: the node would be another one, and its stake is bound to these.',
    ],
    runbook: lost.some(({ state }) => state === 'missing')
      ? 'ChainKeyFileMissing'
      : 'ChainKeyFileInvalid',
  }
}

/** Nothing can be written: a start ends where the last run ended. */
export const noRoom: Finder = (situation) => {
  const { known, trouble, bft, execution } = situation
  const free = freeChunks(known)
  if (free !== undefined && free < LIMITS.freeChunks.critical) {
    return {
      path: 'make room',
      says: `make room for the database: ${free === 0 ? 'it has no free chunk left' : `only ${percent(free)} of its chunks are free`}`,
      why: [
        execution.isDown
          ? 'Execution does not start again until there is room.'
          : 'Execution ends with the next block that needs a chunk.',
      ],
      steps: [
        announce('4h', 'hardware'),
        `Stop the services together: \`${stopAll(situation)}\``,
        "Bring the database onto a larger device from a snapshot, as the maker's page on the hard reset describes it.",
        `Start the services together: \`${startAll(situation)}\``,
      ],
      notNow: [
        'Do not restart to win space: nothing becomes free by it.',
        'Do not delete files to help it: the database is a device of its own.',
      ],
      runbook: 'ChainStorageFreeChunksLow',
    }
  }
  const name = ['disk_full', 'wal_push_failed'].find((one) => trouble.has(one))
  if (name === undefined || !(bft.isDown || execution.isDown)) return undefined
  return {
    path: 'make room',
    says: 'make room on the disk first, then start the services together',
    why: [],
    steps: [
      'See which file system is full: `df -h && df -i`',
      'Free what costs nothing, old logs first: `sudo journalctl --vacuum-size=1G`',
      `Start the services together: \`${startAll(situation)}\``,
    ],
    notNow: ['Do not delete anything of keys, configuration or database.', NEVER_ALONE],
    runbook: 'ChainDiskFull',
  }
}

/** What execution asks of the kernel before it begins. */
export const badHost: Finder = (situation) => {
  const { trouble, execution } = situation
  const name = ['event_ring', 'io_uring'].find((one) => trouble.has(one))
  if (name === undefined || !execution.isDown) return undefined
  return {
    path: 'mend host',
    says:
      name === 'event_ring'
        ? 'see to the huge pages of the host first: execution cannot start without them'
        : 'see to the kernel of the host first: it gives execution no queue for the drive',
    why: [],
    steps: [
      'See what the host lacks: `chain-agent check`',
      `Then start the services together: \`${restartAll(situation)}\``,
    ],
    notNow: ['Do not start it again before that: it ends in the same way each time.', NEVER_ALONE],
    runbook: name === 'event_ring' ? 'ChainHugePagesMissing' : 'ChainKernelBlocked',
  }
}
