import { duration, oneOf, percent } from './arguments.ts'
import { DRIVES, GOVERNORS, type Host, walMegabytesAt } from './host.ts'
import { files, kernel, megabytesInTime, offset, openFiles, pages, port } from './host-arguments.ts'
import { bare, type Effect, type Phrase, phrase } from './phrase.ts'
import { endService, startService } from './service.ts'

const host =
  (change: (host: Host, atMs: number) => Partial<Host>): Effect =>
  (condition, atMs) => ({
    ...condition,
    host: { ...condition.host, ...change(condition.host, atMs) },
  })

/** Every service ends and is started anew, with a new process. */
const reboot: Effect = (condition, atMs) => {
  const { services } = condition
  const again = (service: (typeof services)['bft']) =>
    startService(endService(service, { atMs, code: 'exited', status: 0, asked: true }), atMs)
  return {
    ...condition,
    host: {
      ...condition.host,
      bootedMs: atMs,
      kernel: condition.host.pendingKernel,
      throttledFromMs: undefined,
    },
    services: {
      ...services,
      bft: again(services.bft),
      execution: again(services.execution),
      rpc: again(services.rpc),
      'ledger-tail': again(services['ledger-tail']),
      otelcol: again(services.otelcol),
    },
  }
}

const subject = 'host'

/** What may befall the host of the node. */
export const hostPhrases: readonly Phrase[] = [
  bare(
    {
      subject,
      verb: 'reboots',
      means: 'the host starts anew with the pending kernel, and all services with it',
    },
    reboot,
  ),
  phrase(
    { subject, verb: 'clock', means: 'the clock is so far from the right time; chrony says so' },
    offset,
    (clockAheadMs) => host(() => ({ clockAheadMs })),
  ),
  bare(
    { subject, verb: 'unsynchronized', means: 'chrony has lost every server' },
    host(() => ({ clockAheadMs: undefined })),
  ),
  phrase({ subject, verb: 'kernel', means: 'that kernel runs' }, kernel, (release) =>
    host(() => ({ kernel: release })),
  ),
  phrase(
    {
      subject,
      verb: 'pending',
      means: 'that kernel has been installed, and starts with the next boot',
    },
    kernel,
    (pendingKernel) => host(() => ({ pendingKernel })),
  ),
  phrase(
    { subject, verb: 'smt', means: 'simultaneous multithreading is on or off' },
    oneOf(['on', 'off']),
    (word) => host(() => ({ multithreading: word === 'on' })),
  ),
  phrase(
    { subject, verb: 'governor', means: 'all processors have that frequency governor' },
    oneOf(GOVERNORS),
    (governor) => host(() => ({ governor })),
  ),
  bare(
    {
      subject,
      verb: 'throttles',
      means: 'the processors are too hot, and slowed down twice a second',
    },
    host((_, atMs) => ({ throttledFromMs: atMs })),
  ),
  phrase(
    { subject, verb: 'busy', means: 'so much of the time of the processors is taken' },
    percent,
    (busyPercent) => host(() => ({ busyPercent })),
  ),
  phrase(
    { subject, verb: 'hugepages', means: 'so many of the huge pages of 2 MiB are free' },
    pages,
    (hugePagesFree) => host(() => ({ hugePagesFree })),
  ),
  phrase(
    { subject, verb: 'fdlimit', means: 'the services may have so many files open' },
    files,
    (maxOpenFiles) => host(() => ({ maxOpenFiles })),
  ),
  phrase(
    { subject, verb: 'openfiles', means: 'consensus has so many files open' },
    openFiles,
    (count) => host(() => ({ openFiles: count })),
  ),
  phrase(
    { subject, verb: 'exposes', means: 'something listens on the port on every interface' },
    port,
    (number) => host(({ exposedPorts }) => ({ exposedPorts: [...exposedPorts, number] })),
  ),
  phrase(
    { subject, verb: 'hides', means: 'only the loopback interface reaches the port again' },
    port,
    (number) =>
      host(({ exposedPorts }) => ({ exposedPorts: exposedPorts.filter((one) => one !== number) })),
  ),
  phrase(
    {
      subject,
      verb: 'nvme',
      means: 'the drive of the database is well, too hot, failing, or off the bus',
    },
    oneOf(DRIVES),
    (is) => host((_, fromMs) => ({ drive: { is, fromMs } })),
  ),
  phrase(
    {
      subject: 'forkpoint',
      verb: 'ages',
      means: 'its file is that old, and is not written any more',
    },
    duration,
    (ageMs) => host((_, atMs) => ({ forkpointMs: atMs - ageMs })),
  ),
  bare(
    { subject: 'forkpoint', verb: 'renews', means: 'its file is written all the time again' },
    host(() => ({ forkpointMs: undefined })),
  ),
  phrase(
    {
      subject: 'wal',
      verb: 'grows',
      means: 'the write-ahead log grows to that size in a straight line',
    },
    megabytesInTime,
    ({ megabytes, ms }) =>
      host(({ wal }, atMs) => ({
        wal: {
          isThere: true,
          fromMs: atMs,
          overMs: ms,
          fromMegabytes: walMegabytesAt(wal, atMs),
          toMegabytes: megabytes,
        },
      })),
  ),
  bare(
    { subject: 'wal', verb: 'vanishes', means: 'its file system is not mounted any more' },
    host(({ wal }) => ({ wal: { ...wal, isThere: false } })),
  ),
  bare(
    { subject: 'wal', verb: 'returns', means: 'its file system is mounted again' },
    host(({ wal }) => ({ wal: { ...wal, isThere: true } })),
  ),
]
